import type { PDFiumModule } from '@hyzyla/pdfium'

type Pdfium = Awaited<ReturnType<typeof PDFiumModule>>

/** A picture or drawing on a page, with its box. */
interface PlacedObject extends Box {
  kind: 'image' | 'drawing'
}

/** A rectangle in points from the top left corner of the page as it is shown. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** `fpdf_edit.h` */
const PATH = 2
const IMAGE = 3
const SHADING = 4
const FORM = 5

/** A town map has tens of thousands of lines; objects beyond this count are skipped. */
const MAX_OBJECTS = 20_000
/** Maximal nesting of forms; those of papers are one or two deep. */
const MAX_DEPTH = 4
/** A form that covers more than this fraction of the page contains the page's own content. */
const PAGE_FRACTION = 0.6
/** PDFium returns integers; this is the number of units in a point. */
const UNITS_PER_POINT = 16

/** `a b c d e f` of a transformation, as in a PDF */
type Matrix = readonly [number, number, number, number, number, number]
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0]

/** The objects of a page and their locations. */
export interface PageLayout {
  /** in points, as the page is shown */
  size: { width: number; height: number }
  objects: PlacedObject[]
  /** The requested points, measured from the top left corner of the page as it is shown. */
  points: [x: number, y: number][]
}

/**
 * The pictures and drawings of an open page; a form counts as one drawing. Decodes and draws nothing.
 *
 * @param points points in the coordinates of the page, as for text
 */
export function readPageLayout(
  pdfium: Pdfium,
  page: number,
  size: { width: number; height: number },
  points: readonly (readonly [x: number, y: number])[],
): PageLayout {
  const call = (name: string, ...values: number[]): number => {
    const exported: unknown = Reflect.get(pdfium.wasmExports, name)
    return typeof exported === 'function' ? Number(exported(...values)) : 0
  }
  const scratch = pdfium.wasmExports.malloc(32)
  if (scratch === 0) return { size, objects: [], points: [] }
  const floats = (count: number): number[] => {
    const view = new DataView(pdfium.HEAPU8.buffer, scratch, 4 * count)
    return Array.from({ length: count }, (_, index) => view.getFloat32(4 * index, true))
  }
  const boundsOf = (object: number): [number, number, number, number] | undefined => {
    const found = call('FPDFPageObj_GetBounds', object, scratch, scratch + 4, scratch + 8, scratch + 12)
    const [left = 0, bottom = 0, right = 0, top = 0] = floats(4)
    return found === 0 || !(right > left || top > bottom) ? undefined : [left, bottom, right, top]
  }
  const matrixOf = (object: number): Matrix => {
    const found = call('FPDFPageObj_GetMatrix', object, scratch)
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = floats(6)
    return found === 0 ? IDENTITY : [a, b, c, d, e, f]
  }
  /** Converts to the page as it is shown: rotated, and cut to its crop box. */
  const toShownPoint = (x: number, y: number): [number, number] => {
    const [width, height] = [Math.round(size.width * UNITS_PER_POINT), Math.round(size.height * UNITS_PER_POINT)]
    // the last two parameters are doubles; the two before them are addresses of the resulting integers
    call('FPDF_PageToDevice', page, 0, 0, width, height, 0, x, y, scratch, scratch + 4)
    const view = new DataView(pdfium.HEAPU8.buffer, scratch, 8)
    return [view.getInt32(0, true) / UNITS_PER_POINT, view.getInt32(4, true) / UNITS_PER_POINT]
  }
  const pageObjects: PlacedObject[] = []
  let remaining = MAX_OBJECTS
  const visit = (count: number, objectAt: (index: number) => number, matrix: Matrix, depth: number): void => {
    for (let index = 0; index < count && remaining > 0; index++, remaining--) {
      const object = objectAt(index)
      const type = call('FPDFPageObj_GetType', object)
      if (type !== PATH && type !== IMAGE && type !== SHADING && type !== FORM) continue
      const bounds = boundsOf(object)
      if (bounds === undefined) continue
      const box = boxOf(bounds, matrix, toShownPoint)
      if (type === FORM && coversPage(box, size)) {
        if (depth < MAX_DEPTH)
          visit(
            call('FPDFFormObj_CountObjects', object),
            (inner) => call('FPDFFormObj_GetObject', object, inner),
            multiply(matrixOf(object), matrix),
            depth + 1,
          )
      } else pageObjects.push({ kind: type === IMAGE ? 'image' : 'drawing', ...box })
    }
  }
  try {
    visit(pdfium._FPDFPage_CountObjects(page), (index) => pdfium._FPDFPage_GetObject(page, index), IDENTITY, 0)
    return { size, objects: pageObjects, points: points.map(([x, y]) => toShownPoint(x, y)) }
  } finally {
    pdfium.wasmExports.free(scratch)
  }
}

function coversPage(box: Box, { width, height }: { width: number; height: number }): boolean {
  return (box.right - box.left) * (box.bottom - box.top) > PAGE_FRACTION * width * height
}

function boxOf(
  [left, bottom, right, top]: readonly [number, number, number, number],
  matrix: Matrix,
  toShownPoint: (x: number, y: number) => [number, number],
): Box {
  const corners = [
    [left, bottom],
    [right, bottom],
    [left, top],
    [right, top],
  ].map(([x = 0, y = 0]) =>
    toShownPoint(matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5]),
  )
  const xs = corners.map(([x]) => x)
  const ys = corners.map(([, y]) => y)
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
}

function multiply(inner: Matrix, outer: Matrix): Matrix {
  const [a, b, c, d, e, f] = inner
  const [p, q, r, s, t, u] = outer
  return [a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u]
}
