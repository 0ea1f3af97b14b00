import type { z } from 'zod'
import { pluralize } from '../lib/text/pluralize.js'
import type { GatewayApi } from './api.js'
import type { indexStateField } from './fields.js'

export type IndexState = z.output<typeof indexStateField>

/** Limit of the count; a larger number is no better reason to wait. */
const MAX_COUNTED_DOCUMENTS = 100

/** State of the index of a space. Unreadable documents do not make it out of date: waiting does not help. */
export async function getIndexState(
  api: GatewayApi,
  spaceId: string,
  degraded: readonly string[] = [],
): Promise<IndexState> {
  const countJobs = async (state: 'open' | 'failed') => {
    const { items } = await api.request('GET /knowledge-spaces/{id}/jobs', {
      path: { id: spaceId },
      query: { state, limit: MAX_COUNTED_DOCUMENTS },
    })
    return items.length
  }
  const [pendingDocuments, failedDocuments] = await Promise.all([countJobs('open'), countJobs('failed')])
  const reasons = [...degraded]
  if (pendingDocuments > 0)
    reasons.push(
      `${formatDocumentCount(pendingDocuments)} ${pendingDocuments === 1 ? 'is' : 'are'} still being read and cannot be found yet, or only in the previous version`,
    )
  const isCurrent = reasons.length === 0
  if (failedDocuments > 0) reasons.push(`${formatDocumentCount(failedDocuments)} could not be read and cannot be found`)
  return { isCurrent, pendingDocuments, failedDocuments, reasons }
}

function formatDocumentCount(documents: number): string {
  if (documents >= MAX_COUNTED_DOCUMENTS) return `${MAX_COUNTED_DOCUMENTS} documents or more`
  return pluralize(documents, 'document')
}

/** Hint for a name that is not found: it may belong to a document that is still being read. Empty if all were read. */
export async function describePending(api: GatewayApi, spaceId: string): Promise<string> {
  const { isCurrent, reasons } = await getIndexState(api, spaceId)
  return isCurrent ? '' : ` The index is NOT current, so it may appear later: ${reasons.join('; ')}.`
}

/** Coverage of a search without a hit. */
interface SearchCoverage {
  /** Read before the search: documents published since were not searched. */
  index: IndexState
  /** Parts that could not be searched. */
  degraded?: readonly string[] | undefined
  /** Description of the searched content, such as `the selected documents`. */
  searched?: string | undefined
}

/** Explains a search without a hit. @param absence sentence that nothing was found */
export function describeAbsence(
  absence: string,
  { index, degraded = [], searched = 'the documents' }: SearchCoverage,
): string {
  const reasons = [...degraded, ...index.reasons].join('; ')
  if (!index.isCurrent) return `${absence} The index is NOT current, so it may still be in ${searched}: ${reasons}.`
  if (degraded.length > 0)
    return `${absence} NOT everything could be searched, so it may still be in ${searched}: ${reasons}.`
  const coverageText = `${absence} The index is current: the search covered all of ${searched}`
  return reasons === ''
    ? `${coverageText}, for these terms.`
    : `${coverageText} that could be read, for these terms; ${reasons}.`
}

/** Explains a search without a hit, with a separate text for an empty space. */
export async function describeAbsenceInSpace(
  api: GatewayApi,
  spaceId: string,
  absence: string,
  coverage: SearchCoverage,
): Promise<string> {
  const { items } = await api.request('GET /knowledge-spaces/{id}/documents', {
    path: { id: spaceId },
    query: { limit: 1 },
  })
  if (items.length === 0 && coverage.index.isCurrent)
    return `${absence} The space has no documents yet: add some with \`ingest\`.`
  return describeAbsence(absence, coverage)
}
