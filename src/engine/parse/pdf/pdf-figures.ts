import type { BoundingBox } from '../compiled.js'
import { isFigureCaption } from '../picture/captions.js'
import type { Box, PageLayout } from '../render/page-objects.js'
import type { PdfBlock, PdfPage } from './pdf-blocks.js'
import { drawnTogether, heightOf, isOverlapping, joined, touching, widthOf } from './pdf-regions.js'

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
const LEAST_SIDE = 36
const PAGE_SHARE = 0.6
/** Minimal size of a drawing that is a figure, in points. */
const LEAST_DRAWING = { width: 60, height: 40 }
/** Maximal gap between strips of one picture, in points. */
const STRIPS = 3
/** Maximal distance of a figure from its caption, and of its parts from each other, in points. */
const CAPTION_GAP = 60
const PARTS_GAP = 24
/** Maximal distance, in points, and length of labels next to the lines of a drawing. */
const LABEL_GAP = 14
const LABEL_LENGTH = 60
/** Margin around a figure in points, so that descenders are not cut. */
const MARGIN = 3
/** A picture with at least this many letters on it is the background of text. */
const FEW_LETTERS = 60
/** A picture at the same position of this many pages is a letterhead. */
const LETTERHEAD_PAGES = 4

interface ShownLine extends Box {
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
        const points = page.lines.flatMap(({ left, right, y, size }) => [
          [left, y] as const,
          [right, y + size] as const,
        ])
        found.set(page.number, figuresOf(page, open.layout(page.number, points)))
      }
    } finally {
      open.close()
    }
  } catch {
    // the text was already parsed; a failure of PDFium must not lose it
  }
  return bounded(found)
}

function figuresOf(page: PdfPage, layout: PageLayout): PdfFigure[] {
  const lines = shownLines(page, layout)
  const pageArea = layout.size.width * layout.size.height
  const isPart = (box: Box) => widthOf(box) * heightOf(box) < PAGE_SHARE * pageArea
  const within = { left: 0, top: 0, right: layout.size.width, bottom: layout.size.height }
  const objects = layout.objects.filter((box) => isPart(box) && isOverlapping(box, within))
  const pictures = touching(
    objects.filter(({ kind }) => kind === 'image'),
    STRIPS,
  ).filter((box) => Math.min(widthOf(box), heightOf(box)) >= LEAST_SIDE && isPart(box))
  const captions = lines.filter(({ text }) => isFigureCaption(text))
  const drawings =
    captions.length === 0
      ? []
      : drawnTogether(
          objects.filter(({ kind }) => kind === 'drawing'),
          within,
        )
  const figures: PdfFigure[] = []
  const left = new Set<Box>([...pictures, ...drawings])
  const figure = (box: Box, more: Pick<PdfFigure, 'caption' | 'before'>) => {
    const isPainted = pictures.some((one) => isOverlapping(one, box)) && lettersIn(box, lines, captions) < FEW_LETTERS
    figures.push({ box: toBox(box, within), ...(isPainted ? { isPainted } : {}), ...more })
  }
  for (const caption of captions) {
    const parts = partsAt(caption, [...left], captions)
    const union = joined(parts)
    if (union === undefined || !isFigure(union)) continue
    for (const part of parts) left.delete(part)
    figure(withLabels(union, lines, captions), { caption: caption.text, before: caption.text })
  }
  for (const picture of pictures) {
    if (!left.has(picture)) continue
    const below = lines.find((line) => line.top >= picture.bottom - STRIPS && isAcross(line, picture))
    figure(picture, below === undefined ? {} : { before: below.text })
  }
  return figures
}

/** Counts the letters of the lines in a box, except captions. */
function lettersIn(box: Box, lines: readonly ShownLine[], captions: readonly ShownLine[]): number {
  return lines
    .filter((line) => isOverlapping(line, box) && !captions.includes(line))
    .reduce((sum, { text }) => sum + text.length, 0)
}

function shownLines(page: PdfPage, { points }: PageLayout): ShownLine[] {
  return page.lines.flatMap(({ text, turned }, place) => {
    const [one, other] = [points[2 * place], points[2 * place + 1]]
    if (turned || one === undefined || other === undefined) return []
    const [left, right] = [Math.min(one[0], other[0]), Math.max(one[0], other[0])]
    return [{ text, left, right, top: Math.min(one[1], other[1]), bottom: Math.max(one[1], other[1]) }]
  })
}

/** The boxes directly above a caption, and those that continue them upwards; below it when there is none above. */
function partsAt(caption: ShownLine, boxes: readonly Box[], captions: readonly ShownLine[]): Box[] {
  const above = boxes.filter((box) => box.bottom <= caption.top + LABEL_GAP)
  const up = grown(caption, above, (box, union) => union.top - box.bottom, captions)
  if (up.length > 0) return up
  const below = boxes.filter((box) => box.top >= caption.bottom - LABEL_GAP)
  return grown(caption, below, (box, union) => box.top - union.bottom, captions)
}

