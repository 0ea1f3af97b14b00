import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { reportProgress } from '../progress.js'
import { type PlacedCell, tidyGrid } from '../tables/grid.js'
import { detectHeads } from '../tables/heads.js'
import { buildTableBlocks } from '../tables.js'
import { createChartReader } from './charts.js'
import { parseAuthors, parseComments, toCommentBlock } from './comments.js'
import { addEmbeddedFiles, type EmbeddedObjects } from './embedded-files.js'
import { EmbeddedPictures, toPictureBlocks } from './embedded-pictures.js'
import {
  checkSlideCount,
  createUntitledHeading,
  findRelatedPart,
  forEachTag,
  getMainPart,
  type PackageRelation,
  readRelations,
  readXmlPart,
} from './office-package.js'
import { readCoreProperties } from './properties.js'
import { readShapeLines, readShapes, type SlideParagraph, type SlideShape } from './slide-shapes.js'

/** Placeholders whose text is the title of the slide. */
const TITLE_PLACEHOLDERS = new Set(['title', 'ctrTitle'])
/** Placeholders whose paragraphs have bullets by default. */
const BULLET_PLACEHOLDERS = new Set(['body', 'obj', 'half', 'quarter'])
/** Placeholders of a page of notes without speaker notes. */
const NOTES_EXCLUDED = new Set(['sldNum', 'dt', 'hdr', 'ftr', 'sldImg'])
/** Relations to the authors of comments, of older and newer programs, and the usual names of their parts. */
const AUTHOR_PARTS = [
  ['commentAuthors', 'ppt/commentAuthors.xml'],
  ['authors', 'ppt/authors.xml'],
] as const
/** Placeholders with numbers and dates that are repeated on every slide. */
const RUNNING_PLACEHOLDERS = new Set(['sldNum', 'dt'])
/** A slide has its `show` attribute within this many characters. */
const SHOW_LENGTH = 4096
/** A longer bullet is a paragraph, not a list item. */
const MAX_ITEM_LENGTH = 1500

/** Reads presentations: slides in the order of the show, titles as headings, lists, tables, speaker notes. */
export const pptxParser: Parser = {
  parse: parsePptx,
}

