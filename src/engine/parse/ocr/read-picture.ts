import { ReadError } from '../limits.js'
import type { Picture } from '../parsed.js'
import { decodePicture } from '../picture/picture.js'
import type { Bitmap } from '../render/bitmap.js'
import { openPages, type PdfPages } from '../render/pdf-pages.js'
import type { OcrBudget } from './budget.js'
import { recognisedPage } from './pages.js'
import type { RecognisedPage } from './pages-read.js'
import { isBlank } from './pdf-scans.js'
import { recogniser } from './recognise.js'
import { isTexture } from './texture.js'

/** after so many that failed the others are not tried */
const MOST_FAILED = 10
const DPI = 200

export type SeenPicture = Exclude<Picture, { uri: string }>

export interface KnownPicture {
  picture: SeenPicture
  /** alike for the same picture */
  key: string
}

/** Opens pictures and reads them, and gives up where it makes no sense to go on. */
export class PictureReader {
  /** why nothing can be read */
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

  /** @returns nothing where there is no time left or the picture cannot be decoded, which is no reason to lose the document */
  async read({ picture, key }: KnownPicture, number: number): Promise<RecognisedPage | undefined> {
    if (this.#failed >= MOST_FAILED) return undefined
    try {
      const reader = await recogniser(this.#budget.languages)
      try {
        if ('drawn' in picture) this.#drawn ??= await openPages(this.#bytes, this.#filename)
        const drawn = this.#drawn
        return this.#budget.page(number, () => {
          const bitmap =
            'bytes' in picture ? decodePicture(reader, picture.bytes, this.#filename) : draw(drawn, picture)
          const none = { page: number, lines: [], confidence: 0, picture: key }
          if (bitmap === undefined || isBlank(bitmap) || isTexture(bitmap)) return none
          return { ...recognisedPage(number, reader.readAsShown(bitmap)), picture: key }
        })
      } finally {
        reader.rest()
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

function draw(
  pages: PdfPages | undefined,
  { page, drawn }: Extract<SeenPicture, { page: number }>,
): Bitmap | undefined {
  const { x: left, y: top, width, height } = drawn
  return pages?.render(page, { dpi: DPI, grey: true, region: { left, top, width, height } })
}
