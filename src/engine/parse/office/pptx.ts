import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { tellProgress } from '../progress.js'
import { headsOf } from '../tables/heads.js'
import { tableBlocks } from '../tables.js'
import { chartParts } from './charts.js'
import { type Embedded, embeddedFiles } from './embedded-files.js'
import { EmbeddedPictures } from './embedded-pictures.js'
import { forEachTag, type Relation, relationsOf, xmlPart } from './office-package.js'
import { coreProperties } from './properties.js'
import { authorsIn, remarkBlock, remarksIn } from './remarks.js'
import { readShapes, type Shape, type SlideParagraph } from './slide-shapes.js'

const PRESENTATION = 'application/vnd.openxmlformats-officedocument.presentationml.'
const MAIN = 'ppt/presentation.xml'

/** Placeholders whose text is the title of the slide. */
const TITLES = new Set(['title', 'ctrTitle'])
/** Placeholders whose paragraphs have bullets by default. */
const BULLETED = new Set(['body', 'obj', 'half', 'quarter'])
/** Placeholders of a page of notes without speaker notes. */
const NOT_NOTES = new Set(['sldNum', 'dt', 'hdr', 'ftr', 'sldImg'])
/** Parts with the authors of comments: of older and newer programs. */
const AUTHORS = ['ppt/commentAuthors.xml', 'ppt/authors.xml']
/** Placeholders with numbers and dates that are repeated on every slide. */
const RUNNING = new Set(['sldNum', 'dt'])
/** A slide has its `show` attribute within this many characters. */
const HEAD = 4096
/** A longer bullet is a paragraph, not a list item. */
const MAX_ITEM = 1500

/** Reads presentations: slides in the order of the show, titles as headings, lists, tables, speaker notes. */
export const pptxParser: Parser = {
  accepts: (mediaType) => mediaType.startsWith(PRESENTATION),
  parse: parsePptx,
}

