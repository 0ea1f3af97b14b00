import createBidi from 'bidi-js'
import { lazy } from '../../../lib/lazy.js'
import type { Glyph } from './page-glyphs.js'
import { type TextRun, toPosition } from './pdf-lines.js'

/** Runs on one baseline with a larger gap, in text sizes, are cells. */
const CELL_GAP = 1.1
const SAME_BASELINE = 0.5
/** A larger gap between two glyphs, in text sizes, is a space. */
const SPACE_GAP = 0.17
/** Glyphs must have at least this fraction of the letters of a line to replace them. */
const MIN_GLYPH_FRACTION = 0.9
const ROW_PT = 4
/** A line of text has fewer glyphs. */
const MAX_CELL_GLYPHS = 4000
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const PRESENTATION_FORMS = /[\ufb1d-\ufdff\ufe70-\ufefc]+/g
const BRACKETS = '()[]{}«»‹›'

const getBidi = lazy(createBidi)

/** The runs of a page in logical order. `isMirrored`: its lines are read from right to left. */
interface OrderedRuns {
  runs: TextRun[]
  isMirrored: boolean
}

/** The run of a cell in logical order, with brackets as they are stored, and with those that have the opposite form. */
interface JoinedCell {
  run: TextRun
  letters: string[]
  mirrored: string[]
}

/** Whether a text has letters that are read from right to left. */
function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text)
}

/**
 * Puts lines with right-to-left letters into the order in which they are read: the letters from left to right as they
 * are drawn, ordered by the Unicode Bidirectional Algorithm (UAX #9), which is its own inverse for text of two levels.
 *
 * @param readGlyphs reads the glyphs of the page
 */
export async function orderRightToLeft(
  runs: readonly TextRun[],
  readGlyphs: () => Promise<Glyph[]>,
): Promise<OrderedRuns> {
  if (!runs.some(({ str }) => hasRightToLeft(str))) return { runs: [...runs], isMirrored: false }
  const rows = indexByRow(await readGlyphs())
  const isMirrored = isMostlyRightToLeft(runs.map(({ str }) => str).join(''))
  const ordered: TextRun[] = []
  const joined: JoinedCell[] = []
  const join = (cell: readonly TextRun[], isRightToLeft: boolean): TextRun => {
    const result = joinCell(cell, rows, isRightToLeft)
    if ('letters' in result) joined.push(result)
    return 'letters' in result ? result.run : result
  }
  for (const chain of splitAtBaselines(runs)) {
    if (!chain.some(({ str }) => hasRightToLeft(str))) {
      ordered.push(...chain)
      continue
    }
    const isRightToLeft = isMirrored || isMostlyRightToLeft(chain.map(({ str }) => str).join(''))
    const cells = splitIntoCells(chain).map((cell) => join(cell, isRightToLeft))
    ordered.push(...(isRightToLeft ? cells.reverse() : cells))
  }
  // some programs store the bracket that is drawn, others the one that is meant
  const isDrawn =
    countPairs(joined.flatMap(({ letters }) => letters)) < countPairs(joined.flatMap(({ mirrored }) => mirrored))
  for (const { run, letters, mirrored } of joined) run.str = foldForms((isDrawn ? mirrored : letters).join(''))
  return { runs: ordered, isMirrored }
}

/** The runs as if the page was seen in a mirror, so that lines and columns follow each other from left to right. */
export function mirrorRuns(runs: readonly TextRun[]): TextRun[] {
  return runs.map((run) => {
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = run.transform
    return Math.abs(b) > Math.abs(a) ? run : { ...run, transform: [a, b, c, d, -e - run.width, f] }
  })
}

/** An area as if it was seen in a mirror. */
export function mirrorBox<Box extends { left: number; right: number }>(box: Box): Box {
  return { ...box, left: -box.right, right: -box.left }
}

function isMostlyRightToLeft(text: string): boolean {
  let [right, left] = [0, 0]
  for (const letter of text.match(/\p{L}/gu) ?? []) {
    if (hasRightToLeft(letter)) right++
    else left++
  }
  return right > left
}

/** Consecutive runs on one baseline, without empty ones. */
function splitAtBaselines(runs: readonly TextRun[]): TextRun[][] {
  const chains: TextRun[][] = []
  let y = Number.NaN
  for (const run of runs) {
    if (run.str === '') continue
    const position = toPosition(run)
    if (Math.abs(position.y - y) <= SAME_BASELINE * position.size && !position.turned) chains.at(-1)?.push(run)
    else chains.push([run])
    y = position.turned ? Number.NaN : position.y
  }
  return chains
}

/** The cells of a line from left to right. */
function splitIntoCells(chain: readonly TextRun[]): TextRun[][] {
  const placed = chain.map((run) => ({ run, ...toPosition(run) }))
  if (placed.some(({ turned }) => turned)) return chain.map((run) => [run])
  placed.sort((a, b) => a.left - b.left)
  const cells: TextRun[][] = []
  let right = Number.NEGATIVE_INFINITY
  for (const { run, left, right: end, size } of placed) {
    if (run.str.trim() === '') continue
    if (left - right > CELL_GAP * size) cells.push([run])
    else cells.at(-1)?.push(run)
    right = Math.max(right, end)
  }
  return cells
}

