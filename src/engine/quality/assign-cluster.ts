import { LRUCache } from 'lru-cache'
import { clusteredBeside, type FailedPlace, type MemberRow } from '../rows/quality/clusters.js'
import type { Read } from '../storage/program.js'
import { canBeOne, likeness, type Meaning, meaningOf } from './meaning.js'
import { type Pointed, readPointed } from './pointed.js'

/** Minimum likeness, in logits, at which a question joins a cluster. */
const SAME_FROM = 0
/** Minimum likeness to every member of a cluster; below it, the question asks something else. */
const LEAST = -4
/** Maximum failed queries that a new one is compared with, newest first, and maximum of each cluster. */
const COMPARED = 500
const OF_A_CLUSTER = 4
/** Maximum cached meanings of questions; one takes some hundred bytes. */
const REMEMBERED = 5000

const meanings = new LRUCache<string, Meaning>({ max: REMEMBERED })

/**
 * Finds the key of the cluster whose questions ask the same as a query. Clusters grow by one query at a time and never
 * lose or change their key.
 *
 * @param pointed sentences of the space that the query points to
 * @returns undefined when no cluster matches
 */
export function* clusterFor(place: FailedPlace, query: string, pointed: Pointed): Read<string | undefined> {
  const clusters = new Map<string, Meaning[]>()
  for (const row of yield* clusteredBeside(place, COMPARED)) {
    const members = clusters.get(row.cluster_key)
    if (members === undefined) clusters.set(row.cluster_key, [remembered(row)])
    else if (members.length < OF_A_CLUSTER) members.push(remembered(row))
  }
  return nearestCluster(meaningOf(query, pointed), clusters)
}

/**
 * Finds the cluster that is most similar to a question, by the mean and the best likeness of its members. None of them
 * may ask something else.
 */
export function nearestCluster<Key>(asked: Meaning, clusters: ReadonlyMap<Key, readonly Meaning[]>): Key | undefined {
  let nearest: Key | undefined
  let most = SAME_FROM
  for (const [key, members] of clusters) {
    if (members.length === 0 || !members.every((member) => canBeOne(asked, member))) continue
    const each = members.map((member) => likeness(asked, member))
    if (Math.min(...each) < LEAST) continue
    const mean = each.reduce((sum, value) => sum + value, 0) / each.length
    const value = (mean + Math.max(...each)) / 2
    if (value < most) continue
    most = value
    nearest = key
  }
  return nearest
}

/** `pointed` is a cell made by `toPointedCell`. */
function remembered({ query, pointed }: MemberRow): Meaning {
  const key = `${pointed ?? ''} ${query}`
  const known = meanings.get(key)
  if (known !== undefined) return known
  const meaning = meaningOf(query, pointed === null ? undefined : readPointed(pointed))
  meanings.set(key, meaning)
  return meaning
}
