import type { ConflictSide, SpaceConflict } from '../contract/gateway/conflicts.js'
import type { OutputColumn } from './columns.js'
import { type OutputStyle, ttyLine, ttyName } from './terminal.js'

export const CONFLICT_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'kind', isDetail: true },
  { field: 'relation', isDetail: true },
  { field: 'reason' },
  { field: 'sides.0.filename', title: 'ONE', kind: 'name' },
  { field: 'sides.0.quote', title: 'SAYS' },
  { field: 'sides.1.filename', title: 'OTHER', kind: 'name' },
  { field: 'sides.1.quote', title: 'SAYS' },
]

const RELATION_PREFIXES = { contradiction: '', newer: 'newer: ', other: 'no contradiction: ' } as const

/** Formats a conflict for people: its kind and reason, then both sides with document, page, heading and day. */
export function formatConflict(
  { kind, relation, reason, sides }: SpaceConflict,
  { unicode, paint }: OutputStyle,
): string[] {
  const title = paint(relation === 'contradiction' ? 'yellow' : 'dim', ttyLine(kind))
  return [`${title}  ${ttyLine(`${RELATION_PREFIXES[relation]}${reason}`)}`, ...sides.flatMap(formatSide)]

  function formatSide(side: ConflictSide): string[] {
    const separator = unicode ? '·' : '-'
    const day = ttyLine(side.storedAt.slice(0, 'yyyy-mm-dd'.length))
    const page = side.pageNumber === undefined ? '' : `, page ${side.pageNumber}`
    const heading = side.sectionPath.at(-1)
    const location = heading === undefined || heading === side.title ? '' : `, ${heading}`
    return [
      `  ${ttyName(side.filename)}${paint('dim', `${ttyLine(`${page}${location}`)} ${separator} ${day}`)}`,
      `      ${ttyLine(side.quote.replace(/\s+/gu, ' '))}`,
    ]
  }
}
