import { defined } from '../../../lib/defined.js'
import { ReadError } from '../limits.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { looksLikeHeader, tableBlocks } from '../tables.js'
import { readCompound } from './compound.js'
import { properTitle } from './office-package.js'
import { type OldSlide, readSlides } from './ppt-document.js'
import { type OldShape, shapesOf } from './ppt-shapes.js'
import type { TextRun } from './ppt-text.js'
import { summaryProperties } from './summary-properties.js'

/** A bullet longer than this is a passage, not a list item. */
const MAX_ITEM = 1500

/** Reads presentations of PowerPoint 97 to 2003 as `pptx.ts` reads new ones. */
export const pptParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/vnd.ms-powerpoint',
  parse: parsePpt,
}

function parsePpt(input: ParserInput): Parsed {
  const { filename, limits } = input
  const streams = readCompound(input.bytes, filename)
  const none = Buffer.alloc(0)
  const slides = readSlides(streams.get('PowerPoint Document') ?? none, streams.get('Current User') ?? none, filename)
  if (slides.length > limits.maxPages) {
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError(
      'limit-exceeded',
      `${filename} has ${slides.length.toLocaleString('en-US')} slides, more than the limit of ${most}`,
    )
  }
  const blocks = slides.flatMap((slide, index) => slideBlocks(slide, index + 1))
  if (!blocks.some((block) => block.text !== '' && block.silent !== true))
    throw new ReadError('empty', `${filename} has no text`)
  const { title, ...properties } = summaryProperties(streams)
  const missing = slides.flatMap((slide, index) => (slide.record === undefined ? [index + 1] : []))
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...defined({ title: properTitle(title) }),
    blocks,
    metadata: {
      pageCount: slides.length,
      ...properties,
      ...(missing.length === 0 ? {} : { warnings: [`slides that are missing: ${missing.slice(0, 20).join(', ')}`] }),
    },
  }
}

function slideBlocks({ record, outline, notes }: OldSlide, number: number): Block[] {
  const drawn = record === undefined ? [] : shapesOf(record, outline)
  // Programs that do not refer to the outline from the drawing leave its texts there alone.
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
    else blocks.push(...textBlocks(shape.run))
  }
  for (const shape of notes === undefined ? [] : shapesOf(notes, [])) {
    if (shape.kind !== 'text' || shape.run.kind !== 'notes' || shape.run.lines.length === 0) continue
    const text = shape.run.lines.map((line) => line.text).join('\n')
    blocks.push({ type: 'paragraph', text, metadata: { role: 'notes' } })
  }
  return blocks.map((block) => ({ ...block, pageNumber: number }))
}

function textShape(run: TextRun): OldShape {
  return { kind: 'text', run }
}

function isTitle(shape: OldShape): shape is Extract<OldShape, { kind: 'text' }> {
  return shape.kind === 'text' && shape.run.kind === 'title' && shape.run.lines.length > 0
}

/** Bodies of several paragraphs are lists with their levels, all else paragraphs. */
function textBlocks({ kind, lines }: TextRun): Block[] {
  if (lines.length === 0) return []
  if (kind !== 'body' || lines.length === 1 || lines.some((line) => line.text.length > MAX_ITEM))
    return lines.map(({ text }) => ({ type: 'paragraph', text }))
  const items = lines.map(({ text, level }) => `${'  '.repeat(level)}- ${text.replaceAll('\n', ' ')}`)
  return [{ type: 'list', text: items.join('\n') }]
}