async function parsePptx(input: ParserInput): Promise<Parsed> {
  const { filename, limits } = input
  const zip = openZip(input.bytes, filename, limits)
  const slides = slideParts(zip, filename)
  if (slides.length > limits.maxPages) {
    const count = slides.length.toLocaleString('en-US')
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${filename} has ${count} slides, more than the limit of ${most}`)
  }
  const embedded = await embeddedFiles(zip, input)
  const reader = new SlideReader(zip, filename, embedded)
  const missing: number[] = []
  for (const [index, part] of slides.entries()) {
    tellProgress('slide', index + 1, slides.length)
    if (zip.entries.has(part)) reader.slide(part, index + 1)
    else missing.push(index + 1)
  }
  reader.blocks.push(...embedded.rest())
  if (!hasContent(reader.blocks)) throw new ReadError('empty', `${filename} has no text`)
  const lost = missing.length === 0 ? [] : [`missing slides: ${missing.slice(0, 20).join(', ')}`]
  const warnings = [...lost, ...embedded.warnings]
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...coreProperties(zip, filename),
    blocks: reader.blocks,
    metadata: {
      pageCount: slides.length,
      ...(reader.hidden.length === 0 ? {} : { hiddenSlides: reader.hidden }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

/** The slides in the order of the show, each once. */
function slideParts(zip: ZipArchive, filename: string): string[] {
  const relations = relationsOf(zip, MAIN, filename)
  const parts = new Set<string>()
  forEachTag(xmlPart(zip, MAIN, filename), 'p:sldId', (attributes) => {
    const relation = relations.get(attributes.get('r:id') ?? '')
    if (relation?.kind === 'slide') parts.add(relation.part)
  })
  if (parts.size > 0) return [...parts]
  throw new ReadError('empty', `${filename} has no slides`)
}

class SlideReader {
  readonly blocks: Block[] = []
  /** Numbers of slides that are hidden in the show. */
  readonly hidden: number[] = []
  readonly #zip: ZipArchive
  readonly #filename: string
  /** Texts of footers; each is kept at its first occurrence. */
  readonly #footers = new Set<string>()
  readonly #pictures: EmbeddedPictures
  readonly #charts: (part: string | undefined) => Block[]
  readonly #embedded: Embedded
  readonly #authors = new Map<string, string>()

  constructor(zip: ZipArchive, filename: string, embedded: Embedded) {
    this.#zip = zip
    this.#embedded = embedded
    this.#filename = filename
    this.#pictures = new EmbeddedPictures(zip)
    this.#charts = chartParts(zip, filename)
    for (const part of AUTHORS)
      if (zip.entries.has(part))
        for (const [id, name] of authorsIn(xmlPart(zip, part, filename))) this.#authors.set(id, name)
  }

  slide(part: string, number: number): void {
    const relations = relationsOf(this.#zip, part, this.#filename)
    const xml = xmlPart(this.#zip, part, this.#filename)
    if (/<p:sld\s[^<>]{0,2000}\bshow="(?:0|false)"/.test(xml.slice(0, HEAD))) this.hidden.push(number)
    const shapes = readShapes(xml)
    const title = shapes.find(isTitle)
    const name = title === undefined ? '' : title.paragraphs.map((paragraph) => paragraph.text).join(' ')
    const found: Block[] = [
      name === ''
        ? { type: 'heading', text: `Slide ${number}`, level: 1, tocSource: 'page', silent: true }
        : { type: 'heading', text: name.replaceAll('\n', ' '), level: 1 },
    ]
    for (const shape of shapes) if (shape !== title) found.push(...this.#shape(shape, relations))
    for (const relation of relations.values()) {
      if (this.#embedded.isKind(relation.kind)) found.push(...this.#embedded.take(relation.part))
      else if (relation.kind === 'notesSlide') found.push(...this.#notes(relation.part))
      else if (relation.kind === 'comments') found.push(...this.#remarks(relation.part))
    }
    for (const block of found) this.blocks.push({ ...block, pageNumber: number })
  }

  #shape(shape: Shape, relations: Map<string, Relation>): Block[] {
    if (shape.kind === 'table') return tableBlocks(shape.rows, headsOf(shape.rows))
    if (shape.kind === 'chart') return this.#charts(relations.get(shape.relation)?.part)
    if (shape.kind === 'diagram') return this.#diagram(relations.get(shape.relation)?.part)
    if (shape.kind === 'picture') return this.#picture(relations.get(shape.relation)?.part, shape)
    const { placeholder, paragraphs } = shape
    if (placeholder !== undefined && RUNNING.has(placeholder)) return []
    if (placeholder === 'ftr') return this.#footer(paragraphs)
    return textBlocks(paragraphs, placeholder !== undefined && BULLETED.has(placeholder) && paragraphs.length > 1)
  }

  #footer(paragraphs: SlideParagraph[]): Block[] {
    const text = paragraphs.map((paragraph) => paragraph.text).join('\n')
    if (this.#footers.has(text)) return []
    this.#footers.add(text)
    return [{ type: 'paragraph', text, metadata: { role: 'footer' } }]
  }

  #notes(part: string): Block[] {
    if (!this.#zip.entries.has(part)) return []
    const blocks: Block[] = []
    for (const shape of readShapes(xmlPart(this.#zip, part, this.#filename))) {
      if (shape.kind !== 'text' || NOT_NOTES.has(shape.placeholder ?? '')) continue
      const text = shape.paragraphs.map((paragraph) => paragraph.text).join('\n')
      blocks.push({ type: 'paragraph', text, metadata: { role: 'notes' } })
    }
    return blocks
  }

  #remarks(part: string): Block[] {
    if (!this.#zip.entries.has(part)) return []
    return remarksIn(xmlPart(this.#zip, part, this.#filename), this.#authors).map(remarkBlock)
  }

  #diagram(part: string | undefined): Block[] {
    if (part === undefined || !this.#zip.entries.has(part)) return []
    const shapes = readShapes(xmlPart(this.#zip, part, this.#filename))
    return shapes.flatMap((shape) => (shape.kind === 'text' ? textBlocks(shape.paragraphs, true) : []))
  }

  #picture(part: string | undefined, { alt, box }: Extract<Shape, { kind: 'picture' }>): Block[] {
    const picture = part === undefined ? undefined : this.#pictures.get(part)
    const place = box === undefined ? {} : { metadata: { boundingBox: box } }
    if (picture !== undefined) return [{ type: 'image', text: alt, picture, ...place }]
    return alt === '' ? [] : [{ type: 'paragraph', text: alt }]
  }
}

function isTitle(shape: Shape): shape is Extract<Shape, { kind: 'text' }> {
  return shape.kind === 'text' && shape.placeholder !== undefined && TITLES.has(shape.placeholder)
}

/** Converts paragraphs unchanged, and consecutive bullets to lists with their levels. */
function textBlocks(paragraphs: SlideParagraph[], bulleted: boolean): Block[] {
  const blocks: Block[] = []
  let items: string[] = []
  const flush = (): void => {
    if (items.length > 0) blocks.push({ type: 'list', text: items.join('\n') })
    items = []
  }
  for (const { text, level, bullet } of paragraphs) {
    if ((bullet ?? bulleted) && text.length <= MAX_ITEM) {
      items.push(`${'  '.repeat(level)}- ${text.replaceAll('\n', ' ')}`)
      continue
    }
    flush()
    blocks.push({ type: 'paragraph', text })
  }
  flush()
  return blocks
}
