import type { BoundingBox } from '../../store/compiled.js'
import { isFigureCaption } from '../picture/captions.js'
import type { Box, PageLayout } from '../render/page-objects.js'
import type { PdfBlock, PdfPage } from './pdf-blocks.js'
import { getHeight, getWidth, isOverlapping, mergeDrawings, mergeTouching, uniteBoxes } from './pdf-regions.js'

/** A picture or drawing on a page. */
export interface PdfFigure {
  box: BoundingBox
  /** the first line of its caption */
  caption?: string
  /** It consists of pixels, without text of its own on the page. */
  isPainted?: true
  /** First line of the text before which it is inserted; absent: after all text of the page. */
  before?: string
}

/** No figures are searched in a larger file, to avoid a second copy of it; its pages still have previews. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
/** Maximal number of pages searched, and of figures listed. */
const MAX_PAGES = 1000
const MAX_FIGURES = 500
/**
 * In points: smaller pictures are icons. Pictures that cover a larger fraction of a page are its background or a scan.
 */
const MIN_SIDE_PT = 36
const MAX_PAGE_FRACTION = 0.6
/** Minimal size of a drawing that is a figure, in points. */
const MIN_DRAWING_PT = { width: 60, height: 40 }
/** Maximal gap between strips of one picture, in points. */
const MAX_STRIP_GAP_PT = 3
/** Maximal distance of a figure from its caption, and of its parts from each other, in points. */
const MAX_CAPTION_GAP_PT = 60
const MAX_PARTS_GAP_PT = 24
/** Maximal distance, in points, and length of labels next to the lines of a drawing. */
const MAX_LABEL_GAP_PT = 14
const MAX_LABEL_LENGTH = 60
/** Margin around a figure in points, so that descenders are not cut. */
const MARGIN_PT = 3
/** A picture with at least this many letters on it is the background of text. */
const MIN_BACKGROUND_LETTERS = 60
/** A picture at the same position of this many pages is a letterhead. */
const MIN_LETTERHEAD_PAGES = 4

interface ShownTextLine extends Box {
  text: string
}

/** Whether the file may have figures: the name of picture objects is never compressed. */
function mayHaveFigures(bytes: Buffer, pages: readonly PdfPage[]): boolean {
  if (bytes.length > MAX_FILE_BYTES) return false
  return bytes.includes('/Image') || pages.some(({ lines }) => lines.some(({ text }) => isFigureCaption(text)))
}

/**
 * Finds the figures of a PDF by page: its pictures, and drawings above or below a line such as `Figure 3`. Loads PDFium
 * only for files that may have figures; draws and decodes nothing. A file that PDFium cannot open has no figures.
 */
export async function findFigures(bytes: Buffer, filename: string, pages: readonly PdfPage[]) {
  const found = new Map<number, PdfFigure[]>()
  if (!mayHaveFigures(bytes, pages)) return found
  try {
    const { openPages } = await import('../render/pdf-pages.js')
    const open = await openPages(bytes, filename)
    try {
      for (const page of pages.slice(0, MAX_PAGES)) {
        const points = page.lines.flatMap(({ left, right, y, size, isMirrored }) => [
          [isMirrored ? -right : left, y] as const,
          [isMirrored ? -left : right, y + size] as const,
        ])
        found.set(page.number, detectFigures(page, open.layout(page.number, points)))
      }
    } finally {
      open.close()
    }
  } catch {
    // the text was already parsed; a failure of PDFium must not lose it
  }
  return limitFigures(found)
}

