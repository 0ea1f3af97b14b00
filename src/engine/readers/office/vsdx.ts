import { omitUndefined } from '../../../lib/omit-undefined.js'
import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { type Attributes, readMarkup, visitTags } from '../markup/markup-events.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import {
  findCoreProperties,
  findRelatedPart,
  getMainPart,
  readElementTexts,
  readRelations,
  readXmlPart,
  toMeaningfulTitle,
} from './office-package.js'

/** Reads drawings of Visio since 2013: pages as sections, texts of shapes as a list in the order of the file. */
export const vsdxParser: Parser = {
  parse: parseVsdx,
}

function parseVsdx(input: ParserInput): ParsedDocument {
  const { filename, limits } = input
  const zip = openZip(input.bytes, filename, limits)
  const pages = listPages(zip, filename)
  if (pages.length > limits.maxPages) {
    const limit = limits.maxPages.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${filename} has more pages than the limit of ${limit}`)
  }
  const blocks = pages.flatMap((page, index): Block[] => {
    const texts = parseShapeTexts(readXmlPart(zip, page.part, filename))
    const heading: Block = { type: 'heading', text: page.name, level: 1, tocSource: 'page' }
    const list: Block[] =
      texts.length === 0 ? [] : [{ type: 'list', text: texts.map((text) => `- ${text}`).join('\n') }]
    return [heading, ...list].map((block) => ({ ...block, pageNumber: index + 1 }))
  })
  if (!blocks.some((block) => block.type === 'list')) throw new ReadError('empty', `${filename} has no text`)
  const properties = readElementTexts(zip, findCoreProperties(zip, filename), filename, ['dc:title', 'dc:creator'])
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title: toMeaningfulTitle(properties.get('dc:title')) }),
    blocks,
    metadata: { pageCount: pages.length, ...omitUndefined({ author: properties.get('dc:creator') }) },
  }
}

/** The pages in order, each once, with their names. */
function listPages(zip: ZipArchive, filename: string): { name: string; part: string }[] {
  const main = getMainPart(zip, filename, ['visio/document.xml'])
  const list = findRelatedPart(zip, readRelations(zip, main, filename), 'pages', 'visio/pages/pages.xml')
  if (list === undefined) throw new ReadError('empty', `${filename} has no pages`)
  const relations = readRelations(zip, list, filename)
  const pages = new Map<string, string>()
  let name = ''
  const visit = (tag: string, attributes: Attributes): void => {
    if (tag === 'Page') name = attributes.get('Name') ?? ''
    const part = tag === 'Rel' ? relations.get(attributes.get('r:id') ?? '')?.part : undefined
    if (part !== undefined && zip.entries.has(part) && !pages.has(part)) pages.set(part, name)
  }
  const xml = readXmlPart(zip, list, filename)
  visitTags(xml, visit)
  if (pages.size === 0) throw new ReadError('empty', `${filename} has no pages`)
  return [...pages].map(([part, pageName], index) => ({
    part,
    name: pageName.trim() === '' ? `Page ${index + 1}` : pageName.trim(),
  }))
}

function parseShapeTexts(xml: string): string[] {
  const texts: string[] = []
  let current: string | undefined
  readMarkup(
    xml,
    {
      open(name) {
        if (name === 'Text') current = ''
      },
      close(name) {
        if (name !== 'Text' || current === undefined) return
        const text = current.replace(/\s+/g, ' ').trim()
        if (text !== '') texts.push(text)
        current = undefined
      },
      text(text) {
        if (current !== undefined) current += text
      },
    },
    'xml',
  )
  return texts
}
