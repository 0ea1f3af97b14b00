import { setImmediate as turn } from 'node:timers/promises'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import type { EngineContext } from '../../library/index.js'
import type { SearchHit } from '../../search/index.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { ViewMember } from '../../store/rows/views/views.js'
import { findOpenDocuments, listOpenDocumentsAfter } from '../rows/views/open-documents.js'

/** A document with a lower fraction of the best score is about something else. */
const MIN_SCORE_FRACTION = 0.25
/** Maximal number of passages of a search; where there may be more, the documents are searched in parts. */
const MAX_HITS = 1000
/** Initial number of documents per part. A part that reaches the maximum of a search is searched in halves. */
const MAX_PART_DOCUMENTS = 4000

/** The documents found for a name. */
export interface TopicNameMatches {
  /** all open documents that match the name, best first */
  documents: ViewMember[]
  /** reasons why the text index may have missed documents; empty if it is complete */
  degraded: string[]
}

/** Finds the open documents that match a name by their passages in the text index, best first. */
export async function findNamedDocuments(
  context: EngineContext,
  space: SpaceRow,
  name: string,
  signal: AbortSignal,
): Promise<TopicNameMatches> {
  const { db, indexes } = context
  const terms = analyzeQuery(name)
  if (terms.length === 0) return { documents: [], degraded: [] }
  const degraded = new Set<string>()
  const find = async (docs?: number[]): Promise<SearchHit[]> => {
    const request = { terms, textK: MAX_HITS, vectorK: 0, ...omitUndefined({ docs }) }
    const found = await indexes.search(space.id, request, signal)
    for (const reason of found.degraded) degraded.add(reason)
    return found.hits
  }
  const best = new Map<number, number>()
  const addHits = async (hits: readonly SearchHit[]): Promise<void> => {
    const keys = hits.map(({ key }) => key)
    const docOf = await db.read(findOpenDocuments(space.key, keys))
    for (const { key, bm25 = 0 } of hits) {
      const doc = docOf.get(key)
      if (doc !== undefined) best.set(doc, Math.max(bm25, best.get(doc) ?? 0))
    }
  }
  const first = await find()
  await addHits(first)
  const top = Math.max(0, ...best.values())
  if (mayHaveMore(first, top))
    await forEachPart(context, space, async (docs) => addHits(await findInParts(find, docs, top)))
  const documents = [...best]
    .filter(([, score]) => score > 0 && score >= top * MIN_SCORE_FRACTION)
    .map(([key, score]) => ({ key, score: score / top }))
    .sort((a, b) => b.score - a.score || a.key - b.key)
  return { documents, degraded: [...degraded] }
}

/** Whether relevant passages may follow the last hit. */
function mayHaveMore(hits: readonly SearchHit[], top: number): boolean {
  return hits.length >= MAX_HITS && Math.min(...hits.map(({ bm25 = 0 }) => bm25)) >= top * MIN_SCORE_FRACTION
}

async function forEachPart(
  { db }: EngineContext,
  space: SpaceRow,
  work: (docs: number[]) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; await turn()) {
    const docs = await db.read(listOpenDocumentsAfter(space.key, after, MAX_PART_DOCUMENTS))
    if (docs.length > 0) await work(docs.map(({ key }) => key))
    if (docs.length < MAX_PART_DOCUMENTS) return
    after = docs.at(-1)?.id ?? after
  }
}

async function findInParts(
  find: (docs: number[]) => Promise<SearchHit[]>,
  docs: readonly number[],
  top: number,
): Promise<SearchHit[]> {
  const hits = await find([...docs])
  if (docs.length === 1 || !mayHaveMore(hits, top)) return hits
  const half = Math.ceil(docs.length / 2)
  return [...(await findInParts(find, docs.slice(0, half), top)), ...(await findInParts(find, docs.slice(half), top))]
}
