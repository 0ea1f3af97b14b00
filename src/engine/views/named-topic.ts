import { setImmediate as turn } from 'node:timers/promises'
import { defined } from '../../lib/defined.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import type { EngineContext } from '../context.js'
import type { SpaceRow } from '../rows/spaces.js'
import { openDocumentOf, openDocumentsAfter } from '../rows/views/open-documents.js'
import type { Member } from '../rows/views/views.js'
import type { SearchHit } from '../search/ports.js'

/** A document with a lower fraction of the best score is about something else. */
const LEAST_SHARE = 0.25
/** Maximal number of passages of a search; where there may be more, the documents are searched in parts. */
const MOST_HITS = 1000
/** Initial number of documents per part. A part that reaches the maximum of a search is searched in halves. */
const PART = 4000

/** The documents found for a name. */
export interface About {
  /** all open documents that match the name, best first */
  documents: Member[]
  /** reasons why the text index may have missed documents; empty if it is complete */
  degraded: string[]
}

/** Finds the open documents that match a name by their passages in the text index, best first. */
export async function documentsAbout(
  context: EngineContext,
  space: SpaceRow,
  name: string,
  signal: AbortSignal,
): Promise<About> {
  const { db, indexes } = context
  const terms = analyzeQuery(name)
  if (terms.length === 0) return { documents: [], degraded: [] }
  const degraded = new Set<string>()
  const find = async (docs?: number[]): Promise<SearchHit[]> => {
    const request = { terms, textK: MOST_HITS, vectorK: 0, ...defined({ docs }) }
    const found = await indexes.search(space.id, request, signal)
    for (const reason of found.degraded) degraded.add(reason)
    return found.hits
  }
  const best = new Map<number, number>()
  const keep = async (hits: readonly SearchHit[]): Promise<void> => {
    const keys = hits.map(({ key }) => key)
    const docOf = await db.read(openDocumentOf(space.key, keys))
    for (const { key, bm25 = 0 } of hits) {
      const doc = docOf.get(key)
      if (doc !== undefined) best.set(doc, Math.max(bm25, best.get(doc) ?? 0))
    }
  }
  const first = await find()
  await keep(first)
  const top = Math.max(0, ...best.values())
  if (mayHaveMore(first, top)) await eachPart(context, space, async (docs) => keep(await inParts(find, docs, top)))
  const documents = [...best]
    .filter(([, score]) => score > 0 && score >= top * LEAST_SHARE)
    .map(([key, score]) => ({ key, score: score / top }))
    .sort((a, b) => b.score - a.score || a.key - b.key)
  return { documents, degraded: [...degraded] }
}

/** Whether relevant passages may follow the last hit. */
function mayHaveMore(hits: readonly SearchHit[], top: number): boolean {
  return hits.length >= MOST_HITS && Math.min(...hits.map(({ bm25 = 0 }) => bm25)) >= top * LEAST_SHARE
}

async function eachPart(
  { db }: EngineContext,
  space: SpaceRow,
  work: (docs: number[]) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; await turn()) {
    const docs = await db.read(openDocumentsAfter(space.key, after, PART))
    if (docs.length > 0) await work(docs.map(({ key }) => key))
    if (docs.length < PART) return
    after = docs.at(-1)?.id ?? after
  }
}

async function inParts(
  find: (docs: number[]) => Promise<SearchHit[]>,
  docs: readonly number[],
  top: number,
): Promise<SearchHit[]> {
  const hits = await find([...docs])
  if (docs.length === 1 || !mayHaveMore(hits, top)) return hits
  const half = Math.ceil(docs.length / 2)
  return [...(await inParts(find, docs.slice(0, half), top)), ...(await inParts(find, docs.slice(half), top))]
}
