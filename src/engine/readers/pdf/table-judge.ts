import type { TableDraft } from './table-build.js'
import { hasNumberedCaption } from './table-captions.js'
import { isYear } from './table-columns.js'
import type { TableLine } from './table-lines.js'
import type { PageDrawings } from './table-rules.js'

/** Minimal fraction of numbers among the value cells of a table of numbers. */
const MIN_NUMBER_FRACTION = 0.5
/** Maximal mean number of words of a cell in a table of words. */
const MAX_WORDS = 9
/**
 * Minimal fraction of cells of a word column that start, end or are centred at one position, and the tolerance in
 * points.
 */
const MIN_ALIGNED_FRACTION = 0.65
const ALIGN_STEP_PT = 3
/** Minimal fraction of rows with several cells in a table of two columns. */
const MIN_FILLED_FRACTION = 0.3

/**
 * Whether a draft is a table, and not a table of contents, a list of references, numbered equations, labels of a chart,
 * an address or prose that happens to be in columns.
 */
export function isTable(draft: TableDraft, drawn: PageDrawings): boolean {
  const body = draft.lines.slice(draft.headerRows)
  if (draft.lines.length < 2 || body.length === 0 || draft.columns.length > 60) return false
  const values = body.flatMap((line) => line.cells.filter((cell) => cell.from >= Math.max(1, draft.stub)))
  const numberCount = values.filter((cell) => cell.numeric).length
  const filled = body.filter((line) => line.cells.length >= 2)
  if (isContents(draft, body) || isReferences(body) || isEquations(draft, body) || isAxis(draft, body)) return false
  if (draft.stub > 0 && numberCount >= MIN_NUMBER_FRACTION * values.length && numberCount > 0) {
    const hasRules = draft.headerRows > 0 && draft.columns.length > 2 && countRulesAcross(draft, drawn) > 0
    if (hasNumberedCaption(draft) || hasRules || isFramed(draft, drawn)) return filled.length >= 1
    if (draft.columns.length === 2)
      return filled.length >= 3 && numberCount >= 3 && filled.length >= MIN_FILLED_FRACTION * body.length
    return filled.length >= 2 && (draft.headerRows > 0 || filled.length >= 3)
  }
  if (draft.stub === 0 && draft.columns[0]?.numeric === true)
    return isGrid(draft, body, numberCount / Math.max(1, values.length))
  return isTableOfWords(draft, drawn)
}

/** Only numbers: each row has nearly as many as there are columns. */
function isGrid(draft: TableDraft, body: readonly TableLine[], numberFraction: number): boolean {
  const full = body.filter((line) => line.cells.length >= Math.max(2, draft.columns.length * 0.6))
  return body.length >= 3 && numberFraction >= MIN_NUMBER_FRACTION && full.length >= 0.7 * body.length
}

function isTableOfWords(draft: TableDraft, drawn: PageDrawings): boolean {
  const cells = draft.lines.flatMap((line) => line.cells)
  const words = cells.reduce((sum, cell) => sum + cell.text.split(' ').length, 0)
  const isInFrame = isFramed(draft, drawn)
  const full = draft.lines.filter((line) => line.cells.length >= Math.max(2, Math.ceil(draft.columns.length * 0.6)))
  if (!isInFrame && !hasNumberedCaption(draft)) return false
  if (isProse(draft.lines) || (!isInFrame && draft.lines[0]?.cells.some((cell) => /^\p{Ll}/u.test(cell.text))))
    return false
  if (full.length < 2 || full.length < 0.4 * draft.lines.length || words > 3 * MAX_WORDS * cells.length) return false
  return draft.columns.every((_, index) => isAligned(draft.lines, index))
}

/** Lines of sentences: most first cells continue what is above them. */
function isProse(lines: readonly TableLine[]): boolean {
  const firsts = lines.flatMap(({ cells: [first] }) => (first === undefined ? [] : [first.text]))
  const lowercaseTexts = firsts.filter((text) => /^\p{Ll}/u.test(text) && text.split(' ').length >= 3)
  return lowercaseTexts.length > 0.4 * firsts.length
}

function isAligned(lines: readonly TableLine[], column: number): boolean {
  const cells = lines.flatMap((line) => line.cells.filter((cell) => cell.from === column && cell.to === column))
  const countMostFrequent = (getPosition: (cell: { left: number; right: number }) => number): number => {
    const counts = new Map<number, number>()
    for (const cell of cells) {
      const step = Math.round(getPosition(cell) / ALIGN_STEP_PT)
      counts.set(step, (counts.get(step) ?? 0) + 1)
    }
    let best = 0
    for (const [step, count] of counts) best = Math.max(best, count + (counts.get(step + 1) ?? 0))
    return best
  }
  const minCount = MIN_ALIGNED_FRACTION * cells.length
  return (
    countMostFrequent((c) => c.left) >= minCount ||
    countMostFrequent((c) => c.right) >= minCount ||
    countMostFrequent((c) => (c.left + c.right) / 2) >= minCount
  )
}

