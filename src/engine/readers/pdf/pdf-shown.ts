import type { PageRect, ShownText } from './pdf-fields.js'
import { type PdfLine, type TextRun, toPosition } from './pdf-lines.js'

/** Width of a letter in text sizes, for texts whose font is not known. */
const LETTER_WIDTH = 0.5
/** Distance between lines in text sizes. */
const LINE_STEP = 1.15
/** Distance between a text and the edge of its area, in points. */
const PADDING_PT = 2
/** A printed text at most this far above a field, in text sizes, may name it. */
const MAX_ABOVE = 2.2
/** Maximal distance from the baseline of a printed text, in text sizes, of a text in the same line. */
const MAX_SNAP = 0.7
/** Further texts of a page are placed at its end. */
const MAX_PLACED = 1000

/** An area along and across the direction in which a page is read. */
type ReadArea = PageRect

interface PlacedRun extends Omit<PdfLine, 'text'> {
  index: number
  str: string
}

/** Where a text belongs among the runs of a page. */
interface Neighbourhood {
  /** Index of the run before which it is inserted. */
  at: number
  /** Baseline of the printed text in its line. */
  baseline?: number
  /** Printed texts next to it, which name it. */
  names: string
}

/**
 * Inserts the texts that a page shows above its content into its runs, each next to the printed text that names it.
 *
 * @param rotation by which the page is shown, clockwise in degrees
 */
export function insertShownTexts(runs: readonly TextRun[], shown: readonly ShownText[], rotation: number): TextRun[] {
  if (shown.length === 0) return [...runs]
  const printed = runs.flatMap((run, index) =>
    run.str.trim() === '' ? [] : [{ ...toPosition(run), index, str: run.str }],
  )
  const inserted = new Map<number, TextRun[]>()
  const texts = shown.map((text) => ({ text, area: toReadArea(text.rect, rotation) }))
  texts.sort((a, b) => b.area.top - a.area.top || a.area.left - b.area.left)
  for (const [order, { text, area }] of texts.entries()) {
    const around = order < MAX_PLACED ? findNeighbourhood(area, text.size, printed) : { at: runs.length, names: '' }
    const list = inserted.get(around.at) ?? []
    inserted.set(around.at, list)
    list.push(...toRuns({ ...text, rows: addNames(text, around.names) }, area, around.baseline, rotation))
  }
  const merged: TextRun[] = []
  for (let index = 0; index <= runs.length; index++) {
    merged.push(...(inserted.get(index) ?? []))
    const run = runs[index]
    if (run !== undefined) merged.push(run)
  }
  return merged
}

function toReadArea({ left, right, bottom, top }: PageRect, rotation: number): ReadArea {
  if (rotation === 90) return { left: bottom, right: top, bottom: -right, top: -left }
  if (rotation === 270) return { left: -top, right: -bottom, bottom: left, top: right }
  return { left, right, bottom, top }
}

/** Finds the printed text left of an area, else above it, else right of it, else what is read before it. */
function findNeighbourhood(area: ReadArea, size: number, printed: readonly PlacedRun[]): Neighbourhood {
  let left: PlacedRun | undefined
  let right: PlacedRun | undefined
  let above: PlacedRun | undefined
  let before = -1
  const lineBottom = area.top - Math.min(area.top - area.bottom, 1.6 * size)
  for (const run of printed) {
    if (run.y + 0.5 * run.size > lineBottom && run.y < area.top) {
      if (run.left < area.left + 0.5 * size && run.left > (left?.left ?? -Infinity)) left = run
      else if (run.left >= area.left && run.left < (right?.left ?? Infinity)) right = run
    }
    const isAbove = run.y >= area.top - 0.3 * size && run.y < area.top + MAX_ABOVE * size
    if (isAbove && run.left < area.right && run.right > area.left && run.y < (above?.y ?? Infinity)) above = run
    if (run.y >= area.top) before = Math.max(before, run.index)
  }
  const names = [left, above, right].map((run) => run?.str ?? '').join(' ')
  if (left !== undefined) return { at: left.index + 1, baseline: left.y, names }
  if (above !== undefined) return { at: above.index + 1, names }
  return right === undefined ? { at: before + 1, names } : { at: right.index, baseline: right.y, names }
}

/** Adds what a selected button stands for and the name of a field where no printed text says it. */
function addNames({ rows: [first = '', ...rows], label, choice }: ShownText, names: string): string[] {
  const isPrinted = choice === undefined || names.toLowerCase().includes(choice.toLowerCase())
  const text = isPrinted ? first : `${first} ${choice}`
  return [label === undefined || label === '' || /\p{L}/u.test(names) ? text : `${label}: ${text}`, ...rows]
}

function toRuns({ rows, size }: ShownText, area: ReadArea, baseline: number | undefined, rotation: number): TextRun[] {
  const step = Math.min(LINE_STEP * size, (area.top - area.bottom) / rows.length || LINE_STEP * size)
  const middle = (area.top + area.bottom - size) / 2 + 0.2 * size
  const first = rows.length > 1 ? area.top - PADDING_PT - 0.8 * size : middle
  const top = baseline !== undefined && Math.abs(baseline - first) < MAX_SNAP * size ? baseline : first
  const left = area.left + PADDING_PT
  return rows.map((str, index) => {
    const y = top - index * step
    const width = Math.min(str.length * LETTER_WIDTH * size, Math.max(size, area.right - left))
    return { str, width, height: size, transform: toTransform(left, y, size, rotation) }
  })
}

function toTransform(left: number, y: number, size: number, rotation: number): number[] {
  if (rotation === 90) return [0, size, -size, 0, -y, left]
  if (rotation === 270) return [0, -size, size, 0, y, -left]
  return [size, 0, 0, size, left, y]
}
