import { z } from 'zod'
import type { EvidenceItem } from '../contract/gateway/queries.js'
import type { RetrievedPassage } from '../contract/gateway/search.js'
import { toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { pluralize } from '../lib/text/pluralize.js'
import { truncateToTokens } from './budget.js'
import { type ResourceLinkTarget, type ToolTextWriter, toOneLine } from './content.js'
import { locationFields } from './fields.js'
import { formatUri } from './uri.js'

/** A passage in the result of a tool. */
export const passageField = z.strictObject({
  number: z.int().describe('number of its citation, such as [1], in the answer'),
  ...locationFields,
  text: z.string(),
  isCut: z.boolean().describe('whether the text is truncated'),
  score: z.number(),
  copies: z.int().exactOptional().describe('number of other documents with the same passage'),
  freshness: z
    .enum(['fresh', 'stale', 'unknown'])
    .describe('stale: the file has changed or was deleted, or a newer version is being read'),
})
export type ToolPassage = z.output<typeof passageField>

export function toPassage(
  item: RetrievedPassage | EvidenceItem,
  number: number,
  space: string,
): ToolPassage | undefined {
  const [citation] = item.citations
  if (citation === undefined) return undefined
  const { documentAssetId: documentId, sectionPath, pageNumber, startOffset, endOffset } = citation
  return {
    number,
    document: toNonEmptyString(item.metadata.filename) ?? documentId,
    documentId,
    uri: formatUri({ space, documentId }),
    section: sectionPath,
    ...omitUndefined({ page: pageNumber, start: startOffset, end: endOffset }),
    text: item.text,
    isCut: false,
    score: item.score,
    freshness: item.freshness,
    ...(typeof item.metadata.copies === 'number' ? { copies: item.metadata.copies } : {}),
  }
}

/** The passage with its text truncated to a number of tokens. */
export function truncatePassage(passage: ToolPassage, tokens: number): ToolPassage {
  const { text, isTruncated } = truncateToTokens(passage.text, tokens)
  return isTruncated ? { ...passage, text, isCut: isTruncated } : passage
}

export function writePassage(writer: ToolTextWriter, { number, uri, ...passage }: ToolPassage): void {
  const location = [...passage.section, ...(passage.page === undefined ? [] : [`p. ${passage.page}`])].join(' › ')
  const range = passage.start === undefined ? '' : ` characters ${passage.start}–${passage.end ?? ''}`
  const stale = passage.freshness === 'stale' ? '; STALE: the file has changed or was deleted' : ''
  const copies = passage.copies === undefined ? '' : `; also in ${pluralize(passage.copies, 'document')}`
  writer.line(`[${number}] score ${passage.score}, ${passage.freshness}${stale}; ${uri}${range}${copies}`)
  writer.content(
    `${toOneLine(passage.document)}${location === '' ? '' : ` › ${toOneLine(location)}`}\n${passage.text}${passage.isCut ? '\n…' : ''}`,
  )
  if (passage.isCut) writer.line('Truncated: `read` with its start and end returns the complete passage.')
}

export function toLinks(passages: readonly ToolPassage[]): ResourceLinkTarget[] {
  return passages.map(({ uri, document }) => ({ uri, name: document }))
}