function detectFigures(page: PdfPage, layout: PageLayout): PdfFigure[] {
  const lines = toShownLines(page, layout)
  const pageArea = layout.size.width * layout.size.height
  const isPartOfPage = (box: Box) => getWidth(box) * getHeight(box) < MAX_PAGE_FRACTION * pageArea
  const pageBox = { left: 0, top: 0, right: layout.size.width, bottom: layout.size.height }
  const objects = layout.objects.filter((box) => isPartOfPage(box) && isOverlapping(box, pageBox))
  const pictures = mergeTouching(
    objects.filter(({ kind }) => kind === 'image'),
    MAX_STRIP_GAP_PT,
  ).filter((box) => Math.min(getWidth(box), getHeight(box)) >= MIN_SIDE_PT && isPartOfPage(box))
  const captions = lines.filter(({ text }) => isFigureCaption(text))
  const drawings =
    captions.length === 0
      ? []
      : mergeDrawings(
          objects.filter(({ kind }) => kind === 'drawing'),
          pageBox,
        )
  const figures: PdfFigure[] = []
  const unassigned = new Set<Box>([...pictures, ...drawings])
  const addFigure = (box: Box, more: Pick<PdfFigure, 'caption' | 'before'>) => {
    const isPainted =
      pictures.some((picture) => isOverlapping(picture, box)) &&
      countLettersIn(box, lines, captions) < MIN_BACKGROUND_LETTERS
    figures.push({ box: toBox(box, pageBox), ...(isPainted ? { isPainted } : {}), ...more })
  }
  for (const caption of captions) {
    const parts = findParts(caption, [...unassigned], captions)
    const union = uniteBoxes(parts)
    if (union === undefined || !isFigure(union)) continue
    for (const part of parts) unassigned.delete(part)
    addFigure(includeLabels(union, lines, captions), { caption: caption.text, before: caption.text })
  }
  for (const picture of pictures) {
    if (!unassigned.has(picture)) continue
    const below = lines.find(
      (line) => line.top >= picture.bottom - MAX_STRIP_GAP_PT && overlapsHorizontally(line, picture),
    )
    addFigure(picture, below === undefined ? {} : { before: below.text })
  }
  return figures
}

/** Counts the letters of the lines in a box, except captions. */
function countLettersIn(box: Box, lines: readonly ShownTextLine[], captions: readonly ShownTextLine[]): number {
  return lines
    .filter((line) => isOverlapping(line, box) && !captions.includes(line))
    .reduce((sum, { text }) => sum + text.length, 0)
}

function toShownLines(page: PdfPage, { points }: PageLayout): ShownTextLine[] {
  return page.lines.flatMap(({ text, turned }, lineIndex) => {
    const [start, end] = [points[2 * lineIndex], points[2 * lineIndex + 1]]
    if (turned || start === undefined || end === undefined) return []
    const [left, right] = [Math.min(start[0], end[0]), Math.max(start[0], end[0])]
    return [{ text, left, right, top: Math.min(start[1], end[1]), bottom: Math.max(start[1], end[1]) }]
  })
}

/** The boxes directly above a caption, and those that continue them upwards; below it when there is none above. */
function findParts(caption: ShownTextLine, boxes: readonly Box[], captions: readonly ShownTextLine[]): Box[] {
  const above = boxes.filter((box) => box.bottom <= caption.top + MAX_LABEL_GAP_PT)
  const aboveParts = growParts(caption, above, (box, union) => union.top - box.bottom, captions)
  if (aboveParts.length > 0) return aboveParts
  const below = boxes.filter((box) => box.top >= caption.bottom - MAX_LABEL_GAP_PT)
  return growParts(caption, below, (box, union) => box.top - union.bottom, captions)
}

function growParts(
  caption: ShownTextLine,
  boxes: readonly Box[],
  gap: (box: Box, union: Box) => number,
  captions: readonly ShownTextLine[],
): Box[] {
  const parts: Box[] = []
  let union: Box = caption
  const rest = new Set(boxes)
  for (;;) {
    const maxGap = parts.length === 0 ? MAX_CAPTION_GAP_PT : MAX_PARTS_GAP_PT
    const next = [...rest].find(
      (box) =>
        gap(box, union) <= maxGap && overlapsHorizontally(box, union) && !hasCaptionBetween(box, caption, captions),
    )
    if (next === undefined) return parts
    rest.delete(next)
    parts.push(next)
    union = uniteBoxes(parts) ?? caption
  }
}

