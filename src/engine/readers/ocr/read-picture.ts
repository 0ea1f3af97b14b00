import type { RecognisedPage } from '../../store/recognised-pages.js'
import { ReadError } from '../limits.js'
import type { Block, Picture } from '../parsed.js'
import { toTableElements } from '../pdf/table-blocks.js'
import { decodePicture } from '../picture/picture.js'
import type { Bitmap } from '../render/bitmap.js'
import { openPages, type PdfPages } from '../render/pdf-pages.js'
import type { OcrBudget } from './budget.js'
import { buildLinesWithTables } from './page-tables.js'
import { isBlank } from './pdf-scans.js'
import { getRecogniser } from './recognise.js'
import { toRecognisedPage } from './recognised-page.js'
import { isTexture } from './texture.js'

/** After this many failures the remaining pictures are not tried. */
const MAX_FAILED_PICTURES = 10
const DPI = 200

export type LocalPicture = Exclude<Picture, { uri: string }>

export interface KeyedPicture {
  picture: LocalPicture
  /** Equal for equal pictures. */
  key: string
}

/** Decodes pictures and recognises their text; stops trying after too many failures. */
export class PictureReader {
  /** Why no picture can be recognised. */
  failure: string | undefined
  readonly #bytes: Uint8Array
  readonly #filename: string
  readonly #budget: OcrBudget
  #failed = 0
  #drawn: PdfPages | undefined

  constructor(bytes: Uint8Array, filename: string, budget: OcrBudget) {
    this.#bytes = bytes
    this.#filename = filename
    this.#budget = budget
  }

  /** @returns undefined when no time is left or the picture cannot be decoded; the document is kept without it */
  async read({ picture, key }: KeyedPicture, number: number): Promise<RecognisedPage | undefined> {
    if (this.#failed >= MAX_FAILED_PICTURES) return undefined
    try {
      const reader = await getRecogniser(this.#budget.languages)
      try {
        if ('drawn' in picture) this.#drawn ??= await openPages(this.#bytes, this.#filename)
        const drawn = this.#drawn
        return this.#budget.page(number, () => {
          const bitmap =
            'bytes' in picture ? decodePicture(reader, picture.bytes, this.#filename) : draw(drawn, picture)
          const empty = { page: number, lines: [], confidence: 0, picture: key }
          if (bitmap === undefined || isBlank(bitmap) || isTexture(bitmap)) return empty
          return { ...toRecognisedPage(number, reader.readAsShown(bitmap)), picture: key }
        })
      } finally {
        reader.releaseMemory()
      }
    } catch (error) {
      if (error instanceof ReadError && error.code === 'unsupported-type') this.failure = error.message
      this.#failed++
      return undefined
    }
  }

  close(): void {
    this.#drawn?.close()
  }
}

/** Separates the tables that were recognised in a picture from the rest of its text. */
export function separateTables(page: RecognisedPage, { pageNumber }: Block): { tables: Block[]; text: string } {
  const lines = buildLinesWithTables(page)
  const tables = lines.flatMap(({ table }) => {
    if (table === undefined) return []
    // its box is relative to the picture
    const { shown: _, ...found } = table.found
    return toTableElements(found).map((block) => ({ ...block, ...(pageNumber === undefined ? {} : { pageNumber }) }))
  })
  const rest = lines.filter(({ table }) => table === undefined)
  return { tables, text: rest.map(({ text }) => text).join('\n') }
}

function draw(
  pages: PdfPages | undefined,
  { page, drawn }: Extract<LocalPicture, { page: number }>,
): Bitmap | undefined {
  const { x: left, y: top, width, height } = drawn
  return pages?.render(page, { dpi: DPI, grey: true, region: { left, top, width, height } })
}
