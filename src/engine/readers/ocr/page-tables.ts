import type { RecognisedLine, RecognisedPage, RuledLine } from '../../store/recognised-pages.js'
import type { FoundTable } from '../pdf/found-table.js'
import { createTableLine, type PdfLine } from '../pdf/pdf-lines.js'
import { findTables } from '../pdf/table-find.js'
import { roundToTenths } from '../render/points.js'
import { toPdfLines } from './pages.js'
import { toTextRuns } from './word-positions.js'

/**
 * The lines of a recognised page, with each table in place of the lines it consists of. Tables are found by word
 * positions and ruled lines, with the same rules as on pages with text.
 */
export function buildLinesWithTables(page: RecognisedPage): PdfLine[] {
  const lines = toPdfLines(page)
  const { ruled } = page
  if (ruled === undefined) return lines
  const runs = page.lines.map(toTextRuns)
  const tables = findTables(runs.flat(), {
    level: ruled.level.map(toRule),
    upright: ruled.upright.map(toRule),
    stripes: [],
  })
  if (tables.length === 0) return lines
  const inTables = new Map(tables.flatMap((found) => found.runs.map((run) => [run, found] as const)))
  const placed = new Set<FoundTable>()
  let first = 0
  return page.lines.flatMap((line, index) => {
    const count = runs[index]?.length ?? 0
    const owners = Array.from({ length: count }, (_, index) => inTables.get(first + index))
    first += count
    const fullLine = lines[index]
    if (fullLine === undefined) return []
    const found = new Set(owners.flatMap((owner) => owner ?? []))
    if (found.size === 0) return [fullLine]
    const newTables = [...found].filter((table) => !placed.has(table))
    for (const table of newTables) placed.add(table)
    return [
      ...newTables.map((table) => createRecognisedTableLine(table, page, inTables)),
      ...extractRest(line, fullLine, owners),
    ]
  })
}

function toRule([at, from, to]: RuledLine): { at: number; from: number; to: number } {
  return { at, from, to }
}

/** The line of a table, whose confidence and shown box it also sets. @param owners the table of a run, by its index */
function createRecognisedTableLine(
  found: FoundTable,
  page: RecognisedPage,
  owners: ReadonlyMap<number, FoundTable>,
): PdfLine {
  found.confidence = computeConfidence(page, found, owners)
  const shown = toShownBox(found.box, page)
  if (shown !== undefined) found.shown = shown
  return createTableLine(found)
}

/** Mean confidence of the words of a table, weighted by their length. */
function computeConfidence(
  { lines }: RecognisedPage,
  found: FoundTable,
  owners: ReadonlyMap<number, FoundTable>,
): number {
  let run = 0
  let sum = 0
  let letters = 0
  for (const [, , , , , confidences, wordPositions = []] of lines) {
    for (const [index, confidence] of confidences.entries()) {
      const count = wordPositions[4 * index + 3] ?? 0
      if (owners.get(run++) !== found) continue
      sum += confidence * count
      letters += count
    }
  }
  return Math.round(sum / Math.max(1, letters))
}

/** The rest of a line without the words that belong to tables. */
function extractRest(
  [, , , , text, confidences, wordPositions = []]: RecognisedLine,
  fullLine: PdfLine,
  owners: readonly (FoundTable | undefined)[],
): PdfLine[] {
  const letters = [...text]
  let start = 0
  let left: number | undefined
  let right = fullLine.right
  let rest = ''
  const restConfidences: number[] = []
  for (const [index, owner] of owners.entries()) {
    const end = findEnd(letters, start, wordPositions[4 * index + 3] ?? 0)
    const piece = letters.slice(start, end).join('')
    start = end
    if (owner !== undefined) continue
    rest += piece
    left ??= wordPositions[4 * index]
    right = wordPositions[4 * index + 1] ?? right
    restConfidences.push(confidences[index] ?? 0)
  }
  if (rest.trim() === '' || left === undefined) return []
  return [{ ...fullLine, text: rest.trim(), left, right, confidences: restConfidences }]
}

/** Index after `count` letters from a start index on; spaces are not counted. */
function findEnd(letters: readonly string[], from: number, count: number): number {
  let remaining = count
  let index = from
  for (; index < letters.length && remaining > 0; index++) if (letters[index] !== ' ') remaining--
  return index
}

/**
 * The area of a table on the scanned page as it is shown, before correction of tilt and rotation; in points, rounded to
 * a tenth.
 */
function toShownBox(
  { left, right, top, bottom }: FoundTable['box'],
  { size, rotation = 0, ruled }: RecognisedPage,
): FoundTable['shown'] {
  if (size === undefined) return undefined
  const [width, height] = size
  const tilt = ruled?.tilt ?? 0
  const corners = [left, right].flatMap((x) =>
    [top, bottom].map((y): [number, number] => {
      const down = height - y
      const [shownX, shownY] = [x - tilt * down, down + tilt * x]
      if (rotation === 90) return [shownY, width - shownX]
      if (rotation === 180) return [width - shownX, height - shownY]
      if (rotation === 270) return [height - shownY, shownX]
      return [shownX, shownY]
    }),
  )
  const xs = corners.map(([x]) => x)
  const ys = corners.map(([, y]) => y)
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return {
    x: roundToTenths(x),
    y: roundToTenths(y),
    width: roundToTenths(Math.max(...xs) - x),
    height: roundToTenths(Math.max(...ys) - y),
  }
}