/** Joins the runs of a cell into one. @param cell from left to right */
function joinCell(
  cell: readonly TextRun[],
  rows: ReadonlyMap<number, Glyph[]>,
  isRightToLeft: boolean,
): TextRun | JoinedCell {
  const [first, ...more] = cell
  if (first === undefined) return { str: '', transform: [], width: 0, height: 0 }
  const { y, size } = toPosition(first)
  const left = cell.reduce((edge, run) => Math.min(edge, toPosition(run).left), Number.POSITIVE_INFINITY)
  const right = cell.reduce((edge, run) => Math.max(edge, toPosition(run).right), Number.NEGATIVE_INFINITY)
  if (!cell.some(({ str }) => hasRightToLeft(str)) && more.length === 0) return first
  const count = cell.map(({ str }) => str.replace(/\s+/g, '')).join('').length
  const glyphs = findGlyphs(rows, { left, right, y, size })
  const drawn = glyphs.reduce((sum, { text }) => sum + text.length, 0)
  const clusters = drawn >= MIN_GLYPH_FRACTION * count ? glyphs : cell.flatMap(toClusters)
  const transform = [...first.transform]
  transform[4] = left
  const longest = cell.reduce((best, run) => (run.str.length > best.str.length ? run : best), first)
  const run = { ...longest, str: '', transform, width: right - left }
  return { run, ...toLogicalOrder(addSpaces(attachMarks(clusters), size), isRightToLeft) }
}

function indexByRow(glyphs: readonly Glyph[]): Map<number, Glyph[]> {
  const rows = new Map<number, Glyph[]>()
  for (const glyph of glyphs) {
    if (glyph.text.trim() === '') continue
    const key = Math.floor(glyph.y / ROW_PT)
    const row = rows.get(key)
    if (row === undefined) rows.set(key, [glyph])
    else row.push(glyph)
  }
  return rows
}

/** The glyphs of a cell in the order of the file. */
function findGlyphs(
  rows: ReadonlyMap<number, Glyph[]>,
  { left, right, y, size }: { left: number; right: number; y: number; size: number },
): Glyph[] {
  const reach = SAME_BASELINE * size
  const found: Glyph[] = []
  for (let key = Math.floor((y - reach) / ROW_PT); key <= Math.floor((y + reach) / ROW_PT); key++) {
    for (const glyph of rows.get(key) ?? []) {
      const middle = (glyph.left + glyph.right) / 2
      if (found.length > MAX_CELL_GLYPHS) return []
      if (Math.abs(glyph.y - y) <= reach && middle > left - 0.5 && middle < right + 0.5) found.push(glyph)
    }
  }
  return found
}

/** The letters of a run as pdf.js puts them in order, from left to right and without the ligatures. */
function toClusters(run: TextRun): Glyph[] {
  const { left, right, y } = toPosition(run)
  const letters = [...run.str]
  const unit = (right - left) / Math.max(1, letters.length)
  const isReversed = hasRightToLeft(run.str)
  return letters.flatMap((text, index) => {
    const at = left + unit * (isReversed ? letters.length - 1 - index : index)
    return text.trim() === '' ? [] : [{ text, left: at, right: at + 0.9 * unit, y }]
  })
}

/** Sorts glyphs from left to right, each accent with its letter. */
function attachMarks(glyphs: readonly Glyph[]): Glyph[] {
  const isMark = ({ text }: Glyph): boolean => /^\p{M}+$/u.test(text)
  const letters = glyphs.filter((glyph) => !isMark(glyph)).map((glyph) => ({ ...glyph }))
  letters.sort((a, b) => a.left - b.left)
  for (const mark of glyphs.filter(isMark)) {
    const at = (mark.left + mark.right) / 2
    let best = letters[0]
    for (const letter of letters) if (letter.left <= at + 0.1) best = letter
    if (best === undefined) letters.push({ ...mark })
    else best.text += mark.text
  }
  return letters
}

function addSpaces(letters: readonly Glyph[], size: number): string[] {
  const clusters: string[] = []
  let right: number | undefined
  for (const letter of letters) {
    if (right !== undefined && letter.left - right > SPACE_GAP * size) clusters.push(' ')
    clusters.push(letter.text)
    right = Math.max(right ?? letter.right, letter.right)
  }
  return clusters
}

/** Reorders clusters from left to right into the order in which they are read. */
function toLogicalOrder(clusters: readonly string[], isRightToLeft: boolean): Omit<JoinedCell, 'run'> {
  const bidi = getBidi()
  // one unit for each cluster, so that positions are those of the clusters
  const visual = clusters.map((text) => foldForms(text).charAt(0) || ' ').join('')
  const embedding = bidi.getEmbeddingLevels(visual, isRightToLeft ? 'rtl' : 'ltr')
  const order = clusters.map((_, index) => index)
  for (const [start, end] of bidi.getReorderSegments(visual, embedding)) {
    const part = order.slice(start, end + 1).reverse()
    order.splice(start, part.length, ...part)
  }
  const letters = order.map((index) => clusters[index] ?? '')
  const isReversed = (index: number): boolean => (embedding.levels[index] ?? 0) % 2 === 1
  const mirrored = order.map((index, at) => {
    const text = letters[at] ?? ''
    return isReversed(index) ? (bidi.getMirroredCharacter(text) ?? text) : text
  })
  return { letters, mirrored }
}

/** Counts brackets that are closed after they are opened. */
function countPairs(texts: readonly string[]): number {
  const open: number[] = []
  let pairs = 0
  for (const text of texts) {
    const kind = BRACKETS.indexOf(text)
    if (text === '' || kind === -1) continue
    if (kind % 2 === 0) open.push(kind)
    else if (open.at(-1) === kind - 1) {
      open.pop()
      pairs++
    }
  }
  return pairs
}

/** Replaces the forms that letters have within words by the letters. */
function foldForms(text: string): string {
  // a form of an accent alone is one over a space
  return text.replace(PRESENTATION_FORMS, (forms) => forms.normalize('NFKC').replace(/ (?=\p{M})/gu, ''))
}
