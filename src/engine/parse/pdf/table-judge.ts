import type { Draft } from './table-build.js'
import { isYear } from './table-columns.js'
import type { Line } from './table-lines.js'
import type { Drawn } from './table-rules.js'

/** Minimal fraction of numbers among the value cells of a table of numbers. */
const FIGURES = 0.5
/** Maximal mean number of words of a cell in a table of words. */
const MAX_WORDS = 9
/**
 * Minimal fraction of cells of a word column that start, end or are centred at one position, and the tolerance in
 * points.
 */
const ALIGNED = 0.65
const ALIGN = 3
/** Minimal fraction of rows with several cells in a table of two columns. */
const FILLED = 0.3

/**
 * Whether a draft is a table, and not a table of contents, a list of references, numbered equations, labels of a chart,
 * an address or prose that happens to be in columns.
 */
export function isTable(draft: Draft, drawn: Drawn, named: boolean): boolean {
  const body = draft.lines.slice(draft.headerRows)
  if (draft.lines.length < 2 || body.length === 0 || draft.columns.length > 60) return false
  const values = body.flatMap((line) => line.cells.filter((cell) => cell.from >= Math.max(1, draft.stub)))
  const figures = values.filter((cell) => cell.numeric).length
  const filled = body.filter((line) => line.cells.length >= 2)
  if (isContents(draft, body) || isReferences(body) || isEquations(draft, body) || isAxis(draft, body)) return false
  if (draft.stub > 0 && figures >= FIGURES * values.length && figures > 0) {
    const lined = draft.headerRows > 0 && draft.columns.length > 2 && linesAcross(draft, drawn) > 0
    if (named || lined || isFramed(draft, drawn)) return filled.length >= 1
    if (draft.columns.length === 2) return filled.length >= 3 && figures >= 3 && filled.length >= FILLED * body.length
    return filled.length >= 2 && (draft.headerRows > 0 || filled.length >= 3)
  }
  if (draft.stub === 0 && draft.columns[0]?.numeric === true)
    return isGrid(draft, body, figures / Math.max(1, values.length))
  return isTableOfWords(draft, drawn, named)
}

/** Only numbers: each row has nearly as many as there are columns. */
function isGrid(draft: Draft, body: readonly Line[], share: number): boolean {
  const full = body.filter((line) => line.cells.length >= Math.max(2, draft.columns.length * 0.6))
  return body.length >= 3 && share >= FIGURES && full.length >= 0.7 * body.length
}

function isTableOfWords(draft: Draft, drawn: Drawn, named: boolean): boolean {
  const cells = draft.lines.flatMap((line) => line.cells)
  const words = cells.reduce((sum, cell) => sum + cell.text.split(' ').length, 0)
  const framed = isFramed(draft, drawn)
  const full = draft.lines.filter((line) => line.cells.length >= Math.max(2, Math.ceil(draft.columns.length * 0.6)))
  if (!framed && !named) return false
  if (isProse(draft.lines) || (!framed && draft.lines[0]?.cells.some((cell) => /^\p{Ll}/u.test(cell.text))))
    return false
  if (full.length < 2 || full.length < 0.4 * draft.lines.length || words > 3 * MAX_WORDS * cells.length) return false
  return draft.columns.every((_, index) => isAligned(draft.lines, index))
}

/** Lines of sentences: most first cells continue what is above them. */
function isProse(lines: readonly Line[]): boolean {
  const firsts = lines.flatMap(({ cells: [first] }) => (first === undefined ? [] : [first.text]))
  const small = firsts.filter((text) => /^\p{Ll}/u.test(text) && text.split(' ').length >= 3)
  return small.length > 0.4 * firsts.length
}

