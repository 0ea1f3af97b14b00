import { KsError } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { MAX_FILTER_DOCS, MAX_K } from './limits.js'
import type { SearchHit, SearchHits, SearchRequest } from './ports.js'
import type { SearchMessage, SearchReply } from './protocol.js'
import { allFinite } from './scan.kernel.js'

/** @throws KsError `invalid-request` for a vector that is not finite or a filter with too many documents */
export function toSearchMessage(space: string, request: SearchRequest): SearchMessage {
  const { terms, compounds, vector, vectorSpace, docs, scope, wantsBackground } = request
  if (vector !== undefined && !allFinite(vector)) {
    throw new KsError('invalid-request', 'a query vector must contain only finite numbers')
  }
  if (docs !== undefined && docs.length > MAX_FILTER_DOCS) {
    throw new KsError('invalid-request', `a filter names at most ${MAX_FILTER_DOCS} documents, not ${docs.length}`)
  }
  return {
    op: 'search',
    space,
    terms,
    textK: clampK(request.textK),
    vectorK: clampK(request.vectorK),
    ...omitUndefined({ compounds, vector }),
    ...(vector === undefined || vectorSpace === undefined ? {} : { vectorSpace }),
    ...(docs === undefined ? {} : { docs: Float64Array.from(docs) }),
    ...(scope === undefined ? {} : { scope: { ...scope, docs: Float64Array.from(scope.docs) } }),
    ...(wantsBackground === true ? { wantsBackground } : {}),
  }
}

function clampK(k: number): number {
  return Number.isFinite(k) ? Math.max(1, Math.min(MAX_K, Math.floor(k))) : 1
}

/** @param reasons degraded reasons known before the search */
export function toSearchHits(reply: SearchReply, reasons: string[]): SearchHits {
  const { keys, bm25, cosine, degraded, ...facts } = reply
  const hits: SearchHit[] = []
  for (const [i, key] of keys.entries()) {
    const hit: SearchHit = { key }
    const textScore = bm25[i] ?? Number.NaN
    const cosineValue = cosine[i] ?? Number.NaN
    if (!Number.isNaN(textScore)) hit.bm25 = textScore
    if (!Number.isNaN(cosineValue)) hit.cosine = cosineValue
    hits.push(hit)
  }
  return { hits, ...facts, degraded: [...reasons, ...degraded] }
}
