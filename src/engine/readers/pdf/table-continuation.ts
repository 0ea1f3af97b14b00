import { createDraft, type TableDraft } from './table-build.js'
import { isNumberedCaption } from './table-captions.js'
import { hasNumbers } from './table-columns.js'
import { isIntroduction, isNote, type RowBlock } from './table-regions.js'
import type { PageDrawings } from './table-rules.js'
import type { SegmentRow } from './table-words.js'

/** Maximal distance between the right edges of two parts of a column of numbers, in points. */
const MAX_EDGE_DISTANCE_PT = 4
/**
 * Lines without numbers between two parts of a table: their maximal count, distance in text sizes, and length in words.
 */
const MAX_BETWEEN = 6
const MAX_STEP = 5
const MAX_WORDS = 14
/** Maximal distance of a sentence between two parts from the rows, relative to the usual step. */
const MAX_SENTENCE_STEP_RATIO = 1.25

/**
 * Joins a block without column names to the block above it with the same columns; section headers or wide gaps
 * separated them.
 */
export function joinContinuedBlocks(blocks: readonly RowBlock[], drawn: PageDrawings): RowBlock[] {
  const joined: RowBlock[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    const union = last === undefined ? undefined : tryJoin(last, block, drawn)
    if (union === undefined) joined.push(block)
    else joined.splice(-1, 1, union)
  }
  return joined
}

function tryJoin(upper: RowBlock, lower: RowBlock, drawn: PageDrawings): RowBlock | undefined {
  const [first] = lower.rows
  if (first === undefined || !hasNumbers(first)) return undefined
  const between = findLinesBetween(upper, lower)
  if (between === undefined) return undefined
  const [above, below] = [createDraft(upper, drawn), createDraft(lower, drawn)]
  if (above === undefined || below === undefined || above.headerRows === 0 || below.headerRows > 0) return undefined
  if (!hasSameColumns(above, below)) return undefined
  const union = { above: upper.above, rows: [...upper.rows, ...between, ...lower.rows], below: lower.below }
  const draft = createDraft(union, drawn)
  return draft !== undefined && draft.headerRows === above.headerRows && hasSameColumns(above, draft)
    ? union
    : undefined
}

/** The lines between two blocks when each of them may head a section; else undefined. */
function findLinesBetween(upper: RowBlock, lower: RowBlock): SegmentRow[] | undefined {
  const [next] = upper.below
  // when the first line after the upper block is the first before the lower one, all lines between are known
  if (next === undefined || next !== (lower.above[0] ?? lower.rows[0])) return undefined
  const rows = lower.above
  if (rows.length > MAX_BETWEEN || rows.some((row) => !mayHeadSection(row))) return undefined
  // an introductory sentence that heads a section is as close as the rows
  const hasIntroduction = rows.some(({ segments: [one] }) => one !== undefined && isIntroduction(one))
  const steps = computeSteps([...upper.rows.slice(-1), ...rows, ...lower.rows.slice(0, 1)])
  const maxStep = hasIntroduction ? MAX_SENTENCE_STEP_RATIO * median(computeSteps(upper.rows)) : MAX_STEP * next.size
  return steps.every((step) => step <= maxStep) ? [...rows] : undefined
}

function computeSteps(rows: readonly SegmentRow[]): number[] {
  return rows.slice(1).map(({ y }, index) => (rows[index]?.y ?? y) - y)
}

function median(steps: readonly number[]): number {
  return [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? 0
}

function mayHeadSection(row: SegmentRow): boolean {
  const [one, ...more] = row.segments
  if (one === undefined || more.length > 0 || one.numeric) return false
  return one.text.split(' ').length <= MAX_WORDS && !isNumberedCaption(one.text) && !isNote(one)
}

function hasSameColumns(one: TableDraft, other: TableDraft): boolean {
  if (one.columns.length !== other.columns.length || one.stub !== other.stub || one.stub === 0) return false
  return one.columns.every((column, index) => {
    const otherColumn = other.columns[index]
    return (
      otherColumn !== undefined &&
      (index < one.stub || Math.abs(column.right - otherColumn.right) <= MAX_EDGE_DISTANCE_PT)
    )
  })
}
