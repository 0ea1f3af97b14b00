import { z } from 'zod'
import { LIMITS } from '../../contract/limits.js'
import { count, positive } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { cutText } from '../budget.js'
import { oneLine, Writer } from '../content.js'
import { pathOfDocument, type Target, targetOf } from '../documents.js'
import { ToolError } from '../failure.js'
import { document, maxTokens, space } from '../fields.js'
import { atPath } from '../nearby.js'
import { paragraphsAround, type Range, sectionRange, textOfPages } from '../parts.js'
import { READS, type ToolCall, tool } from '../tool.js'
import { uriOf } from '../uri.js'

/** A token is at most this many bytes of useful text. */
const BYTES_PER_TOKEN = 8
const NEIGHBOURS = 20

const PAGES = /^(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?$/

export const read = tool({
  name: 'read',
  title: 'Read a document',
  description:
    'Read the text of a document: all of it, a section by its title, a range of pages, or a passage with the paragraphs around it (start and end from `search`, with neighbours). If the text does not fit, the result has a nextOffset.',
  input: z.strictObject({
    document,
    space,
    section: z.string().min(1).max(1000).optional().describe('Title of a section, or its path joined by " > ".'),
    pages: z
      .string()
      .regex(PAGES, 'a page or a range of pages, such as 3 or 3-5')
      .optional()
      .describe('Page or range of pages, such as 3 or 3-5.'),
    start: count.optional().describe('Offset of the first character.'),
    end: count.optional().describe('Offset after the last character.'),
    neighbours: z
      .int()
      .min(0)
      .max(NEIGHBOURS)
      .default(0)
      .describe('Number of paragraphs to add before start and after end.'),
    offset: count.optional().describe('nextOffset of the previous result, to continue; keep the other arguments.'),
    maxTokens,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      path: z.string(),
      uri: z.string(),
      contentType: z.string(),
      text: z.string(),
      offset: count.describe('offset of the text in the document, or in the requested pages'),
      totalChars: count,
      nextOffset: count.optional().describe('offset of the next part; absent at the end'),
      version: positive.optional(),
    }),
  annotations: READS,
  run: async (args, call) => {
    const asked = [args.section, args.pages, args.start ?? args.end].filter((one) => one !== undefined)
    if (asked.length > 1)
      throw new ToolError('invalid-request', 'section, pages and start exclude each other', 'Give one.')
    if (args.neighbours > 0 && args.start === undefined)
      throw new ToolError('invalid-request', 'neighbours requires start', 'Give start and end of a passage.')
    if ((args.end ?? Number.POSITIVE_INFINITY) < (args.start ?? 0))
      throw new ToolError(
        'invalid-request',
        `end is before start: ${args.end} < ${args.start}`,
        'Give both of one passage.',
      )
    const target = await targetOf(call.spaces, call.api, args.document, args.space)
    const path = target.path ?? (await pathOfDocument(call.api, target.space, target.documentId ?? ''))
    const piece = await atPath(call.api, target.space, path, () => pieceOf(call, { ...target, path }, args))
    const uri = uriOf({ space: target.space.slug, path })
    const data = { space: target.space.slug, path, uri, ...piece }
    const writer = new Writer()
    const end = piece.offset + piece.text.length
    writer.line(`${uri} characters ${piece.offset}–${end} of ${piece.totalChars}`).content(piece.text)
    if (piece.nextOffset !== undefined) writer.line(`There is more: call again with offset ${piece.nextOffset}.`)
    return { text: writer.text(), data, links: [{ uri, name: oneLine(path), mimeType: piece.contentType }] }
  },
})

interface Piece {
  contentType: string
  text: string
  offset: number
  totalChars: number
  nextOffset?: number
}

interface Asked {
  section?: string | undefined
  pages?: string | undefined
  start?: number | undefined
  end?: number | undefined
  neighbours: number
  offset?: number | undefined
  maxTokens: number
}

async function pieceOf(call: ToolCall, target: Target & { path: string }, asked: Asked): Promise<Piece> {
  const [, first, last = first] = PAGES.exec(asked.pages ?? '') ?? []
  if (first !== undefined) {
    const text = await textOfPages(call.api, target, { first: Number(first), last: Number(last) })
    return ofText(text, 'text/plain; charset=utf-8', asked)
  }
  const range = await rangeOf(call, target, asked)
  const from = Math.max(range.start, asked.offset ?? range.start)
  return ofFile(call, target, { start: from, end: range.end }, asked.maxTokens)
}

async function rangeOf(
  call: ToolCall,
  target: Target & { path: string },
  asked: Asked,
): Promise<Partial<Range> & { start: number }> {
  if (asked.section !== undefined) return sectionRange(call.api, target, asked.section)
  const range = { start: asked.start ?? 0, ...defined({ end: asked.end }) }
  if (asked.neighbours === 0 || asked.start === undefined) return range
  return paragraphsAround(call.api, target, { start: asked.start, end: asked.end ?? asked.start }, asked.neighbours)
}

function ofText(whole: string, contentType: string, { offset = 0, maxTokens }: Asked): Piece {
  checkInside(offset, whole.length)
  const { text, chars, isCut } = cutText(whole.slice(offset), maxTokens)
  return { contentType, text, offset, totalChars: whole.length, ...(isCut ? { nextOffset: offset + chars } : {}) }
}

/** An empty result would suggest that there is no text. */
function checkInside(offset: number, total: number): void {
  if (offset <= total) return
  throw new ToolError(
    'invalid-request',
    `the text has ${total} characters, fewer than the offset ${offset}`,
    'Give a smaller offset.',
  )
}

async function ofFile(
  call: ToolCall,
  { space, path }: Target & { path: string },
  { start, end }: { start: number; end?: number | undefined },
  tokens: number,
): Promise<Piece> {
  const maxBytes = Math.min(LIMITS.catBytes.max, tokens * BYTES_PER_TOKEN)
  const query = { path, offset: start, maxBytes }
  const file = await call.api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query })
  checkInside(start, file.totalChars)
  const wanted = end === undefined ? file.content : file.content.slice(0, Math.max(0, end - start))
  const { text, chars, isCut } = cutText(wanted, tokens)
  const reached = start + chars
  const stop = Math.min(end ?? file.totalChars, file.totalChars)
  return {
    contentType: file.contentType,
    text,
    offset: start,
    totalChars: file.totalChars,
    ...(isCut || reached < stop ? { nextOffset: reached } : {}),
  }
}
