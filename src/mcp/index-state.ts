import type { z } from 'zod'
import { counted } from '../lib/text/counted.js'
import type { Api } from './api.js'
import type { indexState } from './fields.js'

export type IndexState = z.output<typeof indexState>

/** Limit of the count; a larger number is no better reason to wait. */
const COUNTED = 100

/** State of the index of a space. Unreadable documents do not make it out of date: waiting does not help. */
export async function indexStateOf(api: Api, spaceId: string, degraded: readonly string[] = []): Promise<IndexState> {
  const jobs = async (state: 'open' | 'failed') => {
    const { items } = await api.request('GET /knowledge-spaces/{id}/jobs', {
      path: { id: spaceId },
      query: { state, limit: COUNTED },
    })
    return items.length
  }
  const [pendingDocuments, failedDocuments] = await Promise.all([jobs('open'), jobs('failed')])
  const reasons = [...degraded]
  if (pendingDocuments > 0)
    reasons.push(
      `${count(pendingDocuments)} ${pendingDocuments === 1 ? 'is' : 'are'} still being read and cannot be found yet, or only in the previous version`,
    )
  const isCurrent = reasons.length === 0
  if (failedDocuments > 0) reasons.push(`${count(failedDocuments)} could not be read and cannot be found`)
  return { isCurrent, pendingDocuments, failedDocuments, reasons }
}

function count(documents: number): string {
  if (documents >= COUNTED) return `${COUNTED} documents or more`
  return counted(documents, 'document')
}

/** Hint for a name that is not found: it may belong to a document that is still being read. Empty if all were read. */
export async function notReadYet(api: Api, spaceId: string): Promise<string> {
  const { isCurrent, reasons } = await indexStateOf(api, spaceId)
  return isCurrent ? '' : ` The index is NOT current, so it may appear later: ${reasons.join('; ')}.`
}

/** Coverage of a search without a hit. */
interface Lack {
  /** Read before the search: documents published since were not searched. */
  index: IndexState
  /** Parts that could not be searched. */
  degraded?: readonly string[] | undefined
  /** Description of the searched content. */
  where?: string | undefined
}

/** Explains a search without a hit. */
export function absence(what: string, { index, degraded = [], where = 'the documents' }: Lack): string {
  const why = [...degraded, ...index.reasons].join('; ')
  if (!index.isCurrent) return `${what} The index is NOT current, so it may still be in ${where}: ${why}.`
  if (degraded.length > 0) return `${what} NOT everything could be searched, so it may still be in ${where}: ${why}.`
  const covered = `${what} The index is current: the search covered all of ${where}`
  return why === '' ? `${covered}, for these terms.` : `${covered} that could be read, for these terms; ${why}.`
}

/** Explains a search without a hit, with a separate text for an empty space. */
export async function absenceIn(api: Api, spaceId: string, what: string, lack: Lack): Promise<string> {
  const { items } = await api.request('GET /knowledge-spaces/{id}/documents', {
    path: { id: spaceId },
    query: { limit: 1 },
  })
  if (items.length === 0 && lack.index.isCurrent)
    return `${what} The space has no documents yet: add some with \`ingest\`.`
  return absence(what, lack)
}
