import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { PDFiumModule } from '@hyzyla/pdfium'
import { ReadError } from '../limits.js'
import { type Bitmap, MAX_PIXELS } from './bitmap.js'
import { type PlacedLetter, readPageLetters } from './page-letters.js'
import { type PageLayout, readPageLayout } from './page-objects.js'
import { POINTS_PER_INCH } from './points.js'

type Pdfium = Awaited<ReturnType<typeof PDFiumModule>>

/** A rectangle of a page in points (1/72 inch), from its top left corner as it is shown. */
export interface Region {
  left: number
  top: number
  width: number
  height: number
}

interface RenderOptions {
  dpi: number
  /** Default: the entire page. */
  region?: Region
  /** One byte a pixel, without colours; default false. */
  grey?: boolean
  /** The resolution is lowered until the page fits; default and maximum: `MAX_PIXELS`. */
  maxPixels?: number
}

/** A drawn page with its actual resolution; on very large pages it is lower than requested. */
export interface RenderedPage extends Bitmap {
  dpi: number
}

/** The pages of an open PDF, numbered from 1. */
export interface PdfPages {
  readonly count: number
  /** in points, as the page is shown */
  size(page: number): { width: number; height: number }
  /**
   * The pictures and drawings of a page with their boxes, and where points in the coordinates of the page are shown.
   */
  layout(page: number, points: readonly (readonly [x: number, y: number])[]): PageLayout
  /** The characters of a page, where they are shown. */
  letters(page: number): PlacedLetter[]
  /** @throws ReadError when the page cannot be drawn */
  render(page: number, options: RenderOptions): RenderedPage
  /** Frees the memory; no method may be called afterwards. */
  close(): void
}

/** `fpdfview.h` */
const GREY = 1
const COLOUR = 4
const WITH_ANNOTATIONS = 0x01
const AS_GREY = 0x08
const RED_FIRST = 0x10
const NEEDS_PASSWORD = 4
const WHITE = 0xffffffff

let wasmProgram: ArrayBuffer | undefined

/**
 * Opens a PDF to draw its pages. Each document has a separate PDFium: WebAssembly never returns memory, and an instance
 * broken by a hostile file must not be used again.
 *
 * @throws ReadError `encrypted` or `malformed`
 */
export async function openPages(bytes: Uint8Array, filename: string): Promise<PdfPages> {
  wasmProgram ??= readProgram()
  const pdfium = await PDFiumModule({ wasmBinary: wasmProgram, locateFile: () => '' })
  const { document, memory } = withReadErrors(filename, 'open the pages', () => {
    pdfium._FPDF_InitLibraryWithConfig({})
    const address = allocate(pdfium, bytes.length)
    pdfium.HEAPU8.set(bytes, address)
    return { memory: address, document: pdfium._FPDF_LoadMemDocument(address, bytes.length, 0) }
  })
  if (document === 0) {
    if (pdfium._FPDF_GetLastError() === NEEDS_PASSWORD) {
      throw new ReadError('encrypted', `${filename} is protected by a password`)
    }
    throw new ReadError('malformed', `the pages of ${filename} cannot be drawn: PDFium cannot open it`)
  }
  const withPage = <T>(page: number, use: (handle: number) => T): T =>
    withReadErrors(filename, `draw page ${page}`, () => {
      const handle = pdfium._FPDF_LoadPage(document, page - 1)
      if (handle === 0) throw new ReadError('malformed', `page ${page} of ${filename} cannot be drawn`)
      try {
        return use(handle)
      } finally {
        pdfium._FPDF_ClosePage(handle)
      }
    })
  return {
    count: pdfium._FPDF_GetPageCount(document),
    size: (page) => withPage(page, (handle) => sizeOf(pdfium, handle)),
    layout: (page, points) =>
      withPage(page, (handle) => readPageLayout(pdfium, handle, sizeOf(pdfium, handle), points)),
    letters: (page) => withPage(page, (handle) => readPageLetters(pdfium, handle, sizeOf(pdfium, handle))),
    render: (page, options) => withPage(page, (handle) => draw(pdfium, handle, options, filename)),
    close: () => {
      try {
        pdfium._FPDF_CloseDocument(document)
        pdfium.wasmExports.free(memory)
        pdfium._FPDF_DestroyLibrary()
      } catch {
        // a broken instance is left to the garbage collector
      }
    },
  }
}

function readProgram(): ArrayBuffer {
  const file = readFileSync(createRequire(import.meta.url).resolve('@hyzyla/pdfium/pdfium.wasm'))
  return new Uint8Array(file).buffer
}

function sizeOf(pdfium: Pdfium, handle: number): { width: number; height: number } {
  return { width: pdfium._FPDF_GetPageWidth(handle), height: pdfium._FPDF_GetPageHeight(handle) }
}

function draw(pdfium: Pdfium, handle: number, options: RenderOptions, filename: string): RenderedPage {
  const page = sizeOf(pdfium, handle)
  const region = clipToPage(options.region ?? { left: 0, top: 0, ...page }, page)
  if (!(region.width > 0 && region.height > 0)) {
    throw new ReadError('malformed', `a page of ${filename} has no area that could be drawn`)
  }
  const scale = computeScale(region, options)
  const width = Math.max(1, Math.round(region.width * scale))
  const height = Math.max(1, Math.round(region.height * scale))
  const channels = options.grey === true ? 1 : 4
  const address = allocate(pdfium, width * height * channels)
  const bitmap = pdfium._FPDFBitmap_CreateEx(width, height, channels === 1 ? GREY : COLOUR, address, width * channels)
  try {
    pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)
    pdfium._FPDF_RenderPageBitmap(
      bitmap,
      handle,
      Math.round(-region.left * scale),
      Math.round(-region.top * scale),
      Math.round(page.width * scale),
      Math.round(page.height * scale),
      0,
      WITH_ANNOTATIONS | (channels === 1 ? AS_GREY : RED_FIRST),
    )
    const data = pdfium.HEAPU8.slice(address, address + width * height * channels)
    return { width, height, channels, data, dpi: scale * POINTS_PER_INCH }
  } finally {
    pdfium._FPDFBitmap_Destroy(bitmap)
    pdfium.wasmExports.free(address)
  }
}

/** Clips a region to the page. */
function clipToPage(region: Region, page: { width: number; height: number }): Region {
  const left = Math.max(0, region.left)
  const top = Math.max(0, region.top)
  return {
    left,
    top,
    width: Math.min(region.left + region.width, page.width) - left,
    height: Math.min(region.top + region.height, page.height) - top,
  }
}

/** Pixels per point, limited by the maximal number of pixels. */
function computeScale({ width, height }: Region, { dpi, maxPixels = MAX_PIXELS }: RenderOptions): number {
  const maxScale = Math.sqrt(Math.min(maxPixels, MAX_PIXELS) / (Math.max(1, width) * Math.max(1, height)))
  return Math.min(dpi / POINTS_PER_INCH, maxScale)
}

function allocate(pdfium: Pdfium, bytes: number): number {
  const address = pdfium.wasmExports.malloc(bytes)
  if (address === 0) throw new Error('out of memory')
  return address
}

/** Runs an action; `task` completes `PDFium could not …`. Any failure inside PDFium is attributed to the file and becomes a ReadError. */
function withReadErrors<T>(filename: string, task: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof ReadError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    throw new ReadError('malformed', `PDFium could not ${task} of ${filename}: ${detail.slice(0, 200)}`, {
      cause: error,
    })
  }
}
