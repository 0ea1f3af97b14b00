import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { hasContent, parsePictureSource } from '../pictures.js'
import { EmbeddedPictures } from './embedded-pictures.js'
import { replaceMarkers } from './insert-markers.js'
import { addEmbeddedFromOdf } from './odf-embedded.js'
import { parseOdfHeadersAndFooters } from './odf-headers-footers.js'
import { createOdfObjectReader } from './odf-objects.js'
import { type OdfObject, PART_SCHEME, readOdfText } from './odf-text.js'
import { readOdfSheets } from './ods.js'
import { checkSlideCount, createUntitledHeading, readXmlPart } from './office-package.js'
import { readOpenDocumentProperties } from './properties.js'
import { SheetBudget, sheetBlocks } from './sheet-blocks.js'

/** A flat document has its properties within this many characters. */
const META_LENGTH = 64 * 1024

/** Reads OpenDocument texts, presentations, drawings and spreadsheets as LibreOffice writes them, zipped or flat. */
export const odfParser: Parser = {
  parse: parseOdf,
}

async function parseOdf(input: ParserInput): Promise<ParsedDocument> {
  const { filename, limits } = input
  const zip = input.mediaType.endsWith(FLAT) ? undefined : openZip(input.bytes, filename, limits)
  if (zip !== undefined) checkReadable(zip, filename)
  const embedded = zip === undefined ? undefined : await addEmbeddedFromOdf(zip, input)
  const objects =
    zip === undefined || embedded === undefined ? undefined : createOdfObjectReader(zip, filename, embedded)
  const xml = zip === undefined ? readFlatText(input) : readXmlPart(zip, 'content.xml', filename)
  const isSpreadsheet = /<office:spreadsheet[\s>]/.test(xml)
  const readBlocks = isSpreadsheet ? toWorkbookBlocks : toTextBlocks
  const { blocks, metadata } = readBlocks(xml, zip, objects, input)
  if (isSpreadsheet || /<office:text[\s>]/.test(xml)) blocks.push(...readHeadersAndFooters(xml, zip, blocks, filename))
  blocks.push(...(embedded?.rest() ?? []))
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  return {
    parser: isSpreadsheet ? 'native-structured' : 'unstructured',
    contentType: isSpreadsheet ? 'structured' : 'text',
    ...readOpenDocumentProperties(zip ?? xml.slice(0, META_LENGTH), filename),
    blocks,
    metadata: { ...metadata, ...(embedded?.warnings.length ? { warnings: embedded.warnings } : {}) },
  }
}

const FLAT = '-flat-xml'

function readHeadersAndFooters(
  xml: string,
  zip: ZipArchive | undefined,
  body: readonly Block[],
  filename: string,
): Block[] {
  const styles = 'styles.xml'
  const stylesXml = zip === undefined ? xml : zip.entries.has(styles) ? readXmlPart(zip, styles, filename) : ''
  return parseOdfHeadersAndFooters(stylesXml, new Set(body.map(({ text }) => text)))
}

function toWorkbookBlocks(
  xml: string,
  zip: ZipArchive | undefined,
  objects: ((href: string) => Block[]) | undefined,
  { filename, limits }: ParserInput,
): { blocks: Block[]; metadata: object } {
  const pictures = zip === undefined ? undefined : new EmbeddedPictures(zip)
  const workbookSheets = readOdfSheets(xml, new SheetBudget(filename, limits), {
    picture: (source) => (source.startsWith('data:') ? parsePictureSource(source) : pictures?.get(source)),
    object: (href) => objects?.(href) ?? [],
  })
  const hidden = workbookSheets.flatMap(({ name, isHidden }) => (isHidden === true ? [name] : []))
  return { blocks: sheetBlocks(workbookSheets), metadata: hidden.length === 0 ? {} : { hiddenSheets: hidden } }
}

function readFlatText(input: ParserInput): string {
  const text = input.text()
  if (!/<!DOCTYPE/i.test(text.slice(0, META_LENGTH))) return text
  throw new ReadError('malformed', `${input.filename} declares a document type, which its format does not allow`)
}

function checkReadable(zip: ZipArchive, filename: string): void {
  const manifest = 'META-INF/manifest.xml'
  if (zip.entries.has(manifest) && zip.read(manifest).includes('encryption-data')) {
    throw new ReadError('encrypted', `${filename} is protected by a password`)
  }
}

function toTextBlocks(
  xml: string,
  zip: ZipArchive | undefined,
  objects: ((href: string) => Block[]) | undefined,
  input: ParserInput,
): { blocks: Block[]; metadata: object } {
  const { filename, limits } = input
  const pictures = zip === undefined ? undefined : new EmbeddedPictures(zip)
  const options = {
    tables: 'data' as const,
    picture: (source: string) => {
      if (source.startsWith('data:')) return parsePictureSource(source)
      return source.startsWith(PART_SCHEME) ? pictures?.get(source.slice(PART_SCHEME.length)) : undefined
    },
  }
  const label = /<office:drawing[\s>]/.test(xml) ? 'Page' : 'Slide'
  const textObjects: OdfObject[] = []
  const sections = readOdfText(xml, textObjects)
  const pages = sections.filter(({ page }) => page !== undefined).length
  checkSlideCount(pages, filename, limits)
  const object = (number: number): Block[] => {
    const content = textObjects[number] ?? ''
    return typeof content === 'string' ? (objects?.(content) ?? []) : content
  }
  const blocks: Block[] = []
  const hidden: number[] = []
  for (const { html, page, isHidden } of sections) {
    const sectionBlocks: Block[] = replaceMarkers(readHtml(html, options).blocks, object)
    if (isHidden === true && page !== undefined) hidden.push(page)
    if (page === undefined) blocks.push(...sectionBlocks)
    else blocks.push(...toSlideBlocks(sectionBlocks, page, label))
  }
  return {
    blocks,
    metadata: {
      ...(pages > 0 ? { pageCount: pages } : {}),
      ...(hidden.length === 0 ? {} : { hiddenSlides: hidden }),
    },
  }
}

/** A slide is a separate section with its title or number. */
function toSlideBlocks(blocks: Block[], page: number, label: string): Block[] {
  const title = blocks.find((block) => block.type === 'heading')
  const heading = title ?? createUntitledHeading(`${label} ${page}`)
  return [heading, ...blocks.filter((block) => block !== title)].map((block) => ({ ...block, pageNumber: page }))
}
