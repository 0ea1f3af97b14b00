import { type TextRun, toPosition } from './pdf-lines.js'

/** Maximal distance between two copies of a text, in text sizes: of the baselines, and of estimated places of letters. */
const MAX_SHIFT = 0.3
const MAX_LETTER_SHIFT = 0.5
const LETTER_SHIFT_STEP = 0.01
/** Runs that overlap by less, in mean widths of a letter, are next to each other. */
const MIN_OVERLAP = 0.4
const MAX_SIZE_DIFFERENCE = 0.15
/** Side of the cells in which copies are searched, in points, and maximal numbers of cells and of runs in one. */
const CELL_PT = 32
const MAX_CELLS = 64
const MAX_RUNS = 48
/** Longer runs, and more runs under one, are not compared. */
const MAX_LENGTH = 1000
const MAX_UNDER = 96
const CELLS_ACROSS = 1 << 20
const NARROW = /[\sfijlrtI1.,:;'|!()[\]-]/
const WIDE = /[mwMW@%—]/

/** A run without its spaces; `edges` are the estimated left and right edges of its letters. */
interface Letters {
  index: number
  text: string
  edges: { left: number; right: number }[]
  left: number
  right: number
  y: number
  size: number
  turned: boolean
}

/**
 * Removes texts that are drawn again at nearly the same place, to look bold or to have a shadow, in whichever pieces and
 * fonts. Compares letters and places like `setSuppressDuplicateOverlappingText` of PDFBox; what is next to another text
 * is never compared with it.
 */
export function removeOverprints(runs: readonly TextRun[]): TextRun[] {
  const kept: (TextRun | undefined)[] = []
  const cells = new Map<number, Letters[]>()
  for (const run of runs) {
    const letters = toLetters(run, kept.length)
    const under = letters === undefined ? [] : findUnder(letters, cells, kept)
    if (letters !== undefined && isPartOf(letters, under)) continue
    const remaining = letters === undefined || under.length === 0 ? run : removeRepeated(run, letters, under, kept)
    const added = remaining === run ? letters : toLetters(remaining, kept.length)
    kept.push(remaining)
    if (added !== undefined) for (const key of cellsOf(added, 0)) addToCell(cells, key, added)
  }
  return kept.flatMap((run) => run ?? [])
}

/** The kept runs that a run is drawn over, from left to right. */
function findUnder(
  one: Letters,
  cells: ReadonlyMap<number, Letters[]>,
  kept: readonly (TextRun | undefined)[],
): Letters[] {
  const found = new Set<Letters>()
  for (const key of cellsOf(one, MAX_SHIFT * one.size))
    for (const other of cells.get(key) ?? [])
      if (found.size < MAX_UNDER && kept[other.index] !== undefined && isOver(one, other)) found.add(other)
  return [...found].sort((a, b) => a.left - b.left)
}

/** Removes the runs under a run that are parts of it; where they are not, removes its start, if that repeats them. */
function removeRepeated(
  run: TextRun,
  letters: Letters,
  under: readonly Letters[],
  kept: (TextRun | undefined)[],
): TextRun {
  if (!under.every((one) => isPartOf(one, [letters]))) return removeStart(run, letters, under)
  for (const { index } of under) kept[index] = undefined
  return run
}

function toLetters(run: TextRun, index: number): Letters | undefined {
  if (run.str.trim() === '' || run.str.length > MAX_LENGTH || !run.transform.every(Number.isFinite) || !(run.width > 0))
    return undefined
  const { left, right, y, size, turned } = toPosition(run)
  const total = Array.from(run.str, weigh).reduce((sum, weight) => sum + weight, 0)
  const edges: Letters['edges'] = []
  let text = ''
  let at = left
  for (const letter of run.str) {
    const end = at + (weigh(letter) / total) * run.width
    if (letter.trim() !== '') {
      text += letter
      for (let unit = 0; unit < letter.length; unit++) edges.push({ left: at, right: end })
    }
    at = end
  }
  return { index, text, edges, left, right, y, size, turned }
}

/** The usual width of a letter, relative to that of others. */
function weigh(letter: string): number {
  return NARROW.test(letter) ? 0.55 : WIDE.test(letter) ? 1.5 : 1
}

/** Keys of the cells that a run touches. @param margin above and below it */
function* cellsOf({ left, right, y }: Letters, margin: number): Generator<number> {
  const [from, to] = [Math.floor(left / CELL_PT), Math.floor(right / CELL_PT)]
  for (let row = Math.floor((y - margin) / CELL_PT); row <= Math.floor((y + margin) / CELL_PT); row++)
    for (let column = from; column <= Math.min(to, from + MAX_CELLS); column++) yield row * CELLS_ACROSS + column
}

function addToCell(cells: Map<number, Letters[]>, key: number, letters: Letters): void {
  const list = cells.get(key)
  if (list === undefined) cells.set(key, [letters])
  else {
    list.push(letters)
    if (list.length > MAX_RUNS) list.shift()
  }
}

function isOver(one: Letters, other: Letters): boolean {
  if (one.turned !== other.turned || Math.abs(one.y - other.y) > MAX_SHIFT * one.size) return false
  if (Math.abs(one.size - other.size) > MAX_SIZE_DIFFERENCE * one.size) return false
  const overlap = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  const letterWidth = Math.min((one.right - one.left) / one.text.length, (other.right - other.left) / other.text.length)
  return overlap > MIN_OVERLAP * letterWidth
}

/** Whether the letters of a run are at its place among those of others. @param others from left to right */
function isPartOf(one: Letters, others: readonly Letters[]): boolean {
  const text = others.map((other) => other.text).join('')
  const edges = others.flatMap((other) => other.edges)
  const tolerance = one.size * Math.min(1.2, MAX_LETTER_SHIFT + LETTER_SHIFT_STEP * text.length)
  for (let at = text.indexOf(one.text); at !== -1; at = text.indexOf(one.text, at + 1)) {
    const [first, last] = [edges[at], edges[at + one.text.length - 1]]
    if (first === undefined || last === undefined) return false
    if (Math.abs(first.left - one.left) <= tolerance && Math.abs(last.right - one.right) <= tolerance) return true
  }
  return false
}

/** Removes the letters at the start of a run that repeat the end of the texts under it. */
function removeStart(run: TextRun, letters: Letters, under: readonly Letters[]): TextRun {
  const text = under.map((other) => other.text).join('')
  const right = under.at(-1)?.right ?? 0
  if (letters.right <= right) return run
  for (let count = Math.min(letters.text.length - 1, text.length); count > 0; count--) {
    const width = (letters.edges[count - 1]?.right ?? letters.right) - letters.left
    const isThere = Math.abs(width - (right - letters.left)) < MAX_LETTER_SHIFT * letters.size
    if (isThere && text.endsWith(letters.text.slice(0, count))) return dropLetters(run, count, right - letters.left)
  }
  return run
}

/** @param shift width of the dropped letters */
function dropLetters(run: TextRun, count: number, shift: number): TextRun {
  let index = 0
  for (let left = count; left > 0; index++) if (run.str.charAt(index).trim() !== '') left--
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = run.transform
  const length = Math.hypot(a, b) || 1
  const transform = [a, b, c, d, e + (a / length) * shift, f + (b / length) * shift]
  return { ...run, str: run.str.slice(index), width: Math.max(0, run.width - shift), transform }
}
