import { z } from 'zod'
import type { EvidenceItem } from '../contract/gateway/queries.js'
import type { FoundPassage } from '../contract/gateway/search.js'
import { defined } from '../lib/defined.js'
import { textOf } from '../lib/json/values.js'
import { cutText } from './budget.js'
import { type Link, oneLine, type Writer } from './content.js'
import { place } from './fields.js'
import { uriOf } from './uri.js'

/** A passage in the result of a tool. */
export const passage = z.strictObject({
  number: z.int().describe('number of its citation, such as [1], in the answer'),
  ...place,
  text: z.string(),
  isCut: z.boolean().describe('whether the text is truncated'),
  score: z.number(),
  freshness: z
    .enum(['fresh', 'stale', 'unknown'])
    .describe('stale: the file has changed or was deleted, or a newer version is being read'),
})
export type Passage = z.output<typeof passage>

export function passageOf(item: FoundPassage | EvidenceItem, number: number, space: string): Passage | undefined {
  const [citation] = item.citations
  if (citation === undefined) return undefined
  const { documentAssetId: documentId, sectionPath, pageNumber, startOffset, endOffset } = citation
  return {
    number,
    document: textOf(item.metadata.filename) ?? documentId,
    documentId,
    uri: uriOf({ space, documentId }),
    section: sectionPath,
    ...defined({ page: pageNumber, start: startOffset, end: endOffset }),
    text: item.text,
    isCut: false,
    score: item.score,
    freshness: item.freshness,
  }
}

/** The passage with its text truncated to a number of tokens. */
export function shortened(passage: Passage, tokens: number): Passage {
  const { text, isCut } = cutText(passage.text, tokens)
  return isCut ? { ...passage, text, isCut } : passage
}

export function writePassage(writer: Writer, { number, uri, ...passage }: Passage): void {
  const where = [...passage.section, ...(passage.page === undefined ? [] : [`p. ${passage.page}`])].join(' › ')
  const range = passage.start === undefined ? '' : ` characters ${passage.start}–${passage.end ?? ''}`
  const stale = passage.freshness === 'stale' ? '; STALE: the file has changed or was deleted' : ''
  writer.line(`[${number}] score ${passage.score}, ${passage.freshness}${stale}; ${uri}${range}`)
  writer.content(
    `${oneLine(passage.document)}${where === '' ? '' : ` › ${oneLine(where)}`}\n${passage.text}${passage.isCut ? '\n…' : ''}`,
  )
  if (passage.isCut) writer.line('Truncated: `read` with its start and end returns the complete passage.')
}

export function linksOf(passages: readonly Passage[]): Link[] {
  return passages.map(({ uri, document }) => ({ uri, name: document }))
}
