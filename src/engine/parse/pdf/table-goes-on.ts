import { type Draft, draftOf } from './table-build.js'
import { isNumberedCaption } from './table-captions.js'
import { hasFigures } from './table-columns.js'
import { type Block, isIntroduction, isNote } from './table-regions.js'
import type { Drawn } from './table-rules.js'
import type { Row } from './table-words.js'

/** Maximal distance between the right edges of two parts of a column of numbers, in points. */
const SAME_EDGE = 4
/**
 * Lines without numbers between two parts of a table: their maximal count, distance in text sizes, and length in words.
 */
const MAX_BETWEEN = 6
const STEP = 5
const MAX_WORDS = 14
/** Maximal distance of a sentence between two parts from the rows, relative to the usual step. */
const CLOSER = 1.25

/**
 * Joins a block without column names to the block above it with the same columns; section headers or wide gaps
 * separated them.
 */
export function joinParts(blocks: readonly Block[], drawn: Drawn): Block[] {
  const joined: Block[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    const whole = last === undefined ? undefined : asOne(last, block, drawn)
    if (whole === undefined) joined.push(block)
    else joined.splice(-1, 1, whole)
  }
  return joined
}

function asOne(upper: Block, lower: Block, drawn: Drawn): Block | undefined {
  const [first] = lower.rows
  if (first === undefined || !hasFigures(first)) return undefined
  const between = linesBetween(upper, lower)
  if (between === undefined) return undefined
  const [above, below] = [draftOf(upper, drawn), draftOf(lower, drawn)]
  if (above === undefined || below === undefined || above.headerRows === 0 || below.headerRows > 0) return undefined
  if (!sameColumns(above, below)) return undefined
  const whole = { above: upper.above, rows: [...upper.rows, ...between, ...lower.rows], below: lower.below }
  const draft = draftOf(whole, drawn)
  return draft !== undefined && draft.headerRows === above.headerRows && sameColumns(above, draft) ? whole : undefined
}

/** The lines between two blocks when each of them may head a section; else undefined. */
function linesBetween(upper: Block, lower: Block): Row[] | undefined {
  const [next] = upper.below
  // when the first line after the upper block is the first before the lower one, all lines between are known
  if (next === undefined || next !== (lower.above[0] ?? lower.rows[0])) return undefined
  const rows = lower.above
  if (rows.length > MAX_BETWEEN || rows.some((row) => !mayHeadSection(row))) return undefined
  // an introductory sentence that heads a section is as close as the rows
  const told = rows.some(({ segments: [one] }) => one !== undefined && isIntroduction(one))
  const steps = stepsOf([...upper.rows.slice(-1), ...rows, ...lower.rows.slice(0, 1)])
  const widest = told ? CLOSER * median(stepsOf(upper.rows)) : STEP * next.size
  return steps.every((step) => step <= widest) ? [...rows] : undefined
}

function stepsOf(rows: readonly Row[]): number[] {
  return rows.slice(1).map(({ y }, at) => (rows[at]?.y ?? y) - y)
}

function median(steps: readonly number[]): number {
  return [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? 0
}

function mayHeadSection(row: Row): boolean {
  const [one, ...more] = row.segments
  if (one === undefined || more.length > 0 || one.numeric) return false
  return one.text.split(' ').length <= MAX_WORDS && !isNumberedCaption(one.text) && !isNote(one)
}

function sameColumns(one: Draft, other: Draft): boolean {
  if (one.columns.length !== other.columns.length || one.stub !== other.stub || one.stub === 0) return false
  return one.columns.every((column, at) => {
    const same = other.columns[at]
    return same !== undefined && (at < one.stub || Math.abs(column.right - same.right) <= SAME_EDGE)
  })
}
