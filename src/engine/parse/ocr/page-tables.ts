import type { FoundTable } from '../pdf/found-table.js'
import type { PdfLine } from '../pdf/pdf-lines.js'
import { findTables } from '../pdf/table-find.js'
import { tenths } from '../render/points.js'
import { linesOfPage } from './pages.js'
import type { RecognisedLine, RecognisedPage, RuledLine } from './pages-read.js'
import { runsOfLine } from './word-places.js'

/**
 * The lines of a recognised page, with each table in place of the lines it consists of. Tables are found by word
 * positions and ruled lines, with the same rules as on pages with text.
 */
export function linesWithTables(page: RecognisedPage): PdfLine[] {
  const lines = linesOfPage(page)
  const { ruled } = page
  if (ruled === undefined) return lines
  const runs = page.lines.map(runsOfLine)
  const tables = findTables(runs.flat(), {
    level: ruled.level.map(ruleOf),
    upright: ruled.upright.map(ruleOf),
    stripes: [],
  })
  if (tables.length === 0) return lines
  const inTables = new Map(tables.flatMap((found) => found.runs.map((run) => [run, found] as const)))
  const placed = new Set<FoundTable>()
  let first = 0
  return page.lines.flatMap((line, index) => {
    const count = runs[index]?.length ?? 0
    const owners = Array.from({ length: count }, (_, at) => inTables.get(first + at))
    first += count
    const whole = lines[index]
    if (whole === undefined) return []
    const found = new Set(owners.flatMap((owner) => owner ?? []))
    if (found.size === 0) return [whole]
    const fresh = [...found].filter((one) => !placed.has(one))
    for (const one of fresh) placed.add(one)
    return [...fresh.map((one) => tableLine(one, page, inTables)), ...restOf(line, whole, owners)]
  })
}

function ruleOf([at, from, to]: RuledLine): { at: number; from: number; to: number } {
  return { at, from, to }
}

function tableLine(found: FoundTable, page: RecognisedPage, owners: ReadonlyMap<number, FoundTable>): PdfLine {
  const { left, right, top, bottom } = found.box
  const { size, rows } = found
  found.confidence = confidenceOf(page, found, owners)
  const shown = shownBox(found.box, page)
  if (shown !== undefined) found.shown = shown
  const text = rows.map((row) => row.join(' ')).join(' ')
  return { text, left, right, y: top - 0.8 * size, size, turned: false, table: { found, bottom } }
}

/** Mean confidence of the words of a table, weighted by their length. */
function confidenceOf({ lines }: RecognisedPage, found: FoundTable, owners: ReadonlyMap<number, FoundTable>): number {
  let run = 0
  let sum = 0
  let letters = 0
  for (const [, , , , , confidences, places = []] of lines) {
    for (const [index, confidence] of confidences.entries()) {
      const count = places[4 * index + 3] ?? 0
      if (owners.get(run++) !== found) continue
      sum += confidence * count
      letters += count
    }
  }
  return Math.round(sum / Math.max(1, letters))
}

/** The rest of a line without the words that belong to tables. */
function restOf(
  [, , , , text, confidences, places = []]: RecognisedLine,
  whole: PdfLine,
  owners: readonly (FoundTable | undefined)[],
): PdfLine[] {
  const letters = [...text]
  let at = 0
  let left: number | undefined
  let right = whole.right
  let rest = ''
  const sure: number[] = []
  for (const [index, owner] of owners.entries()) {
    const end = endOf(letters, at, places[4 * index + 3] ?? 0)
    const piece = letters.slice(at, end).join('')
    at = end
    if (owner !== undefined) continue
    rest += piece
    left ??= places[4 * index]
    right = places[4 * index + 1] ?? right
    sure.push(confidences[index] ?? 0)
  }
  if (rest.trim() === '' || left === undefined) return []
  return [{ ...whole, text: rest.trim(), left, right, confidences: sure }]
}

/** Index after `count` letters from a start index on; spaces are not counted. */
function endOf(letters: readonly string[], from: number, count: number): number {
  let left = count
  let at = from
  for (; at < letters.length && left > 0; at++) if (letters[at] !== ' ') left--
  return at
}

/**
 * The area of a table on the scanned page as it is shown, before correction of tilt and rotation; in points, rounded to
 * a tenth.
 */
function shownBox(
  { left, right, top, bottom }: FoundTable['box'],
  { size, rotation = 0, ruled }: RecognisedPage,
): FoundTable['shown'] {
  if (size === undefined) return undefined
  const [width, height] = size
  const tilt = ruled?.tilt ?? 0
  const corners = [left, right].flatMap((x) =>
    [top, bottom].map((y): [number, number] => {
      const down = height - y
      const [a, b] = [x - tilt * down, down + tilt * x]
      if (rotation === 90) return [b, width - a]
      if (rotation === 180) return [width - a, height - b]
      if (rotation === 270) return [height - b, a]
      return [a, b]
    }),
  )
  const xs = corners.map(([x]) => x)
  const ys = corners.map(([, y]) => y)
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return { x: tenths(x), y: tenths(y), width: tenths(Math.max(...xs) - x), height: tenths(Math.max(...ys) - y) }
}
