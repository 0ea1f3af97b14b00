import { groupsOf, type Link } from './cluster.js'

export interface CommunityGroup {
  /** entities, the best connected first, each with its link weight relative to the best one */
  members: { key: number; score: number }[]
}

/** Fewer entities are a relation, not a community. */
const LEAST_MEMBERS = 3
const MOST_COMMUNITIES = 100
const MOST_MEMBERS = 100

/** Finds communities of entities, the largest first. */
export function communitiesOf(links: readonly Link[]): CommunityGroup[] {
  const strength = new Map<number, number>()
  for (const { from, to, weight } of links) {
    strength.set(from, (strength.get(from) ?? 0) + weight)
    strength.set(to, (strength.get(to) ?? 0) + weight)
  }
  return groupsOf(links)
    .filter((keys) => keys.length >= LEAST_MEMBERS)
    .slice(0, MOST_COMMUNITIES)
    .map((keys) => {
      const members = keys.map((key) => ({ key, score: strength.get(key) ?? 0 }))
      members.sort((a, b) => b.score - a.score || a.key - b.key)
      const top = members[0]?.score ?? 1
      return { members: members.slice(0, MOST_MEMBERS).map(({ key, score }) => ({ key, score: score / top })) }
    })
}
