import { z } from 'zod'
import { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { LIMITS } from '../../contract/limits.js'
import { ConcreteMode } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { fitting } from '../budget.js'
import { Writer } from '../content.js'
import { cursorAt, offsetOf } from '../cursors.js'
import { documentIdOf } from '../documents.js'
import { cursor, document, indexState, maxTokens, nextCursor, space } from '../fields.js'
import { absenceIn, indexStateOf } from '../index-state.js'
import { linksOf, type Passage, passage, passageOf, shortened, writePassage } from '../passages.js'
import { READS, type ToolCall, tool } from '../tool.js'

export const documentsOf = z
  .array(document)
  .max(LIMITS.activeIds)
  .optional()
  .describe('Only in these documents: ids, filenames or paths.')

/** The ids of the documents that arguments name. */
export async function activeDocuments(call: ToolCall, names: readonly string[], spaceName: string): Promise<string[]> {
  const found = await Promise.all(names.map((name) => documentIdOf(call.spaces, call.api, name, spaceName)))
  return found.map(({ documentId }) => documentId)
}

export const search = tool({
  name: 'search',
  title: 'Search passages',
  description:
    'Find the passages of documents that bear on a question or words, ranked by meaning and words, each with its document, section, page, score and freshness. Use it for facts and quotes; `ask` for a written answer; `grep` for exact strings. The answer tells whether the index is current: only then does finding nothing mean that it is not in the documents.',
  input: z.strictObject({
    query: z.string().min(1).max(LIMITS.queryText).describe('A question or words.'),
    space,
    documents: documentsOf,
    filter: DocumentFilter.optional().describe('Only documents that say this of themselves.'),
    mode: ConcreteMode.optional().describe('How hard to look; the default of the space where absent.'),
    limit: z.int().min(1).max(LIMITS.searchResults.max).default(LIMITS.searchResults.default).describe('Passages.'),
    maxTokens,
    cursor,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      passages: z.array(passage),
      degradedReasons: z.array(z.string()).describe('what could not be searched'),
      index: indexState,
      leftOut: z.int().describe('passages that were found and did not fit'),
      nextCursor,
    }),
  annotations: READS,
  run: async ({ maxTokens: budget, cursor: given, ...args }, call) => {
    const offset = offsetOf(given, args)
    const ref = await call.spaces.named(args.space)
    const documents = args.documents && (await activeDocuments(call, args.documents, ref.slug))
    const body = {
      query: args.query,
      limit: Math.min(LIMITS.searchResults.max, offset + args.limit),
      ...defined({ mode: args.mode, filter: args.filter, activeDocumentIds: documents }),
    }
    const [found, index] = await Promise.all([
      call.api.request('POST /knowledge-spaces/{id}/queries/search', { path: { id: ref.id }, body }),
      indexStateOf(call.api, ref.id),
    ])
    const all = found.items.slice(offset).flatMap((item, at) => passageOf(item, offset + at + 1, ref.slug) ?? [])
    const shown = fitted(all, budget)
    const leftOut = all.length - shown.length
    const next = leftOut > 0 ? cursorAt(offset + shown.length, args) : undefined
    const writer = new Writer()
    for (const reason of found.degradedReasons) writer.line(`Not everything could be searched: ${reason}.`)
    if (shown.length === 0) writer.line(await absenceIn(call.api, ref.id, 'No passage was found.', index))
    else if (!index.isCurrent) writer.line(`The index is not current: ${index.reasons.join('; ')}.`)
    for (const one of shown) writePassage(writer, one)
    if (next !== undefined) writer.line(`${leftOut} more did not fit: call again with cursor ${next}.`)
    const { degradedReasons } = found
    const data = { space: ref.slug, passages: shown, degradedReasons, index, leftOut, ...defined({ nextCursor: next }) }
    return { text: writer.text(), data, links: linksOf(shown) }
  },
})

/** As many passages as fit; the first is cut where it does not. */
export function fitted(passages: readonly Passage[], tokens: number): Passage[] {
  const count = fitting(passages, tokens, ({ text }) => text)
  const [first, ...rest] = passages.slice(0, count)
  return first === undefined ? [] : [shortened(first, tokens), ...rest]
}
