import { checkLocalFiles, type EngineContext, type FileState } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { filterStaleDocuments, type PassageRow } from '../../store/rows/queries.js'

/** Age at which a document counts half as fresh, by its own date if it has one. */
const HALF_LIFE_MS = 365 * 24 * 3600 * 1000

export interface Freshness {
  state: 'fresh' | 'stale'
  /** 1 today, 0.5 after a year; halved while a newer version is not published yet */
  score: number
  /** state of the file on this machine from which the document was made, when known */
  file?: FileState
}

/** When a passage's document was stored, and its own date. */
type DatedPassage = Pick<PassageRow, 'doc_key' | 'published_at' | 'document_date'>

/**
 * Computes how fresh passages are, by document key. A document is stale when a newer version is accepted but not yet
 * published, or when its web page was not found at the last check. Ranking does not use freshness: an old passage may
 * be the right one.
 */
export function* computeFreshness(passages: readonly DatedPassage[], now: number): Read<Map<number, Freshness>> {
  const docs = [...new Set(passages.map(({ doc_key }) => doc_key))]
  const replaced = yield* filterStaleDocuments(docs)
  return new Map(
    passages.map(({ doc_key, published_at, document_date }) => {
      const time = document_date === null ? published_at : Date.parse(document_date)
      const ageFactor = 0.5 ** (Math.max(0, now - time) / HALF_LIFE_MS)
      const stale = replaced.has(doc_key)
      return [doc_key, { state: stale ? 'stale' : 'fresh', score: stale ? ageFactor / 2 : ageFactor }]
    }),
  )
}

/** Like `computeFreshness`, and also checks the source files: a changed or deleted file makes its document stale. */
export async function computeFreshnessWithFiles(
  context: EngineContext,
  passages: readonly DatedPassage[],
): Promise<Map<number, Freshness>> {
  const fresh = await context.db.read(computeFreshness(passages, context.now()))
  for (const [key, file] of await checkLocalFiles(context, [...fresh.keys()])) {
    const known = fresh.get(key)
    if (known === undefined) continue
    const becameStale = file !== 'verified' && known.state === 'fresh'
    fresh.set(key, becameStale ? { state: 'stale', score: known.score / 2, file } : { ...known, file })
  }
  return fresh
}
