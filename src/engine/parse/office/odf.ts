import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { hasContent, pictureFrom } from '../pictures.js'
import { EmbeddedPictures } from './embedded-pictures.js'
import { withMarked } from './marked.js'
import { embeddedInOdf } from './odf-embedded.js'
import { odfMargins } from './odf-margins.js'
import { odfObjects } from './odf-objects.js'
import { PART_SCHEME, readOdfText } from './odf-text.js'
import { readOdfSheets } from './ods.js'
import { xmlPart } from './office-package.js'
import { openProperties } from './properties.js'
import { SheetBudget, sheetBlocks } from './sheet-blocks.js'

const OPEN = 'application/vnd.oasis.opendocument.'

/** A flat document has its properties within this many characters. */
const META_WITHIN = 64 * 1024

/** Reads OpenDocument texts, presentations, drawings and spreadsheets as LibreOffice writes them, zipped or flat. */
export const odfParser: Parser = {
  accepts: (mediaType) => mediaType.startsWith(OPEN),
  parse: parseOdf,
}

async function parseOdf(input: ParserInput): Promise<Parsed> {
  const { filename, limits } = input
  const zip = input.mediaType.endsWith(FLAT) ? undefined : openZip(input.bytes, filename, limits)
  if (zip !== undefined) checkReadable(zip, filename)
  const embedded = zip === undefined ? undefined : await embeddedInOdf(zip, input)
  const objects = zip === undefined || embedded === undefined ? undefined : odfObjects(zip, filename, embedded)
  const xml = zip === undefined ? flatText(input) : xmlPart(zip, 'content.xml', filename)
  const sheets = /<office:spreadsheet[\s>]/.test(xml)
  const read = sheets ? workbookBlocks : textBlocks
  const { blocks, metadata } = read(xml, zip, objects, input)
  if (sheets || /<office:text[\s>]/.test(xml)) blocks.push(...margins(xml, zip, blocks, filename))
  blocks.push(...(embedded?.rest() ?? []))
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  return {
    parser: sheets ? 'native-structured' : 'unstructured',
    contentType: sheets ? 'structured' : 'text',
    ...openProperties(zip ?? xml.slice(0, META_WITHIN), filename),
    blocks,
    metadata: { ...metadata, ...(embedded?.warnings.length ? { warnings: embedded.warnings } : {}) },
  }
}

const FLAT = '-flat-xml'

function margins(xml: string, zip: ZipArchive | undefined, body: readonly Block[], filename: string): Block[] {
  const styles = 'styles.xml'
  const own = zip === undefined ? xml : zip.entries.has(styles) ? xmlPart(zip, styles, filename) : ''
  return odfMargins(own, new Set(body.map(({ text }) => text)))
}

function workbookBlocks(
  xml: string,
  zip: ZipArchive | undefined,
  objects: ((href: string) => Block[]) | undefined,
  { filename, limits }: ParserInput,
): { blocks: Block[]; metadata: object } {
  const pictures = zip === undefined ? undefined : new EmbeddedPictures(zip)
  const sheets = readOdfSheets(xml, new SheetBudget(filename, limits), {
    picture: (source) => (source.startsWith('data:') ? pictureFrom(source) : pictures?.get(source)),
    object: (href) => objects?.(href) ?? [],
  })
  const hidden = sheets.flatMap(({ name, isHidden }) => (isHidden === true ? [name] : []))
  return { blocks: sheetBlocks(sheets), metadata: hidden.length === 0 ? {} : { hiddenSheets: hidden } }
}

function flatText(input: ParserInput): string {
  const text = input.text()
  if (!/<!DOCTYPE/i.test(text.slice(0, META_WITHIN))) return text
  throw new ReadError('malformed', `${input.filename} declares a document type, which its format does not allow`)
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
  objects: ((href: string) => Block[]) | undefined,
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
  const named: string[] = []
  const sections = readOdfText(xml, named)
  const pages = sections.filter(({ page }) => page !== undefined).length
  if (pages > limits.maxPages) {
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError(
      'limit-exceeded',
      `${filename} has ${pages.toLocaleString('en-US')} slides, more than the limit of ${most}`,
    )
  }
  const object = (number: number): Block[] => objects?.(named[number] ?? '') ?? []
  const blocks: Block[] = []
  const hidden: number[] = []
  for (const { html, page, isHidden } of sections) {
    const found: Block[] = withMarked(readHtml(html, options).blocks, object)
    if (isHidden === true && page !== undefined) hidden.push(page)
    if (page === undefined) blocks.push(...found)
    else blocks.push(...slideBlocks(found, page, label))
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
