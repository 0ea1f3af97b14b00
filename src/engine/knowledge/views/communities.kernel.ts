import { type ClusterLink, findGroups } from './cluster.js'

export interface CommunityGroup {
  /** entities, the best connected first, each with its link weight relative to the best one */
  members: { key: number; score: number }[]
}

/** Fewer entities are a relation, not a community. */
const MIN_MEMBERS = 3
const MAX_COMMUNITIES = 100
const MAX_MEMBERS = 100

/** Finds communities of entities, the largest first. */
export function findCommunities(links: readonly ClusterLink[]): CommunityGroup[] {
  const strength = new Map<number, number>()
  for (const { from, to, weight } of links) {
    strength.set(from, (strength.get(from) ?? 0) + weight)
    strength.set(to, (strength.get(to) ?? 0) + weight)
  }
  return findGroups(links)
    .filter((keys) => keys.length >= MIN_MEMBERS)
    .slice(0, MAX_COMMUNITIES)
    .map((keys) => {
      const members = keys.map((key) => ({ key, score: strength.get(key) ?? 0 }))
      members.sort((a, b) => b.score - a.score || a.key - b.key)
      const top = members[0]?.score ?? 1
      return { members: members.slice(0, MAX_MEMBERS).map(({ key, score }) => ({ key, score: score / top })) }
    })
}
