import { mkdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MAX_K } from './limits.js'
import type { DocumentScope } from './ports.js'
import {
  buildSchema,
  type DocAddress,
  type TantivyBinding,
  type TantivyHandle,
  type TantivyQuery,
  type TantivySchema,
  type TantivySearcher,
} from './tantivy-binding.js'
import { checkTantivyFiles } from './tantivy-files.js'
import {
  countTermNodes,
  DamagedIndexError,
  type TextHits,
  type TextIndex,
  type TextIndexOptions,
  type TextNode,
  type TextSearchOptions,
  type WeightedRewording,
  type WeightedTerm,
  weighRewordings,
  weighTerms,
} from './text-index.js'
import { TextThreadWriter } from './text-thread.js'
import { LaggedWatermark, readWatermark, writeWatermark } from './watermark.js'

/**
 * Tantivy with its hazards contained. The binding crashes the process on several inputs, so queries are built from
 * objects, never parsed; limits are checked here; a document's address is used only with the searcher that returned it;
 * and long loops yield to the event loop, because native objects are freed there. This file reads; `text-thread.ts`
 * writes.
 */

const MAX_CALLS_PER_TURN = 100
/** Keys cached by address until the next commit: reading a stored key costs a few microseconds. */
const MAX_CACHED_KEYS = 100_000
/** Delay after a commit; segments merge in the background, and the reader then switches to the merged ones. */
const RELOAD_DELAY_MS = 1_000

/** A clause of a boolean query. */
interface BooleanClause {
  occur: number
  query: TantivyQuery
}

/**
 * Opens or creates the index in a directory.
 *
 * @throws DamagedIndexError when the files are not intact
 */
export async function openTantivy(
  binding: TantivyBinding,
  dir: string,
  { log, watermarkLagMs }: TextIndexOptions,
): Promise<TextIndex> {
  await mkdir(dir, { recursive: true })
  const schema = buildSchema(binding)
  const exists = await checkTantivyFiles(dir, JSON.parse(schema.toJSON()))
  // content of unknown age counts as 0: the index is emptied and refilled
  const watermark = (exists ? await readWatermark(dir, log) : 0) ?? 0
  const watermarks = new LaggedWatermark({
    lagMs: watermarkLagMs,
    store: (seq) => writeWatermark(dir, seq),
    onError: (error) => log(`a watermark was not written: ${String(error)}`),
  })
  try {
    const handle = new binding.Index(schema, dir, true)
    handle.configReader('manual')
    return new TantivyText({ binding, schema, handle }, new TextThreadWriter(dir), watermark, watermarks)
  } catch (error) {
    throw new DamagedIndexError(`${dir} cannot be opened: ${String(error)}`, { cause: error })
  }
}

class TantivyText implements TextIndex {
  readonly engine = 'tantivy'
  watermark: number
  readonly #binding: TantivyBinding
  readonly #schema: TantivySchema
  readonly #handle: TantivyHandle
  readonly #watermarks: LaggedWatermark
  readonly #writer: TextThreadWriter
  /** whether anything was staged since the last commit */
  #staged = false
  #searcher: TantivySearcher
  #keys = new Map<number, number>()
  #reload: NodeJS.Timeout | undefined

  constructor(
    { binding, schema, handle }: { binding: TantivyBinding; schema: TantivySchema; handle: TantivyHandle },
    writer: TextThreadWriter,
    watermark: number,
    watermarks: LaggedWatermark,
  ) {
    this.#binding = binding
    this.#schema = schema
    this.#handle = handle
    this.#writer = writer
    this.watermark = watermark
    this.#watermarks = watermarks
    handle.reload()
    this.#searcher = handle.searcher()
  }

  count(): number {
    return this.#searcher.numDocs
  }

  async stage(add: readonly TextNode[], remove: readonly number[]): Promise<void> {
    this.#staged = true
    await this.#writer.stage(add, remove)
  }

