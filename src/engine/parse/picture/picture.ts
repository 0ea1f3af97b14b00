import { ReadError } from '../limits.js'
import { linesWithTables } from '../ocr/page-tables.js'
import { withoutSemblance } from '../ocr/pages.js'
import type { RecognisedPage } from '../ocr/pages-read.js'
import { ocrMetadata } from '../ocr/pages-to-read.js'
import { isBlank } from '../ocr/pdf-scans.js'
import { type Recogniser, recogniser } from '../ocr/recognise.js'
import { recognisedPage } from '../ocr/recognised-page.js'
import { isTexture } from '../ocr/texture.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { type PdfPage, pageBlocks, vocabularyOf } from '../pdf/pdf-blocks.js'
import { markHeadings } from '../pdf/pdf-headings.js'
import { joinOverPages } from '../pdf/table-pages.js'
import type { Bitmap } from '../render/bitmap.js'
import { checkSize, decodeGrey } from './decode.js'
import { exifOrientation } from './exif.js'
import { onlyPage, pagesOfTiff, type TiffPage } from './tiff.js'
import { decodeOther, isOther } from './tiff-other.js'
import { upright } from './transform.js'

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/bmp', 'image/webp', 'image/tiff']

/** A page or picture of a file, not decoded yet. */
interface Sheet {
  number: number
  decode(reader: Recogniser): Bitmap
}

/** Recognises the text in a picture: a scan, a photograph of a page, a screenshot. A TIFF may have many pages. */
export const pictureParser: Parser = {
  accepts: (mediaType) => TYPES.includes(mediaType),
  async parse(input) {
    const sheets = sheetsOf(input)
    const pages: PdfPage[] = []
    const read: RecognisedPage[] = []
    const failed: number[] = []
    for (const sheet of sheets) {
      const reader = await recogniser(input.ocr.languages)
      try {
        const page = input.ocr.page(sheet.number, () => readSheet(sheet, reader))
        if (page === undefined) continue
        // a page of a TIFF was scanned; any other picture may be a photograph of something other than text
        const words = input.mediaType === 'image/tiff' ? page : withoutSemblance(page)
        read.push(words)
        pages.push({ number: sheet.number, lines: linesWithTables(words) })
      } catch (error) {
        if (sheets.length === 1) throw asReadError(error, input.filename)
        failed.push(sheet.number)
      } finally {
        reader.rest()
      }
    }
    return parsedOf(input, pages, read, sheets.length, failed)
  },
}

function parsedOf(
  { bytes, filename, mediaType, ocr }: ParserInput,
  pages: PdfPage[],
  read: readonly RecognisedPage[],
  pageCount: number,
  failed: readonly number[],
): Parsed {
  if (failed.length === pageCount) throw new ReadError('malformed', `${filename} has no page that can be decoded`)
  joinOverPages(pages)
  const vocabulary = vocabularyOf(pages)
  const blocks = pages.flatMap((page) => pageBlocks(page, vocabulary))
  if (blocks.length === 0 && mediaType === 'image/tiff')
    throw new ReadError('empty', `${filename} is a picture in which no text was found`)
  markHeadings(blocks, 1)
  const warnings = [
    ...(failed.length === 0 ? [] : [`pages that could not be decoded: ${failed.slice(0, 20).join(', ')}`]),
    ...(blocks.length > 0
      ? []
      : [`no text could be read in it; languages looked for: ${ocr.languages.codes.join(', ')}`]),
  ]
  return {
    parser: 'unstructured',
    contentType: 'text',
    blocks: [...blocks, ...(mediaType === 'image/tiff' ? [] : [pictureOf(bytes, filename, blocks.length > 0)])],
    metadata: {
      pageCount,
      ...ocrMetadata(read, ocr),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

/** The picture itself. When no text was recognised, search finds it by its file name. */
function pictureOf(bytes: Uint8Array, filename: string, hasText: boolean): Block {
  return { type: 'image', text: hasText ? '' : filename, pageNumber: 1, picture: { bytes } }
}

function readSheet(sheet: Sheet, reader: Recogniser): RecognisedPage {
  const bitmap = sheet.decode(reader)
  if (isBlank(bitmap) || isTexture(bitmap)) return { page: sheet.number, lines: [], confidence: 0 }
  return recognisedPage(sheet.number, reader.read(bitmap))
}

function sheetsOf({ bytes, filename, mediaType, limits }: ParserInput): Sheet[] {
  if (mediaType === 'image/tiff') {
    const pages = pagesOfTiff(bytes, filename, limits.maxPages)
    return pages.map((page, place) => ({
      number: place + 1,
      decode: (reader) => decodeTiffPage(reader, bytes, page, filename),
    }))
  }
  return [{ number: 1, decode: (reader) => decodePicture(reader, bytes, filename) }]
}

/** Decodes any picture except TIFF to grey, upright. @throws ReadError when it cannot be decoded */
export function decodePicture({ core }: Recogniser, bytes: Uint8Array, filename: string): Bitmap {
  const bitmap = decodeGrey(core, bytes, filename)
  if (bitmap === undefined) throw new ReadError('malformed', `${filename} is a picture that cannot be decoded`)
  return upright(bitmap, exifOrientation(bytes))
}

/** Decodes one page of a TIFF to grey, upright. @throws ReadError when it cannot be decoded */
export function decodeTiffPage({ core }: Recogniser, bytes: Uint8Array, page: TiffPage, filename: string): Bitmap {
  checkSize(page, filename)
  const alone = onlyPage(bytes, page)
  if (isOther(page)) return upright(decodeOther(alone, page, filename), page.orientation)
  // Leptonica applies the orientation itself
  const bitmap = decodeGrey(core, alone, filename)
  if (bitmap === undefined) throw new ReadError('malformed', `${filename} has a page that cannot be decoded`)
  return bitmap
}

/** Attributes any failure of the decoder to the file. */
export function asReadError(error: unknown, filename: string): ReadError {
  if (error instanceof ReadError) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new ReadError('malformed', `${filename} is a picture that cannot be read: ${detail.slice(0, 200)}`, {
    cause: error,
  })
}
