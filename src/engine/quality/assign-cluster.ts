import { LRUCache } from 'lru-cache'
import { clusteredBeside, type FailedPlace, type MemberRow } from '../rows/quality/clusters.js'
import type { Read } from '../storage/program.js'
import { canBeOne, likeness, type Meaning, meaningOf } from './meaning.js'
import { type Pointed, readPointed } from './pointed.js'

/** From this likeness on a question joins a cluster, in logits. */
const SAME_FROM = 0
/** No question joins a cluster with a member that it is less like than this: it asks something else. */
const LEAST = -4
/** Failed queries that a new one is compared with, newest first, and of each cluster so many. */
const COMPARED = 500
const OF_A_CLUSTER = 4
/** Meanings of questions kept in memory; one is some hundred bytes. */
const REMEMBERED = 5000

const meanings = new LRUCache<string, Meaning>({ max: REMEMBERED })

/**
 * The key of the cluster that asks the same as a query. Clusters grow by one query at a
 * time and never lose or change their key.
 *
 * @param pointed sentences of the space that the query points to
 * @returns nothing when no cluster does
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

/** The cluster that is most like a question: by the mean and the best of its members, none of which may ask something else. */
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

/** `pointed`: as `pointedCell` made it. */
function remembered({ query, pointed }: MemberRow): Meaning {
  const key = `${pointed ?? ''} ${query}`
  const known = meanings.get(key)
  if (known !== undefined) return known
  const meaning = meaningOf(query, pointed === null ? undefined : readPointed(pointed))
  meanings.set(key, meaning)
  return meaning
}