async function parsePptx(input: ParserInput): Promise<ParsedDocument> {
  const { filename, limits } = input
  const zip = openZip(input.bytes, filename, limits)
  const main = getMainPart(zip, filename, ['ppt/presentation.xml'])
  const relations = readRelations(zip, main, filename)
  const slides = listSlideParts(readXmlPart(zip, main, filename), relations, filename)
  checkSlideCount(slides.length, filename, limits)
  const embedded = await addEmbeddedFiles(zip, input)
  const reader = new SlideReader(zip, filename, embedded)
  reader.readAuthors(relations)
  const missing: number[] = []
  for (const [index, part] of slides.entries()) {
    reportProgress('slide', index + 1, slides.length)
    if (zip.entries.has(part)) reader.slide(part, index + 1)
    else missing.push(index + 1)
  }
  reader.blocks.push(...embedded.rest())
  if (!hasContent(reader.blocks)) throw new ReadError('empty', `${filename} has no text`)
  const missingWarnings = missing.length === 0 ? [] : [`missing slides: ${missing.slice(0, 20).join(', ')}`]
  const warnings = [...missingWarnings, ...embedded.warnings]
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...readCoreProperties(zip, filename),
    blocks: reader.blocks,
    metadata: {
      pageCount: slides.length,
      ...(reader.hidden.length === 0 ? {} : { hiddenSlides: reader.hidden }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

/** The slides in the order of the show, each once. */
function listSlideParts(xml: string, relations: ReadonlyMap<string, PackageRelation>, filename: string): string[] {
  const parts = new Set<string>()
  forEachTag(xml, 'p:sldId', (attributes) => {
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
  readonly #embedded: EmbeddedObjects
  readonly #authors = new Map<string, string>()

  constructor(zip: ZipArchive, filename: string, embedded: EmbeddedObjects) {
    this.#zip = zip
    this.#embedded = embedded
    this.#filename = filename
    this.#pictures = new EmbeddedPictures(zip)
    this.#charts = createChartReader(zip, filename)
  }

  readAuthors(relations: ReadonlyMap<string, PackageRelation>): void {
    for (const [kind, usualName] of AUTHOR_PARTS) {
      const part = findRelatedPart(this.#zip, relations, kind, usualName)
      if (part === undefined) continue
      for (const [id, name] of parseAuthors(readXmlPart(this.#zip, part, this.#filename))) this.#authors.set(id, name)
    }
  }

  slide(part: string, number: number): void {
    const relations = readRelations(this.#zip, part, this.#filename)
    const xml = readXmlPart(this.#zip, part, this.#filename)
    if (/<p:sld\s[^<>]{0,2000}\bshow="(?:0|false)"/.test(xml.slice(0, SHOW_LENGTH))) this.hidden.push(number)
    const shapes = readShapes(xml)
    const title = shapes.find(isTitle)
    const name = title === undefined ? '' : title.paragraphs.map((paragraph) => paragraph.text).join(' ')
    const slideBlocks: Block[] = [
      name === ''
        ? createUntitledHeading(`Slide ${number}`)
        : { type: 'heading', text: name.replaceAll('\n', ' '), level: 1 },
    ]
    for (const shape of shapes) if (shape !== title) slideBlocks.push(...this.#shape(shape, relations))
    for (const relation of relations.values()) {
      if (this.#embedded.isKind(relation.kind)) slideBlocks.push(...this.#embedded.take(relation.part))
      else if (relation.kind === 'notesSlide') slideBlocks.push(...this.#notes(relation.part))
      else if (relation.kind === 'comments') slideBlocks.push(...this.#comments(relation.part))
    }
    for (const block of slideBlocks) this.blocks.push({ ...block, pageNumber: number })
  }

  #shape(shape: SlideShape, relations: ReadonlyMap<string, PackageRelation>): Block[] {
    if (shape.kind === 'table') return toTableBlocks(shape.rows)
    if (shape.kind === 'chart') return this.#charts(relations.get(shape.relation)?.part)
    if (shape.kind === 'diagram') return this.#diagram(relations.get(shape.relation)?.part)
    if (shape.kind === 'picture') return this.#picture(relations.get(shape.relation)?.part, shape)
    const { placeholder, paragraphs } = shape
    if (placeholder !== undefined && RUNNING_PLACEHOLDERS.has(placeholder)) return []
    if (placeholder === 'ftr') return this.#footer(paragraphs)
    const isBulleted = placeholder !== undefined && BULLET_PLACEHOLDERS.has(placeholder) && paragraphs.length > 1
    return toTextBlocks(paragraphs, { isBulleted })
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
    for (const shape of readShapes(readXmlPart(this.#zip, part, this.#filename))) {
      if (shape.kind !== 'text' || NOTES_EXCLUDED.has(shape.placeholder ?? '')) continue
      const text = shape.paragraphs.map((paragraph) => paragraph.text).join('\n')
      blocks.push({ type: 'paragraph', text, metadata: { role: 'notes' } })
    }
    return blocks
  }

  #comments(part: string): Block[] {
    if (!this.#zip.entries.has(part)) return []
    return parseComments(readXmlPart(this.#zip, part, this.#filename), this.#authors).map(toCommentBlock)
  }

  #diagram(part: string | undefined): Block[] {
    if (part === undefined || !this.#zip.entries.has(part)) return []
    const lines = readShapeLines(readXmlPart(this.#zip, part, this.#filename))
    return toTextBlocks(
      lines.map((text) => ({ text, level: 0 })),
      { isBulleted: true },
    )
  }

  #picture(part: string | undefined, { alt, box }: Extract<SlideShape, { kind: 'picture' }>): Block[] {
    const picture = part === undefined ? undefined : this.#pictures.get(part)
    const blocks = toPictureBlocks(picture, alt)
    if (picture === undefined || box === undefined) return blocks
    return blocks.map((block) => ({ ...block, metadata: { boundingBox: box } }))
  }
}

function isTitle(shape: SlideShape): shape is Extract<SlideShape, { kind: 'text' }> {
  return shape.kind === 'text' && shape.placeholder !== undefined && TITLE_PLACEHOLDERS.has(shape.placeholder)
}

function toTableBlocks(cells: PlacedCell[][]): Block[] {
  const { rows, spans } = tidyGrid(cells)
  return buildTableBlocks(rows, detectHeads(rows, spans), {}, spans)
}

/**
 * Converts paragraphs unchanged, and consecutive bullets to lists with their levels.
 *
 * @param isBulleted for paragraphs that set neither a bullet nor none
 */
function toTextBlocks(paragraphs: SlideParagraph[], { isBulleted }: { isBulleted: boolean }): Block[] {
  const blocks: Block[] = []
  let items: string[] = []
  let itemFormulas: string[] = []
  const flush = (): void => {
    if (items.length > 0) blocks.push({ type: 'list', text: items.join('\n'), ...toFormulas(itemFormulas) })
    items = []
    itemFormulas = []
  }
  for (const { text, level, bullet, formulas = [] } of paragraphs) {
    if ((bullet ?? isBulleted) && text.length <= MAX_ITEM_LENGTH) {
      items.push(`${'  '.repeat(level)}- ${text.replaceAll('\n', ' ')}`)
      itemFormulas.push(...formulas)
      continue
    }
    flush()
    blocks.push({ type: 'paragraph', text, ...toFormulas(formulas) })
  }
  flush()
  return blocks
}

function toFormulas(formulas: string[]): Pick<Block, 'metadata'> {
  return formulas.length === 0 ? {} : { metadata: { formulas } }
}
