import { defined } from '../../../lib/defined.js'
import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { type Attributes, readMarkup } from '../markup/markup-events.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { elementTexts, properTitle, relationsOf, xmlPart } from './office-package.js'

const PAGES = 'visio/pages/pages.xml'

/** Reads drawings of Visio since 2013: pages as sections, texts of shapes as a list in the order of the file. */
export const vsdxParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/vnd.ms-visio.drawing',
  parse: parseVsdx,
}

function parseVsdx(input: ParserInput): Parsed {
  const { filename, limits } = input
  const zip = openZip(input.bytes, filename, limits)
  const pages = pagesOf(zip, filename)
  if (pages.length > limits.maxPages) {
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${filename} has more pages than the limit of ${most}`)
  }
  const blocks = pages.flatMap((page, index): Block[] => {
    const texts = shapeTexts(xmlPart(zip, page.part, filename))
    const heading: Block = { type: 'heading', text: page.name, level: 1, tocSource: 'page' }
    const list: Block[] =
      texts.length === 0 ? [] : [{ type: 'list', text: texts.map((text) => `- ${text}`).join('\n') }]
    return [heading, ...list].map((block) => ({ ...block, pageNumber: index + 1 }))
  })
  if (!blocks.some((block) => block.type === 'list')) throw new ReadError('empty', `${filename} has no text`)
  const properties = elementTexts(zip, 'docProps/core.xml', filename, ['dc:title', 'dc:creator'])
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...defined({ title: properTitle(properties.get('dc:title')) }),
    blocks,
    metadata: { pageCount: pages.length, ...defined({ author: properties.get('dc:creator') }) },
  }
}

/** The pages in order, each once, with their names. */
function pagesOf(zip: ZipArchive, filename: string): { name: string; part: string }[] {
  const relations = relationsOf(zip, PAGES, filename)
  const pages = new Map<string, string>()
  let name = ''
  const visit = (tag: string, attributes: Attributes): void => {
    if (tag === 'Page') name = attributes.get('Name') ?? ''
    const part = tag === 'Rel' ? relations.get(attributes.get('r:id') ?? '')?.part : undefined
    if (part !== undefined && zip.entries.has(part) && !pages.has(part)) pages.set(part, name)
  }
  const xml = xmlPart(zip, PAGES, filename)
  readMarkup(xml, { open: visit, close: () => undefined, text: () => undefined }, true)
  if (pages.size === 0) throw new ReadError('empty', `${filename} has no pages`)
  return [...pages].map(([part, own], index) => ({ part, name: own.trim() === '' ? `Page ${index + 1}` : own.trim() }))
}

function shapeTexts(xml: string): string[] {
  const texts: string[] = []
  let held: string | undefined
  readMarkup(
    xml,
    {
      open(name) {
        if (name === 'Text') held = ''
      },
      close(name) {
        if (name !== 'Text' || held === undefined) return
        const text = held.replace(/\s+/g, ' ').trim()
        if (text !== '') texts.push(text)
        held = undefined
      },
      text(text) {
        if (held !== undefined) held += text
      },
    },
    true,
  )
  return texts
}
