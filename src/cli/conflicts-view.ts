import type { ConflictSide, SpaceConflict } from '../contract/gateway/conflicts.js'
import type { Column } from './columns.js'
import { type Colour, ttyLine, ttyName } from './terminal.js'

export const CONFLICT_COLUMNS: Column[] = [
  { field: 'id', kind: 'id' },
  { field: 'kind' },
  { field: 'relation' },
  { field: 'reason' },
  { field: 'sides.0.filename', title: 'ONE', kind: 'name' },
  { field: 'sides.0.quote', title: 'SAYS' },
  { field: 'sides.1.filename', title: 'OTHER', kind: 'name' },
  { field: 'sides.1.quote', title: 'SAYS' },
]
export const CONFLICT_FIELDS = ['sides', 'decidedBy', 'foundAt', 'knowledgeSpaceId']

interface Marks {
  unicode: boolean
  paint: (colour: Colour, text: string) => string
}

const RELATIONS = { contradiction: '', newer: 'newer: ', other: 'no contradiction: ' } as const

/** Formats a conflict for people: its kind and reason, then both sides with document, page, heading and day. */
export function conflictLines({ kind, relation, reason, sides }: SpaceConflict, { unicode, paint }: Marks): string[] {
  const title = relation === 'contradiction' ? paint('yellow', ttyLine(kind)) : paint('dim', ttyLine(kind))
  return [`${title}  ${ttyLine(`${RELATIONS[relation]}${reason}`)}`, ...sides.flatMap(sideLines)]

  function sideLines(side: ConflictSide): string[] {
    const mark = unicode ? '·' : '-'
    const day = ttyLine(side.storedAt.slice(0, 'yyyy-mm-dd'.length))
    const page = side.pageNumber === undefined ? '' : `, page ${side.pageNumber}`
    const heading = side.sectionPath.at(-1)
    const where = heading === undefined || heading === side.title ? '' : `, ${heading}`
    return [
      `  ${ttyName(side.filename)}${paint('dim', `${ttyLine(`${page}${where}`)} ${mark} ${day}`)}`,
      `      ${ttyLine(side.quote.replace(/\s+/gu, ' '))}`,
    ]
  }
}
