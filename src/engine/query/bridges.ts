import { type AnalysedPassage, type PassageCache, termHash } from '../derived/passage.js'
import { mentionedBy, nodesOf } from '../rows/graph/expansion.js'
import type { Read } from '../storage/program.js'

/** A passage that shares a name with a found passage and covers more of the question. */
export interface Bridge {
  key: number
  /** 0 to 1: how much of the question it adds, how rare the shared name is, and how high the other passage ranks */
  score: number
}

export interface BridgeRequest {
  /** the passages that recall ranks first, best first */
  seeds: readonly number[]
  /** analysed question */
  terms: readonly string[]
  idf: (term: string) => number
  cache: PassageCache
  /** loads the texts of nodes that the reader may see */
  load: (keys: number[]) => Read<ReadonlyMap<number, { title: string; body: string }>>
  late: () => boolean
  /** ids of sources that the reader may not read */
  denied: readonly string[]
}

/**
 * Maximum names followed from one passage, and maximum passages that mention one name: frequent names connect nothing.
 */
const NAMES = 24
const MENTIONS = 24
/** Maximum passages whose texts are compared. */
const MOST_PASSAGES = 160
/** Loss of score with the rank of the seed. */
const RANK_LOSS = 0.5
/** A passage that adds no term of the question may still be relevant. */
const LEAST_ADDED = 0.1

interface Link {
  seed: number
  strength: number
}

/**
 * Second hop of a question that no single passage answers: from the found passages, over the names they mention, to
 * other passages that mention them. A bridge's score rises with the fraction of the question's terms that the first
 * passage lacks.
 */
export function* findBridges(request: BridgeRequest): Read<Bridge[]> {
  const { seeds, terms, idf, cache } = request
  const links = yield* linksOf(request)
  const nearest = [...links].sort((a, b) => strongest(b[1]) - strongest(a[1]) || a[0] - b[0]).slice(0, MOST_PASSAGES)
  const weights = new Map([...new Set(terms)].map((term) => [termHash(term), Math.max(0, idf(term))]))
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const keys = [...new Set([...seeds, ...nearest.map(([key]) => key)])]
  const held = new Map<number, Set<number>>()
  for (const [key, passage] of yield* request.load(keys)) {
    held.set(key, termsIn(cache.of({ key, ...passage }), weights))
  }
  const bridges = nearest.flatMap(([key, of]): Bridge[] => {
    const found = held.get(key)
    if (found === undefined || total === 0) return []
    const score = Math.max(
      ...of.map(({ seed, strength }) => {
        const known = held.get(seeds[seed] ?? 0)
        const added = [...found].reduce((sum, hash) => sum + (known?.has(hash) ? 0 : (weights.get(hash) ?? 0)), 0)
        return (strength * (LEAST_ADDED + added / total)) / (1 + RANK_LOSS * seed)
      }),
    )
    return score > 0 ? [{ key, score }] : []
  })
  return bridges.sort((a, b) => b.score - a.score || a.key - b.key)
}

function strongest(links: readonly Link[]): number {
  return Math.max(...links.map(({ seed, strength }) => strength / (1 + RANK_LOSS * seed)))
}

function* linksOf({ seeds, late, denied }: BridgeRequest): Read<Map<number, Link[]>> {
  const links = new Map<number, Link[]>()
  if (late()) return links
  const mentioned = yield* mentionedBy(seeds, NAMES)
  const entities = [...new Set(mentioned.flat())]
  const nodes = yield* nodesOf(entities, MENTIONS + 1, denied)
  const mentionsOf = new Map(entities.map((entity, place) => [entity, nodes[place] ?? []]))
  for (const [seed, of] of mentioned.entries()) {
    if (seed > 0 && late()) break
    for (const entity of of) {
      const mentions = mentionsOf.get(entity) ?? []
      if (mentions.length > MENTIONS) continue
      const strength = 1 / Math.log2(1 + mentions.length)
      for (const other of mentions) {
        if (seeds[seed] === other) continue
        const known = links.get(other) ?? []
        known.push({ seed, strength })
        links.set(other, known)
      }
    }
  }
  return links
}

function termsIn({ words, title, ends }: AnalysedPassage, weights: ReadonlyMap<number, number>): Set<number> {
  const found = new Set<number>()
  for (let at = title; at < ends; at++) {
    const hash = words[at] ?? 0
    if (weights.has(hash)) found.add(hash)
  }
  return found
}
