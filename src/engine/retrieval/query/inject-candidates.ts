import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { SearchHit } from '../../search/index.js'

/**
 * Adds nodes to the rerank that hybrid recall did not find or ranked too low. Each gets at least the scores of the last
 * candidate before them; the comparison of texts decides from there.
 */
export function injectCandidates(
  hits: SearchHit[],
  keys: ReadonlySet<number>,
  last: SearchHit | undefined,
): SearchHit[] {
  const floor = last?.bm25 ?? Math.min(...hits.flatMap(({ bm25 }) => bm25 ?? []), Number.MAX_VALUE)
  const text = hits.some(({ bm25 }) => bm25 !== undefined) ? floor : undefined
  const known = new Map(hits.map((hit) => [hit.key, hit]))
  const raised = [...keys].map((key): SearchHit => {
    const hit = known.get(key)
    const bm25 = text === undefined ? undefined : Math.max(text, hit?.bm25 ?? 0)
    const cosine = hit?.cosine ?? last?.cosine
    return { key, ...omitUndefined({ bm25, cosine }) }
  })
  return [...hits.filter(({ key }) => !keys.has(key)), ...raised]
}
