import type { EngineContext } from '../context.js'
import { type FileState, fileStates } from '../local-files/file-state.js'
import { type PassageRow, staleDocuments } from '../rows/queries.js'
import type { Read } from '../storage/program.js'

/** Age at which what a document says counts half as fresh, by its own date where it has one. */
const HALF_LIFE_MILLISECONDS = 365 * 24 * 3600 * 1000

export interface Freshness {
  state: 'fresh' | 'stale'
  /** 1 for what is of today, 0.5 after a year; half of that while a newer version waits to be published */
  score: number
  /** how the file of this machine that the document was made from stands to it, where that is known */
  file?: FileState
}

/** When a passage's document was stored, and when it says it is from. */
type Dated = Pick<PassageRow, 'doc_key' | 'published_at' | 'document_date'>

/**
 * How fresh passages are, by document key: stale is what a newer version of its document, already accepted, is about to
 * replace, and a web page that was not found when it was last looked for. Ranking does not use it: an old passage may be the right one.
 */
export function* freshnessOf(passages: readonly Dated[], now: number): Read<Map<number, Freshness>> {
  const docs = [...new Set(passages.map(({ doc_key }) => doc_key))]
  const replaced = yield* staleDocuments(docs)
  return new Map(
    passages.map(({ doc_key, published_at, document_date }) => {
      const dated = document_date === null ? published_at : Date.parse(document_date)
      const aged = 0.5 ** (Math.max(0, now - dated) / HALF_LIFE_MILLISECONDS)
      const stale = replaced.has(doc_key)
      return [doc_key, { state: stale ? 'stale' : 'fresh', score: stale ? aged / 2 : aged }]
    }),
  )
}

/** The same, with a look at the files that the documents were made from: one that changed or is gone makes them stale. */
export async function freshnessNow(
  context: EngineContext,
  passages: readonly Dated[],
): Promise<Map<number, Freshness>> {
  const fresh = await context.db.read(freshnessOf(passages, Date.now()))
  for (const [key, file] of await fileStates(context, [...fresh.keys()])) {
    const known = fresh.get(key)
    if (known === undefined) continue
    const turned = file !== 'verified' && known.state === 'fresh'
    fresh.set(key, turned ? { state: 'stale', score: known.score / 2, file } : { ...known, file })
  }
  return fresh
}
