import { z } from 'zod'
import { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { SearchedFor } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import { ConcreteMode } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { searchedForText } from '../../lib/text/searched-for.js'
import { fitting, ITEM_OVERHEAD, NOTICE_TOKENS } from '../budget.js'
import { Writer } from '../content.js'
import { cursorAt, offsetOf } from '../cursors.js'
import { documentIdOf } from '../documents.js'
import { cursor, document, indexState, maxTokens, nextCursor, queryText, space } from '../fields.js'
import { absenceIn, indexStateOf } from '../index-state.js'
import { linksOf, type Passage, passage, passageOf, shortened, writePassage } from '../passages.js'
import { READS, type ToolCall, tool } from '../tool.js'

export const documentsOf = z
  .array(document)
  .max(LIMITS.activeIds)
  .optional()
  .describe('Search only these documents: ids, filenames or paths.')

/** The ids of the documents in the arguments. */
export async function activeDocuments(call: ToolCall, names: readonly string[], spaceName: string): Promise<string[]> {
  const found = await Promise.all(names.map((name) => documentIdOf(call.spaces, call.api, name, spaceName)))
  return found.map(({ documentId }) => documentId)
}

export const search = tool({
  name: 'search',
  title: 'Search passages',
  description:
    'Find passages relevant to a question or search terms, ranked by meaning and terms, each with its document, section, page, score and freshness. Use it for facts and quotes; use `ask` for a written answer and `grep` for exact strings. The result reports whether the index is current: only then does an empty result mean that all documents were searched.',
  input: z.strictObject({
    query: queryText.describe('Question or search terms.'),
    space,
    documents: documentsOf,
    filter: DocumentFilter.optional().describe('Only documents whose own metadata matches.'),
    mode: ConcreteMode.optional().describe('Depth of the search. Default: the mode of the space.'),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.searchResults.max)
      .default(LIMITS.searchResults.default)
      .describe('Maximum number of passages.'),
    maxTokens,
    cursor,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      passages: z.array(passage),
      searchedFor: z.array(SearchedFor).optional().describe('corrected words of the query'),
      degradedReasons: z.array(z.string()).describe('parts that could not be searched'),
      index: indexState,
      leftOut: z.int().describe('number of passages found that did not fit; more may follow'),
      nextCursor,
    }),
  annotations: READS,
  run: async ({ maxTokens: budget, cursor: given, ...args }, call) => {
    const offset = offsetOf(given, args)
    const ref = await call.spaces.named(args.space)
    const documents = args.documents && (await activeDocuments(call, args.documents, ref.slug))
    const wanted = Math.min(LIMITS.searchResults.max, offset + args.limit)
    const body = {
      query: args.query,
      limit: wanted,
      ...defined({ mode: args.mode, filter: args.filter, activeDocumentIds: documents }),
    }
    // Read before the search: documents published in between were not searched and must not count as such.
    const index = await indexStateOf(call.api, ref.id)
    const found = await call.api.request('POST /knowledge-spaces/{id}/queries/search', { path: { id: ref.id }, body })
    const all = found.items.slice(offset).flatMap((item, at) => passageOf(item, offset + at + 1, ref.slug) ?? [])
    const shown = fitted(all, budget)
    const leftOut = all.length - shown.length
    // A full list was limited.
    const isFull = found.items.length >= wanted && wanted < LIMITS.searchResults.max
    const next = leftOut > 0 || isFull ? cursorAt(offset + shown.length, args) : undefined
    const writer = new Writer()
    if (found.searchedFor !== undefined) writer.line(`Corrected words: ${searchedForText(found.searchedFor)}.`)
    for (const reason of found.degradedReasons) writer.line(`Not everything could be searched: ${reason}.`)
    const lack = { index, degraded: found.degradedReasons, where: whereOf(args) }
    if (shown.length === 0 && offset > 0) writer.line('There are no more passages.')
    else if (shown.length === 0) writer.line(await absenceIn(call.api, ref.id, 'No passage was found.', lack))
    else if (!index.isCurrent) writer.line(`The index is not current: ${index.reasons.join('; ')}.`)
    for (const one of shown) writePassage(writer, one)
    if (leftOut > 0) writer.line(`${leftOut} more did not fit: call again with cursor ${next}.`)
    else if (next !== undefined)
      writer.line(`Less relevant passages may follow: call again with cursor ${next}, or a larger limit.`)
    const { degradedReasons, searchedFor } = found
    const data = {
      space: ref.slug,
      passages: shown,
      degradedReasons,
      index,
      leftOut,
      ...defined({ searchedFor, nextCursor: next }),
    }
    return { text: writer.text(), data, links: linksOf(shown) }
  },
})

/** Description of the searched documents, unless it is the complete space. */
export function whereOf({ documents, filter }: { documents?: unknown; filter?: unknown }): string | undefined {
  return documents === undefined && filter === undefined ? undefined : 'the selected documents'
}

/** The passages that fit; the first is truncated if necessary. */
export function fitted(passages: readonly Passage[], tokens: number): Passage[] {
  const room = tokens - NOTICE_TOKENS
  const count = fitting(passages, room, ({ text }) => text)
  const [first, ...rest] = passages.slice(0, count)
  return first === undefined ? [] : [shortened(first, room - ITEM_OVERHEAD), ...rest]
}
