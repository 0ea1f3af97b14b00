import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { hasContent, pictureFrom } from '../pictures.js'
import { EmbeddedPictures } from './embedded-pictures.js'
import { PART_SCHEME, readOdfText } from './odf-text.js'
import { readOdfSheets } from './ods.js'
import { xmlPart } from './office-package.js'
import { openProperties } from './properties.js'
import { SheetBudget, sheetBlocks } from './sheet-blocks.js'

const OPEN = 'application/vnd.oasis.opendocument.'

/** Where a flat document may have its properties. */
const META_WITHIN = 64 * 1024

/** Reads OpenDocument texts, presentations, drawings and spreadsheets, as LibreOffice writes them, packed or flat. */
export const odfParser: Parser = {
  accepts: (mediaType) => mediaType.startsWith(OPEN),
  parse: parseOdf,
}

function parseOdf(input: ParserInput): Parsed {
  const { filename, limits } = input
  const zip = input.mediaType.endsWith(FLAT) ? undefined : openZip(input.bytes, filename, limits)
  if (zip !== undefined) checkReadable(zip, filename)
  const xml = zip === undefined ? flatText(input) : xmlPart(zip, 'content.xml', filename)
  const sheets = /<office:spreadsheet[\s>]/.test(xml)
  const { blocks, metadata } = sheets
    ? { blocks: sheetBlocks(readOdfSheets(xml, new SheetBudget(filename, limits))), metadata: {} }
    : textBlocks(xml, zip, input)
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  return {
    parser: sheets ? 'native-structured' : 'unstructured',
    contentType: sheets ? 'structured' : 'text',
    ...openProperties(zip ?? xml.slice(0, META_WITHIN), filename),
    blocks,
    metadata: { ...metadata },
  }
}

const FLAT = '-flat-xml'

function flatText(input: ParserInput): string {
  const text = input.text()
  if (!/<!DOCTYPE/i.test(text.slice(0, META_WITHIN))) return text
  throw new ReadError('malformed', `${input.filename} declares a document type, which its format does not have`)
}

function checkReadable(zip: ZipArchive, filename: string): void {
  const manifest = 'META-INF/manifest.xml'
  if (zip.entries.has(manifest) && zip.read(manifest).includes('encryption-data')) {
    throw new ReadError('encrypted', `${filename} is protected by a password`)
  }
}

function textBlocks(
  xml: string,
  zip: ZipArchive | undefined,
  input: ParserInput,
): { blocks: Block[]; metadata: object } {
  const { filename, limits } = input
  const pictures = zip === undefined ? undefined : new EmbeddedPictures(zip)
  const options = {
    picture: (source: string) => {
      if (source.startsWith('data:')) return pictureFrom(source)
      return source.startsWith(PART_SCHEME) ? pictures?.get(source.slice(PART_SCHEME.length)) : undefined
    },
  }
  const label = /<office:drawing[\s>]/.test(xml) ? 'Page' : 'Slide'
  const sections = readOdfText(xml)
  const pages = sections.filter(({ page }) => page !== undefined).length
  if (pages > limits.maxPages) {
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError(
      'limit-exceeded',
      `${filename} has ${pages.toLocaleString('en-US')} slides, more than the limit of ${most}`,
    )
  }
  const blocks: Block[] = []
  for (const { html, page } of sections) {
    const found: Block[] = readHtml(html, options).blocks
    if (page === undefined) blocks.push(...found)
    else blocks.push(...slideBlocks(found, page, label))
  }
  return { blocks, metadata: pages > 0 ? { pageCount: pages } : {} }
}

/** A slide is a section of its own, by its title or its number. */
function slideBlocks(blocks: Block[], page: number, label: string): Block[] {
  const title = blocks.find((block) => block.type === 'heading')
  const heading: Block = title ?? {
    type: 'heading',
    text: `${label} ${page}`,
    level: 1,
    tocSource: 'page',
    silent: true,
  }
  return [heading, ...blocks.filter((block) => block !== title)].map((block) => ({ ...block, pageNumber: page }))
}