function isAligned(lines: readonly Line[], column: number): boolean {
  const cells = lines.flatMap((line) => line.cells.filter((cell) => cell.from === column && cell.to === column))
  const most = (place: (cell: { left: number; right: number }) => number): number => {
    const counts = new Map<number, number>()
    for (const cell of cells) {
      const at = Math.round(place(cell) / ALIGN)
      counts.set(at, (counts.get(at) ?? 0) + 1)
    }
    let best = 0
    for (const [at, count] of counts) best = Math.max(best, count + (counts.get(at + 1) ?? 0))
    return best
  }
  const wanted = ALIGNED * cells.length
  return (
    most((c) => c.left) >= wanted || most((c) => c.right) >= wanted || most((c) => (c.left + c.right) / 2) >= wanted
  )
}

/** Whether at least two rules or stripes cover most of the width, within the table or at its edges. */
export function isFramed(draft: Draft, drawn: Drawn): boolean {
  return linesAcross(draft, drawn) >= 2
}

function linesAcross(draft: Draft, drawn: Drawn): number {
  const left = draft.columns[0]?.left ?? 0
  const right = draft.columns.at(-1)?.right ?? 0
  const top = (draft.lines[0]?.y ?? 0) + 2.5 * (draft.lines[0]?.size ?? 0)
  const bottom = (draft.lines.at(-1)?.bottom ?? 0) - 1.5 * (draft.lines.at(-1)?.size ?? 0)
  const places = new Set<number>()
  for (const rule of drawn.level) {
    const across = Math.min(rule.to, right) - Math.max(rule.from, left)
    if (rule.at < top && rule.at > bottom && across > 0.8 * (right - left)) places.add(Math.round(rule.at / 3))
  }
  for (const stripe of drawn.stripes) {
    const across = Math.min(stripe.right, right) - Math.max(stripe.left, left)
    if (stripe.top < top && stripe.bottom > bottom && across > 0.8 * (right - left))
      places.add(Math.round(stripe.top / 3))
  }
  return places.size
}

/** Titles with page numbers: integers that hardly ever decrease, in the last of two to four columns. */
function isContents(draft: Draft, body: readonly Line[]): boolean {
  const head = draft.lines.slice(0, draft.headerRows).flatMap((line) => line.cells)
  const last = draft.columns.length - 1
  if (draft.columns.length > 4) return false
  const pages = body.flatMap((line) => line.cells.filter((cell) => cell.to === last && line.cells.length > 1))
  const whole = pages.filter((cell) =>
    /^(?:\d{1,4}|[ivxlc]{1,6}|[A-Z]-?\d{1,3})(?:\s?[-–]\s?\d{1,4})?$/.test(cell.text),
  )
  if (whole.length < 0.8 * pages.length || whole.length < 2) return false
  if (head.some((cell) => /^pages?(?: no\.?| number)?$/i.test(cell.text))) return true
  const values = body.reduce(
    (sum, line) => sum + line.cells.filter((c) => c.numeric && c.from > 0 && c.to < last).length,
    0,
  )
  if (values > 0.3 * body.length || whole.some((cell) => isYear(cell.text)) || whole.length < 4) return false
  let falls = 0
  for (let i = 1; i < whole.length; i++)
    if (Number.parseInt(whole[i]?.text ?? '', 10) < Number.parseInt(whole[i - 1]?.text ?? '', 10)) falls++
  return falls <= 0.1 * whole.length
}

/** `[12]` or `3.` before long texts. */
function isReferences(body: readonly Line[]): boolean {
  const marks = body.filter((line) => /^(?:\[\d{1,3}\]|\(?\d{1,3}[.)]|•)/.test(line.cells[0]?.text ?? ''))
  return (
    marks.length >= 0.3 * body.length &&
    body.every((line) => line.cells.filter((cell) => !cell.numeric).length <= 2 && line.cells.length <= 2)
  )
}

/** Formulas with their number at the edge. */
function isEquations(draft: Draft, body: readonly Line[]): boolean {
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
function isAxis(draft: Draft, body: readonly Line[]): boolean {
  if (draft.stub === 0) return false
  const both = body.filter((line) => line.cells.length > 1 && (line.cells[0]?.from ?? 0) < draft.stub)
  const headed = body.filter((line) => (line.cells[0]?.from ?? draft.columns.length) < draft.stub)
  return both.length === 0 || headed.length < 0.25 * body.length
}