/** Whether another caption is between a box and this caption, so that the box belongs to the other. */
function hasCaptionBetween(box: Box, own: ShownTextLine, captions: readonly ShownTextLine[]): boolean {
  const [from, to] = box.bottom <= own.top ? [box.bottom, own.top] : [own.bottom, box.top]
  return captions.some(
    (one) => one !== own && one.top >= from - 1 && one.bottom <= to + 1 && overlapsHorizontally(one, box),
  )
}

/** Whether two boxes overlap horizontally. */
function overlapsHorizontally(one: Box, other: Box): boolean {
  return Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0
}

function isFigure(box: Box): boolean {
  return getWidth(box) >= MIN_DRAWING_PT.width && getHeight(box) >= MIN_DRAWING_PT.height
}

/** Extends a figure by the words in it and close to it: names of axes, legends. */
function includeLabels(figure: Box, lines: readonly ShownTextLine[], captions: readonly ShownTextLine[]): Box {
  const near = {
    left: figure.left - MAX_LABEL_GAP_PT,
    top: figure.top - MAX_LABEL_GAP_PT,
    right: figure.right + MAX_LABEL_GAP_PT,
    bottom: figure.bottom + MAX_LABEL_GAP_PT,
  }
  const labels = lines.filter(
    (line) =>
      line.text.length <= MAX_LABEL_LENGTH &&
      !captions.includes(line) &&
      isOverlapping(line, near) &&
      getWidth(line) <= getWidth(figure),
  )
  return uniteBoxes([figure, ...labels]) ?? figure
}

function toBox({ left, top, right, bottom }: Box, page: Box): BoundingBox {
  const [x, y] = [Math.max(0, left - MARGIN_PT), Math.max(0, top - MARGIN_PT)]
  const round = (value: number) => Math.round(value * 100) / 100
  return {
    x: round(x),
    y: round(y),
    width: round(Math.min(right + MARGIN_PT, page.right) - x),
    height: round(Math.min(bottom + MARGIN_PT, page.bottom) - y),
  }
}

/** Removes repeated letterheads, except the first, and limits the number of figures. */
function limitFigures(found: Map<number, PdfFigure[]>): Map<number, PdfFigure[]> {
  const counts = new Map<string, number>()
  const keyOf = ({ box }: PdfFigure) => [box.x, box.y, box.width, box.height].map(Math.round).join()
  for (const figure of [...found.values()].flat())
    if (figure.caption === undefined) counts.set(keyOf(figure), (counts.get(keyOf(figure)) ?? 0) + 1)
  const seen = new Set<string>()
  let count = 0
  for (const [page, figures] of found) {
    const kept = figures.filter((figure) => {
      if (figure.caption !== undefined || (counts.get(keyOf(figure)) ?? 0) < MIN_LETTERHEAD_PAGES) return true
      const isFirst = !seen.has(keyOf(figure))
      seen.add(keyOf(figure))
      return isFirst
    })
    found.set(page, kept.slice(0, Math.max(0, MAX_FIGURES - count)))
    count += kept.length
  }
  return found
}

/** Inserts the figures of a page into its blocks, each before its caption or the text below it. */
export function insertFigures(
  blocks: readonly PdfBlock[],
  figures: readonly PdfFigure[],
  pageNumber: number,
): PdfBlock[] {
  const placed = [...blocks]
  for (const { box, before, caption, isPainted } of figures) {
    const startIndex =
      before === undefined ? -1 : placed.findIndex(({ text }) => text !== '' && text.startsWith(before))
    const containingIndex = before === undefined ? -1 : placed.findIndex(({ text }) => text.includes(before))
    const index = [startIndex, containingIndex].find((candidate) => candidate >= 0) ?? placed.length
    const y = placed[Math.min(index, placed.length - 1)]?.y ?? 0
    placed.splice(index, 0, {
      type: 'image',
      text: '',
      pageNumber,
      size: 0,
      y,
      lineCount: 0,
      turned: false,
      picture: { drawn: box, page: pageNumber, ...(isPainted ? { isPainted } : {}) },
      ...(caption !== undefined && startIndex < 0 ? { metadata: { caption } } : {}),
    })
  }
  return placed
}
