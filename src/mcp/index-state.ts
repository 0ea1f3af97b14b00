import type { z } from 'zod'
import { counted } from '../lib/text/counted.js'
import type { Api } from './api.js'
import type { indexState } from './fields.js'

export type IndexState = z.output<typeof indexState>

/** documents that are counted at most; more are as good a reason to wait */
const COUNTED = 100

/** How current the index of a space is. What could not be read makes it no older: waiting does not help. */
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
      `${count(pendingDocuments)} ${pendingDocuments === 1 ? 'is' : 'are'} still being read and cannot be found yet, or only as before`,
    )
  const isCurrent = reasons.length === 0
  if (failedDocuments > 0) reasons.push(`${count(failedDocuments)} could not be read and cannot be found`)
  return { isCurrent, pendingDocuments, failedDocuments, reasons }
}

function count(documents: number): string {
  if (documents >= COUNTED) return `${COUNTED} documents or more`
  return counted(documents, 'document')
}

/** What a name that leads nowhere may be of yet: said behind what else to do; nothing where everything was read. */
export async function notReadYet(api: Api, spaceId: string): Promise<string> {
  const { isCurrent, reasons } = await indexStateOf(api, spaceId)
  return isCurrent ? '' : ` The index is NOT current, so it may come yet: ${reasons.join('; ')}.`
}

/** What was looked for, and what it had to do without. */
interface Lack {
  /** asked for before the search: what was published since was not searched */
  index: IndexState
  /** what could not be searched */
  degraded?: readonly string[] | undefined
  /** what was looked through */
  where?: string | undefined
}

/** What an answer without a hit means. */
export function absence(what: string, { index, degraded = [], where = 'the documents' }: Lack): string {
  const why = [...degraded, ...index.reasons].join('; ')
  if (!index.isCurrent) return `${what} The index is NOT current, so it may still be in ${where}: ${why}.`
  if (degraded.length > 0) return `${what} NOT everything could be searched, so it may still be in ${where}: ${why}.`
  const covered = `${what} The index is current: the search covered all of ${where}`
  return why === '' ? `${covered}, in these words.` : `${covered} that could be read, in these words; ${why}.`
}

/** The same; a space that holds nothing is told apart. */
export async function absenceIn(api: Api, spaceId: string, what: string, lack: Lack): Promise<string> {
  const { items } = await api.request('GET /knowledge-spaces/{id}/documents', {
    path: { id: spaceId },
    query: { limit: 1 },
  })
  if (items.length === 0 && lack.index.isCurrent)
    return `${what} The space holds no documents yet: \`ingest\` brings them.`
  return absence(what, lack)
}
