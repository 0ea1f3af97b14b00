import { z } from 'zod'
import { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { TermCorrection } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import { ConcreteMode } from '../../contract/primitives.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { formatCorrections } from '../../lib/text/format-corrections.js'
import { countFitting, ITEM_OVERHEAD_TOKENS, NOTICE_TOKENS } from '../budget.js'
import { ToolTextWriter } from '../content.js'
import { formatCursor, parseCursor } from '../cursors.js'
import { resolveDocumentId } from '../documents.js'
import {
  cursorField,
  documentField,
  indexState,
  maxTokensField,
  nextCursorField,
  queryText,
  spaceField,
} from '../fields.js'
import { describeAbsenceInSpace, getIndexState } from '../index-state.js'
import { passage, type ToolPassage, toLinks, toPassage, truncatePassage, writePassage } from '../passages.js'
import { defineTool, READ_ONLY, type ToolInvocation } from '../tool.js'

export const documentsField = z
  .array(documentField)
  .max(LIMITS.activeIds)
  .optional()
  .describe('Search only these documents: ids, filenames or paths.')

/** The ids of the documents in the arguments. */
export async function resolveDocumentIds(
  call: ToolInvocation,
  names: readonly string[],
  spaceName: string,
): Promise<string[]> {
  const found = await Promise.all(names.map((name) => resolveDocumentId(call.spaces, call.api, name, spaceName)))
  return found.map(({ documentId }) => documentId)
}

export const search = defineTool({
  name: 'search',
  title: 'Search passages',
  description:
    'Find passages relevant to a question or search terms, ranked by meaning and terms, each with its document, section, page, score and freshness. Use it for facts and quotes; use `ask` for a written answer and `grep` for exact strings. The result reports whether the index is current: only then does an empty result mean that all documents were searched.',
  input: z.strictObject({
    query: queryText.describe('Question or search terms.'),
    space: spaceField,
    documents: documentsField,
    filter: DocumentFilter.optional().describe('Only documents whose own metadata matches.'),
    mode: ConcreteMode.optional().describe('Depth of the search. Default: the mode of the space.'),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.searchResults.max)
      .default(LIMITS.searchResults.default)
      .describe('Maximum number of passages.'),
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      passages: z.array(passage),
      searchedFor: z.array(TermCorrection).optional().describe('corrected words of the query'),
      degradedReasons: z.array(z.string()).describe('parts that could not be searched'),
      index: indexState,
      leftOut: z.int().describe('number of passages found that did not fit; more may follow'),
      nextCursor: nextCursorField,
    }),
  annotations: READ_ONLY,
  run: async ({ maxTokens: budget, cursor, ...args }, call) => {
    const offset = parseCursor(cursor, args)
    const ref = await call.spaces.resolve(args.space)
    const documents = args.documents && (await resolveDocumentIds(call, args.documents, ref.slug))
    const resultLimit = Math.min(LIMITS.searchResults.max, offset + args.limit)
    const body = {
      query: args.query,
      limit: resultLimit,
      ...omitUndefined({ mode: args.mode, filter: args.filter, activeDocumentIds: documents }),
    }
    // Read before the search: documents published in between were not searched and must not count as such.
    const index = await getIndexState(call.api, ref.id)
    const found = await call.api.request('POST /knowledge-spaces/{id}/queries/search', { path: { id: ref.id }, body })
    const all = found.items.slice(offset).flatMap((item, at) => toPassage(item, offset + at + 1, ref.slug) ?? [])
    const shown = fitRetrievedPassages(all, budget)
    const leftOut = all.length - shown.length
    // A full list was limited.
    const isFull = found.items.length >= resultLimit && resultLimit < LIMITS.searchResults.max
    const next = leftOut > 0 || isFull ? formatCursor(offset + shown.length, args) : undefined
    const writer = new ToolTextWriter()
    if (found.searchedFor !== undefined) writer.line(`Corrected words: ${formatCorrections(found.searchedFor)}.`)
    for (const reason of found.degradedReasons) writer.line(`Not everything could be searched: ${reason}.`)
    const coverage = { index, degraded: found.degradedReasons, where: describeScope(args) }
    if (shown.length === 0 && offset > 0) writer.line('There are no more passages.')
    else if (shown.length === 0)
      writer.line(await describeAbsenceInSpace(call.api, ref.id, 'No passage was found.', coverage))
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
      ...omitUndefined({ searchedFor, nextCursor: next }),
    }
    return { text: writer.text(), data, links: toLinks(shown) }
  },
})

/** Description of the searched documents, unless it is the complete space. */
export function describeScope({ documents, filter }: { documents?: unknown; filter?: unknown }): string | undefined {
  return documents === undefined && filter === undefined ? undefined : 'the selected documents'
}

/** The passages that fit; the first is truncated if necessary. */
export function fitRetrievedPassages(passages: readonly ToolPassage[], tokens: number): ToolPassage[] {
  const availableTokens = tokens - NOTICE_TOKENS
  const count = countFitting(passages, availableTokens, ({ text }) => text)
  const [first, ...rest] = passages.slice(0, count)
  return first === undefined ? [] : [truncatePassage(first, availableTokens - ITEM_OVERHEAD_TOKENS), ...rest]
}
