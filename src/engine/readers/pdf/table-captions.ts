import type { SegmentRow } from './table-words.js'

const NUMBERED_CAPTION =
  /^(?:Table|TABLE|Tab\.|Exhibit|EXHIBIT|Tabelle|Tableau|Tabla|Tabella|表|표)\s*(?:\d|[IVXL]+\b|[A-Z]\b)/
/** Running lines above tables that do not name them. */
const RUNNING_TITLE = /^(?:table of contents|page \d+)$/i
/** Maximal length of a caption in characters, and of a title above a table in words and lines. */
const MAX_CAPTION_LENGTH = 400
const MAX_TITLE_WORDS = 14
const MAX_TITLE_LINES = 3
/** Maximal distance between lines of one caption, and between a caption and its table, in text sizes. */
const MAX_STEP = 1.7
const MAX_DISTANCE = 3.6

export interface TableSurroundings {
  /** Lines above, nearest last, and below, nearest first. */
  above: readonly SegmentRow[]
  below: readonly SegmentRow[]
  /** Baselines of the first and the last row of the table. */
  top: number
  bottom: number
}

/** Whether a text is a numbered caption such as `Table 3`. */
export function isNumberedCaption(text: string): boolean {
  return NUMBERED_CAPTION.test(text)
}

/** Whether a line near the table is a numbered caption such as `Table 3`. */
export function hasNumberedCaption(
  draft: Pick<TableSurroundings, 'above' | 'below'> & { used: readonly SegmentRow[] },
): boolean {
  const top = draft.used[0]?.y ?? 0
  const bottom = draft.used.at(-1)?.y ?? 0
  const surroundings = { above: draft.above, below: draft.below, top, bottom }
  return findNumberedAbove(surroundings) !== undefined || findNumberedBelow(surroundings) !== undefined
}

/**
 * Finds the caption of a table: its numbered caption, else the short lines or the sentence with a colon directly above
 * it.
 */
export function findTableCaption(surroundings: TableSurroundings): string | undefined {
  const caption =
    findNumberedAbove(surroundings) ??
    findNumberedBelow(surroundings) ??
    findTitleAbove(surroundings) ??
    findSentenceAbove(surroundings)
  return caption === undefined || caption.length > MAX_CAPTION_LENGTH ? caption?.slice(0, MAX_CAPTION_LENGTH) : caption
}

function findNumberedAbove({ above, top }: TableSurroundings): string | undefined {
  const nearRows = collectNearRows([...above].reverse(), top)
  const index = nearRows.findIndex((row) => NUMBERED_CAPTION.test(toText(row)))
  return index === -1 || index > 4 ? undefined : joinText(nearRows.slice(0, index + 1).reverse())
}

function findNumberedBelow({ below, bottom }: TableSurroundings): string | undefined {
  const [first, ...more] = below
  if (first === undefined || !NUMBERED_CAPTION.test(toText(first)) || bottom - first.y > MAX_DISTANCE * first.size)
    return undefined
  const lines = [first]
  for (const row of more) {
    const last = lines.at(-1) ?? first
    if (last.y - row.y > MAX_STEP * row.size || lines.length >= 4 || toText(last).endsWith('.')) break
    lines.push(row)
  }
  return joinText(lines)
}

/** Lines from a table upwards without a wide gap between them. */
function collectNearRows(rows: readonly SegmentRow[], startY: number): SegmentRow[] {
  const nearRows: SegmentRow[] = []
  let last = startY
  for (const row of rows) {
    if (Math.abs(row.y - last) > MAX_DISTANCE * row.size) break
    nearRows.push(row)
    last = row.y
  }
  return nearRows
}

function findTitleAbove({ above, top }: TableSurroundings): string | undefined {
  const lines: SegmentRow[] = []
  for (const row of collectNearRows([...above].reverse(), top)) {
    const text = toText(row)
    const isTitleLine = text.split(' ').length <= MAX_TITLE_WORDS && !/[.,;:]$/.test(text) && /\p{L}{2}/u.test(text)
    if (!isTitleLine || lines.length >= MAX_TITLE_LINES || RUNNING_TITLE.test(text)) break
    lines.unshift(row)
  }
  return lines.length === 0 ? undefined : joinText(lines)
}

function findSentenceAbove({ above, top }: TableSurroundings): string | undefined {
  const [nearest, ...more] = collectNearRows([...above].reverse(), top)
  if (nearest === undefined || !toText(nearest).endsWith(':')) return undefined
  const lines = [nearest]
  for (const row of more) {
    const first = lines[0] ?? nearest
    if (row.y - first.y > MAX_STEP * row.size || lines.length >= 4) break
    lines.unshift(row)
  }
  const text = joinText(lines)
  return text.slice(text.lastIndexOf('. ') + 1).trim()
}

function toText(row: SegmentRow): string {
  return row.segments.map((one) => one.text).join(' ')
}

function joinText(rows: readonly SegmentRow[]): string {
  return rows.map(toText).join(' ')
}
