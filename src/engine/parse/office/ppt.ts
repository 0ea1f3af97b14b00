import { defined } from '../../../lib/defined.js'
import { ReadError } from '../limits.js'
import type { Block, Parsed, Parser, ParserInput, Picture } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { looksLikeHeader, tableBlocks } from '../tables.js'
import { readCompound } from './compound.js'
import { type Embedded, handOver } from './embedded-files.js'
import { properTitle } from './office-package.js'
import { heldInCompound } from './ole-object.js'
import { type OldSlide, readSlides } from './ppt-document.js'
import { commentsOf, isHiddenSlide, storedPictures } from './ppt-extras.js'
import { pptObjects } from './ppt-objects.js'
import type { PptRecord } from './ppt-records.js'
import { type OldShape, shapesOf } from './ppt-shapes.js'
import type { TextRun } from './ppt-text.js'
import { summaryProperties } from './summary-properties.js'

/** A longer bullet is a paragraph, not a list item. */
const MAX_ITEM = 1500

/** Reads presentations of PowerPoint 97 to 2003 like `pptx.ts` reads new ones. */
export const pptParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/vnd.ms-powerpoint',
  parse: parsePpt,
}

async function parsePpt(input: ParserInput): Promise<Parsed> {
  const { filename, limits } = input
  const streams = readCompound(input.bytes, filename)
  const none = Buffer.alloc(0)
  const stream = streams.get('PowerPoint Document') ?? none
  const { slides, root, partAt } = readSlides(stream, streams.get('Current User') ?? none, filename)
  if (slides.length > limits.maxPages) {
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError(
      'limit-exceeded',
      `${filename} has ${slides.length.toLocaleString('en-US')} slides, more than the limit of ${most}`,
    )
  }
  const pictures = storedPictures(root, streams.get('Pictures') ?? none)
  const objects = pptObjects(root, stream, partAt, limits.containedBytes).map(
    ({ id, bytes }, index) =>
      [String(id), { name: `Object ${index + 1}`, read: () => heldInCompound(bytes(), input) }] as const,
  )
  const embedded = await handOver(objects, input.inside)
  const beside = { pictures, embedded }
  const blocks = [...slides.flatMap((slide, index) => slideBlocks(slide, index + 1, beside)), ...embedded.rest()]
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  const { title, ...properties } = summaryProperties(streams)
  const hidden = slides.flatMap(({ record }, index) =>
    record !== undefined && isHiddenSlide(record) ? [index + 1] : [],
  )
  const missing = slides.flatMap((slide, index) => (slide.record === undefined ? [index + 1] : []))
  const lost = missing.length === 0 ? [] : [`missing slides: ${missing.slice(0, 20).join(', ')}`]
  const warnings = [...lost, ...embedded.warnings]
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...defined({ title: properTitle(title) }),
    blocks,
    metadata: {
      pageCount: slides.length,
      ...properties,
      ...(hidden.length === 0 ? {} : { hiddenSlides: hidden }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

/** Resources to which shapes refer. */
interface Beside {
  pictures: (number: number) => Picture | undefined
  embedded: Embedded
}

function slideBlocks({ record, outline, notes }: OldSlide, number: number, { pictures, embedded }: Beside): Block[] {
  const drawn = record === undefined ? [] : shapesOf(record, outline)
  // programs without references from the drawing to the outline store its texts only there
  const shapes: OldShape[] = [
    ...outline.filter((run) => !drawn.some((shape) => shape.kind === 'text' && shape.run === run)).map(textShape),
    ...drawn,
  ]
  const title = shapes.find(isTitle)
  const name =
    title?.run.lines
      .map(({ text }) => text)
      .join(' ')
      .replaceAll('\n', ' ') ?? ''
  const blocks: Block[] = [
    name === ''
      ? { type: 'heading', text: `Slide ${number}`, level: 1, tocSource: 'page', silent: true }
      : { type: 'heading', text: name, level: 1 },
  ]
  for (const shape of shapes) {
    if (shape === title) continue
    if (shape.kind === 'table') blocks.push(...tableBlocks(shape.rows, looksLikeHeader(shape.rows)))
    else if (shape.kind === 'object') blocks.push(...embedded.take(String(shape.id)))
    else if (shape.kind === 'text') blocks.push(...textBlocks(shape.run))
    else blocks.push(...pictureBlocks(pictures(shape.number), shape.alt))
  }
  if (record !== undefined) blocks.push(...commentsOf(record))
  for (const text of notes === undefined ? [] : notesIn(notes))
    blocks.push({ type: 'paragraph', text, metadata: { role: 'notes' } })
  return blocks.map((block) => ({ ...block, pageNumber: number }))
}

/** The speaker notes. Programs without a field for them write any text on the page of notes. */
function notesIn(page: PptRecord): string[] {
  const runs = shapesOf(page, []).flatMap((shape) =>
    shape.kind === 'text' && shape.run.lines.length > 0 ? [shape.run] : [],
  )
  const own = runs.filter(({ kind }) => kind === 'notes')
  return (own.length > 0 ? own : runs.filter(({ kind }) => kind !== 'title'))
    .map(({ lines }) => lines.map(({ text }) => text).join('\n'))
    .filter((text) => /\p{L}{2}/u.test(text))
}

function pictureBlocks(picture: Picture | undefined, alt: string): Block[] {
  if (picture !== undefined) return [{ type: 'image', text: alt, picture }]
  return alt === '' ? [] : [{ type: 'paragraph', text: alt }]
}

function textShape(run: TextRun): OldShape {
  return { kind: 'text', run }
}

function isTitle(shape: OldShape): shape is Extract<OldShape, { kind: 'text' }> {
  return shape.kind === 'text' && shape.run.kind === 'title' && shape.run.lines.length > 0
}

/** Converts a body of several paragraphs to a list with levels, and other texts to paragraphs. */
function textBlocks({ kind, lines }: TextRun): Block[] {
  if (lines.length === 0) return []
  if (kind !== 'body' || lines.length === 1 || lines.some((line) => line.text.length > MAX_ITEM))
    return lines.map(({ text }) => ({ type: 'paragraph', text }))
  const items = lines.map(({ text, level }) => `${'  '.repeat(level)}- ${text.replaceAll('\n', ' ')}`)
  return [{ type: 'list', text: items.join('\n') }]
}
