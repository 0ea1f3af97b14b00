import { LRUCache } from 'lru-cache'
import type { Read } from '../../store/program.js'
import { type FailedQueryScope, listClusteredQueries, type MemberRow } from '../rows/quality/clusters.js'
import { computeLikeness, mayAskSame, type QuestionMeaning, toMeaning } from './meaning.js'
import { type PointedSentences, parsePointedCell } from './pointed.js'

/** Minimum likeness, in logits, at which a question joins a cluster. */
const MIN_LIKENESS = 0
/** Minimum likeness to every member of a cluster; below it, the question asks something else. */
const MIN_MEMBER_LIKENESS = -4
/** Maximum failed queries that a new one is compared with, newest first, and maximum of each cluster. */
const MAX_COMPARED = 500
const MAX_MEMBERS = 4
/** Maximum cached meanings of questions; one takes some hundred bytes. */
const MAX_CACHED_MEANINGS = 5000

const meanings = new LRUCache<string, QuestionMeaning>({ max: MAX_CACHED_MEANINGS })

/**
 * Finds the key of the cluster whose questions ask the same as a query. Clusters grow by one query at a time and never
 * lose or change their key.
 *
 * @param pointed sentences of the space that the query points to
 * @returns undefined when no cluster matches
 */
export function* findCluster(
  scope: FailedQueryScope,
  query: string,
  pointed: PointedSentences,
): Read<string | undefined> {
  const clusters = new Map<string, QuestionMeaning[]>()
  for (const row of yield* listClusteredQueries(scope, MAX_COMPARED)) {
    const members = clusters.get(row.cluster_key)
    if (members === undefined) clusters.set(row.cluster_key, [getMeaning(row)])
    else if (members.length < MAX_MEMBERS) members.push(getMeaning(row))
  }
  return findNearestCluster(toMeaning(query, pointed), clusters)
}

/**
 * Finds the cluster that is most similar to a question, by the mean and the best likeness of its members. None of them
 * may ask something else.
 */
export function findNearestCluster<Key>(
  question: QuestionMeaning,
  clusters: ReadonlyMap<Key, readonly QuestionMeaning[]>,
): Key | undefined {
  let nearest: Key | undefined
  let bestValue = MIN_LIKENESS
  for (const [key, members] of clusters) {
    if (members.length === 0 || !members.every((member) => mayAskSame(question, member))) continue
    const each = members.map((member) => computeLikeness(question, member))
    if (Math.min(...each) < MIN_MEMBER_LIKENESS) continue
    const mean = each.reduce((sum, value) => sum + value, 0) / each.length
    const value = (mean + Math.max(...each)) / 2
    if (value < bestValue) continue
    bestValue = value
    nearest = key
  }
  return nearest
}

/** `pointed` is a cell made by `toPointedCell`. */
function getMeaning({ query, pointed }: MemberRow): QuestionMeaning {
  const key = `${pointed ?? ''} ${query}`
  const cached = meanings.get(key)
  if (cached !== undefined) return cached
  const meaning = toMeaning(query, pointed === null ? undefined : parsePointedCell(pointed))
  meanings.set(key, meaning)
  return meaning
}