  async commit(watermark: number): Promise<void> {
    if (this.#staged) {
      await this.#writer.commit()
      this.#staged = false
      this.#refresh()
      clearTimeout(this.#reload)
      this.#reload = setTimeout(() => this.#refresh(), RELOAD_DELAY_MS)
      this.#reload.unref()
    }
    if (watermark <= this.watermark) return
    this.watermark = watermark
    this.#watermarks.note(watermark)
  }

  async rollback(): Promise<void> {
    await this.#writer.rollback()
    this.#staged = false
  }

  async search(
    terms: readonly string[],
    k: number,
    { docs, compounds, scope }: TextSearchOptions = {},
  ): Promise<TextHits> {
    const searcher = this.#searcher
    const limit = Math.min(MAX_K, k, searcher.numDocs)
    const filters = [
      ...(docs === undefined ? [] : [this.#filter({ docs, isExcluded: false })]),
      ...(scope === undefined ? [] : [this.#filter(scope)]),
    ]
    const { frequency, nodes } = this.#counts(searcher, scope === undefined ? undefined : filters.at(-1))
    const frequencies = countTermNodes(terms, frequency)
    const queryTerms = weighTerms(terms, (term) => frequencies.get(term) ?? 0)
    const found: TextHits = { keys: [], scores: [], frequencies, rewordings: [] }
    if (limit < 1 || queryTerms.length === 0 || docs?.length === 0) return found
    const reworded = compounds === undefined ? [] : weighRewordings(compounds, frequency, nodes())
    found.rewordings = reworded.map(({ queryTerms, documentTerms }) => ({ queryTerms, documentTerms }))
    const { hits } = searcher.search(this.#query(queryTerms, reworded, filters), limit, false)
    const keyCache = this.#keys
    for (const [i, hit] of hits.entries()) {
      if (i > 0 && i % MAX_CALLS_PER_TURN === 0) await nextTurn()
      found.keys.push(readKey(searcher, keyCache, hit.docAddress))
      found.scores.push(hit.score ?? 0)
    }
    return found
  }

  #query(
    terms: readonly WeightedTerm[],
    reworded: readonly WeightedRewording[],
    filters: readonly BooleanClause[],
  ): TantivyQuery {
    const { Query, Occur } = this.#binding
    const termQuery = (term: string): TantivyQuery => this.#term(term)
    const should = [
      ...terms.map(({ term, weight }) => ({ query: termQuery(term), weight })),
      ...reworded.map(({ documentTerms, weight }) => {
        const all = documentTerms.map((term) => ({ occur: Occur.Must, query: termQuery(term) }))
        return { query: Query.booleanQuery(all), weight }
      }),
    ].map(({ query, weight }) => ({
      occur: Occur.Should,
      query: weight === 1 ? query : Query.boostQuery(query, weight),
    }))
    const text = Query.booleanQuery(should)
    return filters.length === 0 ? text : Query.booleanQuery([{ occur: Occur.Must, query: text }, ...filters])
  }

  #term(term: string): TantivyQuery {
    return this.#binding.Query.termQuery(this.#schema, 'text', term, 'freq')
  }

  #filter({ docs, isExcluded }: DocumentScope): BooleanClause {
    const { Query, Occur } = this.#binding
    const query = Query.constScoreQuery(Query.termSetQuery(this.#schema, 'doc', docs.map(String)), 0)
    return { occur: isExcluded ? Occur.MustNot : Occur.Must, query }
  }

  /** Counters of nodes: those with a term, and all. @param scope restricts them; absent = the complete index */
  #counts(searcher: TantivySearcher, scope: BooleanClause | undefined) {
    const { Query, Occur } = this.#binding
    if (scope === undefined)
      return { frequency: (term: string) => searcher.docFreq('text', term), nodes: () => searcher.numDocs }
    const count = (query: TantivyQuery): number =>
      searcher.search(Query.booleanQuery([{ occur: Occur.Must, query }, scope]), 1, true).count ?? 0
    const known = new Map<string, number>()
    const frequency = (term: string): number => {
      const found = known.get(term) ?? (searcher.docFreq('text', term) === 0 ? 0 : count(this.#term(term)))
      known.set(term, found)
      return found
    }
    return { frequency, nodes: () => count(Query.allQuery()) }
  }

  releaseWriter(): Promise<void> {
    return this.#writer.releaseWriter()
  }

  async close(): Promise<void> {
    clearTimeout(this.#reload)
    try {
      await this.#writer.close()
    } finally {
      await this.#watermarks.stop()
    }
  }

  #refresh(): void {
    this.#handle.reload()
    this.#searcher = this.#handle.searcher()
    this.#keys = new Map()
  }
}

function readKey(searcher: TantivySearcher, cache: Map<number, number>, address: DocAddress): number {
  const cacheKey = address.segmentOrd * 2 ** 32 + address.doc
  const cached = cache.get(cacheKey)
  if (cached !== undefined) return cached
  const key = Number(searcher.doc(address).getFirst('key'))
  if (cache.size < MAX_CACHED_KEYS) cache.set(cacheKey, key)
  return key
}