function grown(
  caption: ShownLine,
  boxes: readonly Box[],
  gap: (box: Box, union: Box) => number,
  captions: readonly ShownLine[],
): Box[] {
  const parts: Box[] = []
  let union: Box = caption
  const rest = new Set(boxes)
  for (;;) {
    const most = parts.length === 0 ? CAPTION_GAP : PARTS_GAP
    const next = [...rest].find(
      (box) => gap(box, union) <= most && isAcross(box, union) && !hasCaptionBetween(box, caption, captions),
    )
    if (next === undefined) return parts
    rest.delete(next)
    parts.push(next)
    union = joined(parts) ?? caption
  }
}

/** Whether another caption is between a box and this caption, so that the box belongs to the other. */
function hasCaptionBetween(box: Box, own: ShownLine, captions: readonly ShownLine[]): boolean {
  const [from, to] = box.bottom <= own.top ? [box.bottom, own.top] : [own.bottom, box.top]
  return captions.some((one) => one !== own && one.top >= from - 1 && one.bottom <= to + 1 && isAcross(one, box))
}

/** Whether two boxes overlap horizontally. */
function isAcross(one: Box, other: Box): boolean {
  return Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0
}

function isFigure(box: Box): boolean {
  return widthOf(box) >= LEAST_DRAWING.width && heightOf(box) >= LEAST_DRAWING.height
}

/** Extends a figure by the words in it and close to it: names of axes, legends. */
function withLabels(figure: Box, lines: readonly ShownLine[], captions: readonly ShownLine[]): Box {
  const near = {
    left: figure.left - LABEL_GAP,
    top: figure.top - LABEL_GAP,
    right: figure.right + LABEL_GAP,
    bottom: figure.bottom + LABEL_GAP,
  }
  const labels = lines.filter(
    (line) =>
      line.text.length <= LABEL_LENGTH &&
      !captions.includes(line) &&
      isOverlapping(line, near) &&
      widthOf(line) <= widthOf(figure),
  )
  return joined([figure, ...labels]) ?? figure
}

function toBox({ left, top, right, bottom }: Box, page: Box): BoundingBox {
  const [x, y] = [Math.max(0, left - MARGIN), Math.max(0, top - MARGIN)]
  const round = (value: number) => Math.round(value * 100) / 100
  return {
    x: round(x),
    y: round(y),
    width: round(Math.min(right + MARGIN, page.right) - x),
    height: round(Math.min(bottom + MARGIN, page.bottom) - y),
  }
}

/** Removes repeated letterheads, except the first, and limits the number of figures. */
function bounded(found: Map<number, PdfFigure[]>): Map<number, PdfFigure[]> {
  const places = new Map<string, number>()
  const keyOf = ({ box }: PdfFigure) => [box.x, box.y, box.width, box.height].map(Math.round).join()
  for (const figure of [...found.values()].flat())
    if (figure.caption === undefined) places.set(keyOf(figure), (places.get(keyOf(figure)) ?? 0) + 1)
  const met = new Set<string>()
  let count = 0
  for (const [page, figures] of found) {
    const kept = figures.filter((figure) => {
      if (figure.caption !== undefined || (places.get(keyOf(figure)) ?? 0) < LETTERHEAD_PAGES) return true
      const isFirst = !met.has(keyOf(figure))
      met.add(keyOf(figure))
      return isFirst
    })
    found.set(page, kept.slice(0, Math.max(0, MAX_FIGURES - count)))
    count += kept.length
  }
  return found
}

/** Inserts the figures of a page into its blocks, each before its caption or the text below it. */
export function placeFigures(
  blocks: readonly PdfBlock[],
  figures: readonly PdfFigure[],
  pageNumber: number,
): PdfBlock[] {
  const placed = [...blocks]
  for (const { box, before, caption, isPainted } of figures) {
    const at = before === undefined ? -1 : placed.findIndex(({ text }) => text !== '' && text.startsWith(before))
    const within = before === undefined ? -1 : placed.findIndex(({ text }) => text.includes(before))
    const place = [at, within].find((one) => one >= 0) ?? placed.length
    const y = placed[Math.min(place, placed.length - 1)]?.y ?? 0
    placed.splice(place, 0, {
      type: 'image',
      text: '',
      pageNumber,
      size: 0,
      y,
      lineCount: 0,
      turned: false,
      picture: { drawn: box, page: pageNumber, ...(isPainted ? { isPainted } : {}) },
      ...(caption !== undefined && at < 0 ? { metadata: { caption } } : {}),
    })
  }
  return placed
}
