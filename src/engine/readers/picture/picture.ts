import type { RecognisedPage } from '../../store/recognised-pages.js'
import { ReadError } from '../limits.js'
import { buildLinesWithTables } from '../ocr/page-tables.js'
import { removeFalseText } from '../ocr/pages.js'
import { buildOcrMetadata } from '../ocr/pages-to-read.js'
import { isBlank } from '../ocr/pdf-scans.js'
import { getRecogniser, type Recogniser } from '../ocr/recognise.js'
import { toRecognisedPage } from '../ocr/recognised-page.js'
import { isTexture } from '../ocr/texture.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { collectVocabulary } from '../pdf/join-lines.js'
import { type PdfPage, pageBlocks } from '../pdf/pdf-blocks.js'
import { markHeadings } from '../pdf/pdf-headings.js'
import { joinTablesAcrossPages } from '../pdf/table-pages.js'
import type { Bitmap } from '../render/bitmap.js'
import { checkSize, decodeGrey } from './decode.js'
import { readExifOrientation } from './exif.js'
import { extractPage, listTiffPages, type TiffPage } from './tiff.js'
import { decodeWithUtif, needsUtif } from './tiff-other.js'
import { toUpright } from './transform.js'

/** A page or picture of a file, not decoded yet. */
interface UndecodedPage {
  number: number
  decode(reader: Recogniser): Bitmap
}

/** Recognises the text in a picture: a scan, a photograph of a page, a screenshot. A TIFF may have many pages. */
export const pictureParser: Parser = {
  async parse(input) {
    const sheets = listUndecodedPages(input)
    const pages: PdfPage[] = []
    const recognised: RecognisedPage[] = []
    const failed: number[] = []
    for (const sheet of sheets) {
      const reader = await getRecogniser(input.ocr.languages)
      try {
        const page = input.ocr.page(sheet.number, () => recogniseSheet(sheet, reader))
        if (page === undefined) continue
        // a page of a TIFF was scanned; any other picture may be a photograph of something other than text
        const words = input.mediaType === 'image/tiff' ? page : removeFalseText(page)
        recognised.push(words)
        pages.push({ number: sheet.number, lines: buildLinesWithTables(words) })
      } catch (error) {
        if (sheets.length === 1) throw asReadError(error, input.filename)
        failed.push(sheet.number)
      } finally {
        reader.releaseMemory()
      }
    }
    return toParsed(input, { pages, recognised, failed, pageCount: sheets.length })
  },
}

interface RecognisedSheets {
  pages: PdfPage[]
  recognised: readonly RecognisedPage[]
  /** numbers of the pages that could not be decoded */
  failed: readonly number[]
  pageCount: number
}

function toParsed(
  { bytes, filename, mediaType, ocr }: ParserInput,
  { pages, recognised, failed, pageCount }: RecognisedSheets,
): ParsedDocument {
  if (failed.length === pageCount) throw new ReadError('malformed', `${filename} has no page that can be decoded`)
  joinTablesAcrossPages(pages)
  const vocabulary = collectVocabulary(pages)
  const blocks = pages.flatMap((page) => pageBlocks(page, vocabulary))
  if (blocks.length === 0 && mediaType === 'image/tiff')
    throw new ReadError('empty', `${filename} is a picture in which no text was found`)
  markHeadings(blocks, 1)
  // when no text was recognised, search finds the picture by its file name
  const text = blocks.length > 0 ? '' : filename
  const pictureBlock: Block = { type: 'image', text, pageNumber: 1, picture: { bytes } }
  const warnings = [
    ...(failed.length === 0 ? [] : [`pages that could not be decoded: ${failed.slice(0, 20).join(', ')}`]),
    ...(blocks.length > 0
      ? []
      : [`no text could be read in it; languages looked for: ${ocr.languages.codes.join(', ')}`]),
  ]
  return {
    parser: 'unstructured',
    contentType: 'text',
    blocks: [...blocks, ...(mediaType === 'image/tiff' ? [] : [pictureBlock])],
    metadata: {
      pageCount,
      ...buildOcrMetadata(recognised, ocr),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

function recogniseSheet(sheet: UndecodedPage, reader: Recogniser): RecognisedPage {
  const bitmap = sheet.decode(reader)
  if (isBlank(bitmap) || isTexture(bitmap)) return { page: sheet.number, lines: [], confidence: 0 }
  return toRecognisedPage(sheet.number, reader.read(bitmap))
}

function listUndecodedPages({ bytes, filename, mediaType, limits }: ParserInput): UndecodedPage[] {
  if (mediaType === 'image/tiff') {
    const pages = listTiffPages(bytes, filename, limits.maxPages)
    return pages.map((page, index) => ({
      number: index + 1,
      decode: (reader) => decodeTiffPage(reader, bytes, page, filename),
    }))
  }
  return [{ number: 1, decode: (reader) => decodePicture(reader, bytes, filename) }]
}

/** Decodes any picture except TIFF to grey, upright. @throws ReadError when it cannot be decoded */
export function decodePicture({ core }: Recogniser, bytes: Uint8Array, filename: string): Bitmap {
  const bitmap = decodeGrey(core, bytes, filename)
  if (bitmap === undefined) throw new ReadError('malformed', `${filename} is a picture that cannot be decoded`)
  return toUpright(bitmap, readExifOrientation(bytes))
}

/** Decodes one page of a TIFF to grey, upright. @throws ReadError when it cannot be decoded */
function decodeTiffPage({ core }: Recogniser, bytes: Uint8Array, page: TiffPage, filename: string): Bitmap {
  checkSize(page, filename)
  const singlePage = extractPage(bytes, page)
  if (needsUtif(page)) return toUpright(decodeWithUtif(singlePage, page, filename), page.orientation)
  // Leptonica applies the orientation itself
  const bitmap = decodeGrey(core, singlePage, filename)
  if (bitmap === undefined) throw new ReadError('malformed', `${filename} has a page that cannot be decoded`)
  return bitmap
}

/** Attributes any failure of the decoder to the file. */
function asReadError(error: unknown, filename: string): ReadError {
  if (error instanceof ReadError) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new ReadError('malformed', `${filename} is a picture that cannot be read: ${detail.slice(0, 200)}`, {
    cause: error,
  })
}
