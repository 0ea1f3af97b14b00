import { z } from 'zod'
import { LIMITS } from '../../contract/limits.js'
import { count, positive } from '../../contract/primitives.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { truncateToTokens } from '../budget.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { findDocumentPath, resolveTarget } from '../documents.js'
import { ToolError } from '../failure.js'
import { documentField, maxTokensField, spaceField } from '../fields.js'
import { withPathSuggestions } from '../nearby.js'
import { type CharRange, expandByParagraphs, type FileWithPath, findSectionRange, getPageText } from '../parts.js'
import { defineTool, READ_ONLY, type ToolInvocation } from '../tool.js'
import { formatUri } from '../uri.js'

/** Maximum bytes of text that a token stands for. */
const BYTES_PER_TOKEN = 8
const MAX_NEIGHBOURS = 20

const PAGES_PATTERN = /^(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?$/

export const read = defineTool({
  name: 'read',
  title: 'Read a document',
  description:
    'Read the text of a document: all of it, a section by its title, a range of pages, or a passage with the paragraphs around it (start and end from `search`, with neighbours). If the text does not fit, the result has a nextOffset.',
  input: z.strictObject({
    document: documentField,
    space: spaceField,
    section: z.string().min(1).max(1000).optional().describe('Title of a section, or its path joined by " > ".'),
    pages: z
      .string()
      .regex(PAGES_PATTERN, 'a page or a range of pages, such as 3 or 3-5')
      .optional()
      .describe('Page or range of pages, such as 3 or 3-5.'),
    start: count.optional().describe('Offset of the first character.'),
    end: count.optional().describe('Offset after the last character.'),
    neighbours: z
      .int()
      .min(0)
      .max(MAX_NEIGHBOURS)
      .default(0)
      .describe('Number of paragraphs to add before start and after end.'),
    offset: count.optional().describe('nextOffset of the previous result, to continue; keep the other arguments.'),
    maxTokens: maxTokensField,
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
  annotations: READ_ONLY,
  run: async (args, call) => {
    const selectors = [args.section, args.pages, args.start ?? args.end].filter((selector) => selector !== undefined)
    if (selectors.length > 1)
      throw new ToolError('invalid-request', 'section, pages and start exclude each other', 'Give one.')
    if (args.neighbours > 0 && args.start === undefined)
      throw new ToolError('invalid-request', 'neighbours requires start', 'Give start and end of a passage.')
    if ((args.end ?? Number.POSITIVE_INFINITY) < (args.start ?? 0))
      throw new ToolError(
        'invalid-request',
        `end is before start: ${args.end} < ${args.start}`,
        'Give both of one passage.',
      )
    const target = await resolveTarget(call, args.document, args.space)
    const path = target.path ?? (await findDocumentPath(call.api, target.space, target.documentId ?? ''))
    const part = await withPathSuggestions(call.api, target.space, path, () =>
      readPart(call, { ...target, path }, args),
    )
    const uri = formatUri({ space: target.space.slug, path })
    const data = { space: target.space.slug, path, uri, ...part }
    const writer = new ToolTextWriter()
    const end = part.offset + part.text.length
    writer.line(`${uri} characters ${part.offset}–${end} of ${part.totalChars}`).content(part.text)
    if (part.nextOffset !== undefined) writer.line(`There is more: call again with offset ${part.nextOffset}.`)
    return { text: writer.text(), data, links: [{ uri, name: toOneLine(path), mimeType: part.contentType }] }
  },
})

interface TextPart {
  contentType: string
  text: string
  offset: number
  totalChars: number
  nextOffset?: number
}

interface ReadToolRequest {
  section?: string | undefined
  pages?: string | undefined
  start?: number | undefined
  end?: number | undefined
  neighbours: number
  offset?: number | undefined
  maxTokens: number
}

async function readPart(call: ToolInvocation, target: FileWithPath, request: ReadToolRequest): Promise<TextPart> {
  const [, first, last = first] = PAGES_PATTERN.exec(request.pages ?? '') ?? []
  if (first !== undefined) {
    const text = await getPageText(call.api, target, { first: Number(first), last: Number(last) })
    return truncatePageText(text, request)
  }
  const range = await resolveRange(call, target, request)
  const start = Math.max(range.start, request.offset ?? range.start)
  return readFilePart(call, target, { start, end: range.end }, request.maxTokens)
}

async function resolveRange(
  call: ToolInvocation,
  target: FileWithPath,
  request: ReadToolRequest,
): Promise<Partial<CharRange> & { start: number }> {
  if (request.section !== undefined) return findSectionRange(call.api, target, request.section)
  const range = { start: request.start ?? 0, ...omitUndefined({ end: request.end }) }
  if (request.neighbours === 0 || request.start === undefined) return range
  return expandByParagraphs(
    call.api,
    target,
    { start: request.start, end: request.end ?? request.start },
    request.neighbours,
  )
}

function truncatePageText(fullText: string, { offset = 0, maxTokens }: ReadToolRequest): TextPart {
  checkOffset(offset, fullText.length)
  const { text, chars, isTruncated } = truncateToTokens(fullText.slice(offset), maxTokens)
  return {
    contentType: 'text/plain; charset=utf-8',
    text,
    offset,
    totalChars: fullText.length,
    ...(isTruncated ? { nextOffset: offset + chars } : {}),
  }
}

/** An empty result would suggest that there is no text. @throws ToolError if the offset is after the end */
function checkOffset(offset: number, total: number): void {
  if (offset <= total) return
  throw new ToolError(
    'invalid-request',
    `the text has ${total} characters, fewer than the offset ${offset}`,
    'Give a smaller offset.',
  )
}

async function readFilePart(
  call: ToolInvocation,
  { space, path }: FileWithPath,
  { start, end }: { start: number; end?: number | undefined },
  maxTokens: number,
): Promise<TextPart> {
  const maxBytes = Math.min(LIMITS.catBytes.max, maxTokens * BYTES_PER_TOKEN)
  const query = { path, offset: start, maxBytes }
  const file = await call.api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query })
  checkOffset(start, file.totalChars)
  const content = end === undefined ? file.content : file.content.slice(0, Math.max(0, end - start))
  const { text, chars, isTruncated } = truncateToTokens(content, maxTokens)
  const partEnd = start + chars
  const rangeEnd = Math.min(end ?? file.totalChars, file.totalChars)
  return {
    contentType: file.contentType,
    text,
    offset: start,
    totalChars: file.totalChars,
    ...(isTruncated || partEnd < rangeEnd ? { nextOffset: partEnd } : {}),
  }
}
