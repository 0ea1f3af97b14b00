import { type AnalysedPassage, type PassageCache, termHash } from '../../knowledge/index.js'
import type { Read } from '../../store/program.js'
import { listMentionedEntities, listMentioningNodes } from '../../store/rows/graph/expansion.js'

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
const MAX_NAMES_PER_PASSAGE = 24
const MAX_MENTIONS_PER_NAME = 24
/** Maximum passages whose texts are compared. */
const MAX_COMPARED_PASSAGES = 160
/** Loss of score with the rank of the seed. */
const RANK_PENALTY = 0.5
/** A passage that adds no term of the question may still be relevant. */
const MIN_ADDED_FRACTION = 0.1

interface NameLink {
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
  const links = yield* findNameLinks(request)
  const nearest = [...links]
    .sort((a, b) => maxLinkStrength(b[1]) - maxLinkStrength(a[1]) || a[0] - b[0])
    .slice(0, MAX_COMPARED_PASSAGES)
  const weights = new Map([...new Set(terms)].map((term) => [termHash(term), Math.max(0, idf(term))]))
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const keys = [...new Set([...seeds, ...nearest.map(([key]) => key)])]
  const termsByKey = new Map<number, Set<number>>()
  for (const [key, passage] of yield* request.load(keys)) {
    termsByKey.set(key, findQuestionTerms(cache.get({ key, ...passage }), weights))
  }
  const bridges = nearest.flatMap(([key, keyLinks]): Bridge[] => {
    const ownTerms = termsByKey.get(key)
    if (ownTerms === undefined || total === 0) return []
    const score = Math.max(
      ...keyLinks.map(({ seed, strength }) => {
        const seedTerms = termsByKey.get(seeds[seed] ?? 0)
        const added = [...ownTerms].reduce(
          (sum, hash) => sum + (seedTerms?.has(hash) ? 0 : (weights.get(hash) ?? 0)),
          0,
        )
        return (strength * (MIN_ADDED_FRACTION + added / total)) / (1 + RANK_PENALTY * seed)
      }),
    )
    return score > 0 ? [{ key, score }] : []
  })
  return bridges.sort((a, b) => b.score - a.score || a.key - b.key)
}

function maxLinkStrength(links: readonly NameLink[]): number {
  return Math.max(...links.map(({ seed, strength }) => strength / (1 + RANK_PENALTY * seed)))
}

function* findNameLinks({ seeds, late, denied }: BridgeRequest): Read<Map<number, NameLink[]>> {
  const links = new Map<number, NameLink[]>()
  if (late()) return links
  const mentioned = yield* listMentionedEntities(seeds, MAX_NAMES_PER_PASSAGE)
  const entities = [...new Set(mentioned.flat())]
  const nodes = yield* listMentioningNodes(entities, MAX_MENTIONS_PER_NAME + 1, denied)
  const mentionsOf = new Map(entities.map((entity, index) => [entity, nodes[index] ?? []]))
  for (const [seed, entityKeys] of mentioned.entries()) {
    if (seed > 0 && late()) break
    for (const entity of entityKeys) {
      const mentions = mentionsOf.get(entity) ?? []
      if (mentions.length > MAX_MENTIONS_PER_NAME) continue
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

function findQuestionTerms({ words, title, ends }: AnalysedPassage, weights: ReadonlyMap<number, number>): Set<number> {
  const found = new Set<number>()
  for (let at = title; at < ends; at++) {
    const hash = words[at] ?? 0
    if (weights.has(hash)) found.add(hash)
  }
  return found
}