/** Whether at least two rules or stripes cover most of the width, within the table or at its edges. */
export function isFramed(draft: TableDraft, drawn: PageDrawings): boolean {
  return countRulesAcross(draft, drawn) >= 2
}

function countRulesAcross(draft: TableDraft, drawn: PageDrawings): number {
  const left = draft.columns[0]?.left ?? 0
  const right = draft.columns.at(-1)?.right ?? 0
  const top = (draft.lines[0]?.y ?? 0) + 2.5 * (draft.lines[0]?.size ?? 0)
  const bottom = (draft.lines.at(-1)?.bottom ?? 0) - 1.5 * (draft.lines.at(-1)?.size ?? 0)
  const positions = new Set<number>()
  for (const rule of drawn.level) {
    const width = Math.min(rule.to, right) - Math.max(rule.from, left)
    if (rule.at < top && rule.at > bottom && width > 0.8 * (right - left)) positions.add(Math.round(rule.at / 3))
  }
  for (const stripe of drawn.stripes) {
    const width = Math.min(stripe.right, right) - Math.max(stripe.left, left)
    if (stripe.top < top && stripe.bottom > bottom && width > 0.8 * (right - left))
      positions.add(Math.round(stripe.top / 3))
  }
  return positions.size
}

/** Titles with page numbers: integers that hardly ever decrease, in the last of two to four columns. */
function isContents(draft: TableDraft, body: readonly TableLine[]): boolean {
  const head = draft.lines.slice(0, draft.headerRows).flatMap((line) => line.cells)
  const last = draft.columns.length - 1
  if (draft.columns.length > 4) return false
  const pages = body.flatMap((line) => line.cells.filter((cell) => cell.to === last && line.cells.length > 1))
  const pageCells = pages.filter((cell) =>
    /^(?:\d{1,4}|[ivxlc]{1,6}|[A-Z]-?\d{1,3})(?:\s?[-–]\s?\d{1,4})?$/.test(cell.text),
  )
  if (pageCells.length < 0.8 * pages.length || pageCells.length < 2) return false
  if (head.some((cell) => /^pages?(?: no\.?| number)?$/i.test(cell.text))) return true
  const values = body.reduce(
    (sum, line) => sum + line.cells.filter((c) => c.numeric && c.from > 0 && c.to < last).length,
    0,
  )
  if (values > 0.3 * body.length || pageCells.some((cell) => isYear(cell.text)) || pageCells.length < 4) return false
  let decreases = 0
  for (let i = 1; i < pageCells.length; i++)
    if (Number.parseInt(pageCells[i]?.text ?? '', 10) < Number.parseInt(pageCells[i - 1]?.text ?? '', 10)) decreases++
  return decreases <= 0.1 * pageCells.length
}

/** `[12]` or `3.` before long texts. */
function isReferences(body: readonly TableLine[]): boolean {
  const marks = body.filter((line) => /^(?:\[\d{1,3}\]|\(?\d{1,3}[.)]|•)/.test(line.cells[0]?.text ?? ''))
  return (
    marks.length >= 0.3 * body.length &&
    body.every((line) => line.cells.filter((cell) => !cell.numeric).length <= 2 && line.cells.length <= 2)
  )
}

/** Formulas with their number at the edge. */
function isEquations(draft: TableDraft, body: readonly TableLine[]): boolean {
  const last = draft.columns.length - 1
  const numbers = body.filter(
    (line) => /^\(\d{1,3}(?:\.\d{1,3})?[a-z]?\)$/.test(line.cells.at(-1)?.text ?? '') && line.cells.at(-1)?.to === last,
  )
  const signs = body.filter((line) => line.cells.some((cell) => /[=∑∫√∂≡→∈∀]|^[+−<>]$/u.test(cell.text)))
  return (
    (numbers.length > 0 &&
      numbers.length >= 0.5 * body.filter((line) => line.cells.length > 1).length &&
      signs.length > 0 &&
      draft.columns.length <= 4) ||
    signs.length > 0.5 * body.length
  )
}

/** Labels along the axes of a chart: hardly any row has a name and a number, or numbers are alone. */
function isAxis(draft: TableDraft, body: readonly TableLine[]): boolean {
  if (draft.stub === 0) return false
  const rowsWithBoth = body.filter((line) => line.cells.length > 1 && (line.cells[0]?.from ?? 0) < draft.stub)
  const rowsWithName = body.filter((line) => (line.cells[0]?.from ?? draft.columns.length) < draft.stub)
  return rowsWithBoth.length === 0 || rowsWithName.length < 0.25 * body.length
}
