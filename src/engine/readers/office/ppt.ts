import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput, Picture } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { buildTableBlocks, looksLikeHeader } from '../tables.js'
import { readCompound } from './compound.js'
import { addObjects, type EmbeddedObjects } from './embedded-files.js'
import { toPictureBlocks } from './embedded-pictures.js'
import { checkSlideCount, createUntitledHeading, toMeaningfulTitle } from './office-package.js'
import { readCompoundContent } from './ole-object.js'
import { type OldSlide, readSlides } from './ppt-document.js'
import { createPictureLookup, isHiddenSlide, readComments } from './ppt-extras.js'
import { listPptObjects } from './ppt-objects.js'
import type { PptRecord } from './ppt-records.js'
import { listShapes, type OldShape } from './ppt-shapes.js'
import type { SlideTextRun } from './ppt-text.js'
import { readSummaryProperties } from './summary-properties.js'

/** A longer bullet is a paragraph, not a list item. */
const MAX_ITEM_LENGTH = 1500

/** Reads presentations of PowerPoint 97 to 2003 like `pptx.ts` reads new ones. */
export const pptParser: Parser = {
  parse: parsePpt,
}

async function parsePpt(input: ParserInput): Promise<ParsedDocument> {
  const { filename, limits } = input
  const streams = readCompound(input.bytes, filename)
  const empty = Buffer.alloc(0)
  const stream = streams.get('PowerPoint Document') ?? empty
  const { slides, root, partAt } = readSlides(stream, streams.get('Current User') ?? empty, filename)
  checkSlideCount(slides.length, filename, limits)
  const pictures = createPictureLookup(root, streams.get('Pictures') ?? empty)
  const objects = listPptObjects(root, stream, partAt, limits.containedBytes).map(
    ({ id, bytes }, index) =>
      [String(id), { name: `Object ${index + 1}`, read: () => readCompoundContent(bytes(), input) }] as const,
  )
  const embedded = await addObjects(objects, input.inside)
  const resources = { pictures, embedded }
  const blocks = [...slides.flatMap((slide, index) => toSlideBlocks(slide, index + 1, resources)), ...embedded.rest()]
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  const { title, ...properties } = readSummaryProperties(streams)
  const hidden = slides.flatMap(({ record }, index) =>
    record !== undefined && isHiddenSlide(record) ? [index + 1] : [],
  )
  const missing = slides.flatMap((slide, index) => (slide.record === undefined ? [index + 1] : []))
  const missingWarnings = missing.length === 0 ? [] : [`missing slides: ${missing.slice(0, 20).join(', ')}`]
  const warnings = [...missingWarnings, ...embedded.warnings]
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title: toMeaningfulTitle(title) }),
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
interface SlideResources {
  pictures: (number: number) => Picture | undefined
  embedded: EmbeddedObjects
}

function toSlideBlocks(
  { record, outline, notes }: OldSlide,
  number: number,
  { pictures, embedded }: SlideResources,
): Block[] {
  const drawnShapes = record === undefined ? [] : listShapes(record, outline)
  // programs without references from the drawing to the outline store its texts only there
  const shapes: OldShape[] = [
    ...outline
      .filter((run) => !drawnShapes.some((shape) => shape.kind === 'text' && shape.run === run))
      .map((run): OldShape => ({ kind: 'text', run })),
    ...drawnShapes,
  ]
  const title = shapes.find(isTitle)
  const name =
    title?.run.lines
      .map(({ text }) => text)
      .join(' ')
      .replaceAll('\n', ' ') ?? ''
  const blocks: Block[] = [
    name === '' ? createUntitledHeading(`Slide ${number}`) : { type: 'heading', text: name, level: 1 },
  ]
  for (const shape of shapes) {
    if (shape === title) continue
    if (shape.kind === 'table') blocks.push(...buildTableBlocks(shape.rows, looksLikeHeader(shape.rows)))
    else if (shape.kind === 'object') blocks.push(...embedded.take(String(shape.id)))
    else if (shape.kind === 'text') blocks.push(...toTextBlocks(shape.run))
    else blocks.push(...toPictureBlocks(pictures(shape.number), shape.alt))
  }
  if (record !== undefined) blocks.push(...readComments(record))
  for (const text of notes === undefined ? [] : readNotes(notes))
    blocks.push({ type: 'paragraph', text, metadata: { role: 'notes' } })
  return blocks.map((block) => ({ ...block, pageNumber: number }))
}

/** The speaker notes. Programs without a field for them write any text on the page of notes. */
function readNotes(page: PptRecord): string[] {
  const runs = listShapes(page, []).flatMap((shape) =>
    shape.kind === 'text' && shape.run.lines.length > 0 ? [shape.run] : [],
  )
  const notesRuns = runs.filter(({ kind }) => kind === 'notes')
  return (notesRuns.length > 0 ? notesRuns : runs.filter(({ kind }) => kind !== 'title'))
    .map(({ lines }) => lines.map(({ text }) => text).join('\n'))
    .filter((text) => /\p{L}{2}/u.test(text))
}

function isTitle(shape: OldShape): shape is Extract<OldShape, { kind: 'text' }> {
  return shape.kind === 'text' && shape.run.kind === 'title' && shape.run.lines.length > 0
}

/** Converts a body of several paragraphs to a list with levels, and other texts to paragraphs. */
function toTextBlocks({ kind, lines }: SlideTextRun): Block[] {
  if (lines.length === 0) return []
  if (kind !== 'body' || lines.length === 1 || lines.some((line) => line.text.length > MAX_ITEM_LENGTH))
    return lines.map(({ text }) => ({ type: 'paragraph', text }))
  const items = lines.map(({ text, level }) => `${'  '.repeat(level)}- ${text.replaceAll('\n', ' ')}`)
  return [{ type: 'list', text: items.join('\n') }]
}
