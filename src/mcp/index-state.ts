import type { z } from 'zod'
import type { Api } from './api.js'
import type { indexState } from './fields.js'

export type IndexState = z.output<typeof indexState>

/** documents that are counted at most; more are as good a reason to wait */
const COUNTED = 100

/** How current the index of a space is. */
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
      `${count(pendingDocuments)} ${pendingDocuments === 1 ? 'is' : 'are'} still being read and cannot be found yet`,
    )
  if (failedDocuments > 0) reasons.push(`${count(failedDocuments)} could not be read and cannot be found`)
  return { isCurrent: reasons.length === 0, pendingDocuments, failedDocuments, reasons }
}

function count(documents: number): string {
  if (documents >= COUNTED) return `${COUNTED} documents or more`
  return documents === 1 ? '1 document' : `${documents} documents`
}

/** What an answer without a hit means. */
export function absence({ isCurrent, reasons }: IndexState, what: string): string {
  if (isCurrent) return `${what} The index is current, so this is not in the documents (in these words).`
  return `${what} The index is NOT current, so it may still be in the documents: ${reasons.join('; ')}.`
}
