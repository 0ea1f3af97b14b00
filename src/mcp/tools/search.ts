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
  indexStateField,
  maxTokensField,
  nextCursorField,
  queryField,
  spaceField,
} from '../fields.js'
import { describeAbsenceInSpace, getIndexState } from '../index-state.js'
import { passageField, type ToolPassage, toLinks, toPassage, truncatePassage, writePassage } from '../passages.js'
import type { SessionAccess } from '../spaces.js'
import { defineTool, READ_ONLY } from '../tool.js'

export const documentsField = z
  .array(documentField)
  .max(LIMITS.activeIds)
  .optional()
  .describe('Search only these documents: ids, filenames or paths.')

/** Resolves documents that are named by id, filename, path or ks:// address. */
export async function resolveDocumentIds(
  access: SessionAccess,
  names: readonly string[],
  spaceName: string,
): Promise<string[]> {
  const resolved = await Promise.all(names.map((name) => resolveDocumentId(access, name, spaceName)))
  return resolved.map(({ documentId }) => documentId)
}

export const search = defineTool({
  name: 'search',
  title: 'Search passages',
  description:
    'Find passages relevant to a question or search terms, ranked by meaning and terms, each with its document, section, page, score and freshness. Use it for facts and quotes; use `ask` for a written answer and `grep` for exact strings. The result reports whether the index is current: only then does an empty result mean that all documents were searched.',
  input: z.strictObject({
    query: queryField.describe('Question or search terms.'),
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
      passages: z.array(passageField),
      searchedFor: z.array(TermCorrection).optional().describe('corrected words of the query'),
      degradedReasons: z.array(z.string()).describe('parts that could not be searched'),
      index: indexStateField,
      leftOut: z.int().describe('number of passages found that did not fit; more may follow'),
      nextCursor: nextCursorField,
    }),
  annotations: READ_ONLY,
  run: async ({ maxTokens, cursor, ...args }, call) => {
    const offset = parseCursor(cursor, args)
    const space = await call.spaces.resolve(args.space)
    const documents = args.documents && (await resolveDocumentIds(call, args.documents, space.slug))
    const resultLimit = Math.min(LIMITS.searchResults.max, offset + args.limit)
    const body = {
      query: args.query,
      limit: resultLimit,
      ...omitUndefined({ mode: args.mode, filter: args.filter, activeDocumentIds: documents }),
    }
    // Read before the search: documents published in between were not searched and must not count as such.
    const indexState = await getIndexState(call.api, space.id)
    const path = { id: space.id }
    const result = await call.api.request('POST /knowledge-spaces/{id}/queries/search', { path, body })
    const { items, degradedReasons, searchedFor } = result
    const passages = items.slice(offset).flatMap((item, index) => toPassage(item, offset + index + 1, space.slug) ?? [])
    const fitting = fitRetrievedPassages(passages, maxTokens)
    const leftOut = passages.length - fitting.length
    // A full list was limited.
    const isFull = items.length >= resultLimit && resultLimit < LIMITS.searchResults.max
    const nextCursor = leftOut > 0 || isFull ? formatCursor(offset + fitting.length, args) : undefined
    const writer = new ToolTextWriter()
    if (searchedFor !== undefined) writer.line(`Corrected words: ${formatCorrections(searchedFor)}.`)
    for (const reason of degradedReasons) writer.line(`Not everything could be searched: ${reason}.`)
    const coverage = { index: indexState, degraded: degradedReasons, searched: describeScope(args) }
    if (fitting.length === 0 && offset > 0) writer.line('There are no more passages.')
    else if (fitting.length === 0)
      writer.line(await describeAbsenceInSpace(call.api, space.id, 'No passage was found.', coverage))
    else if (!indexState.isCurrent) writer.line(`The index is not current: ${indexState.reasons.join('; ')}.`)
    for (const passage of fitting) writePassage(writer, passage)
    if (leftOut > 0) writer.line(`${leftOut} more did not fit: call again with cursor ${nextCursor}.`)
    else if (nextCursor !== undefined)
      writer.line(`Less relevant passages may follow: call again with cursor ${nextCursor}, or a larger limit.`)
    const data = {
      space: space.slug,
      passages: fitting,
      degradedReasons,
      index: indexState,
      leftOut,
      ...omitUndefined({ searchedFor, nextCursor }),
    }
    return { text: writer.text(), data, links: toLinks(fitting) }
  },
})

/** Describes the searched documents; undefined for the complete space. */
export function describeScope({ documents, filter }: { documents?: unknown; filter?: unknown }): string | undefined {
  return documents === undefined && filter === undefined ? undefined : 'the selected documents'
}

/** Selects the passages that fit; the first is truncated if necessary. */
export function fitRetrievedPassages(passages: readonly ToolPassage[], maxTokens: number): ToolPassage[] {
  const availableTokens = maxTokens - NOTICE_TOKENS
  const count = countFitting(passages, availableTokens, ({ text }) => text)
  const [first, ...rest] = passages.slice(0, count)
  return first === undefined ? [] : [truncatePassage(first, availableTokens - ITEM_OVERHEAD_TOKENS), ...rest]
}
