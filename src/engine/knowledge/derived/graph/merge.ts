import { listKeyVariants } from './aliases.js'
import type { ExtractedEntity, GraphExtraction } from './extraction.js'
import { toRelationId } from './extraction.js'

/** Merges the names of one entity in a document's graph: short forms, plurals, different spacing. */
export function mergeNames(graph: GraphExtraction, aliases: ReadonlyMap<string, string>): GraphExtraction {
  const targets = resolveTargets(graph, aliases)
  if (targets.size === 0) return graph
  const resolve = (key: string): string => targets.get(key) ?? key
  const merged: GraphExtraction = { entities: new Map(), relations: new Map() }
  for (const [key, entity] of graph.entities) {
    const target = resolve(key)
    const existing = merged.entities.get(target)
    merged.entities.set(
      target,
      existing === undefined ? withKey(entity, target) : mergeEntities(existing, entity, key === target),
    )
  }
  for (const relation of graph.relations.values()) {
    const moved = { ...relation, subject: resolve(relation.subject), object: resolve(relation.object) }
    if (moved.subject === moved.object) continue
    const id = toRelationId(moved)
    const existing = merged.relations.get(id)
    const nodes = new Set([...(existing?.nodes ?? []), ...moved.nodes])
    merged.relations.set(id, { ...(existing ?? moved), nodes })
  }
  return merged
}

/** Maps each name to the name that it stands for, resolved transitively. */
function resolveTargets(graph: GraphExtraction, aliases: ReadonlyMap<string, string>): Map<string, string> {
  const next = new Map(aliases)
  for (const [key, { found }] of graph.entities) {
    if (found.type === 'date' || found.type === 'metric' || next.has(key)) continue
    const variant = listKeyVariants(key).find((other) => graph.entities.has(other))
    if (variant !== undefined) next.set(key, variant)
  }
  for (const [key, other] of findSpacingVariants(graph)) if (!next.has(key)) next.set(key, other)
  const targets = new Map<string, string>()
  for (const key of next.keys()) {
    const seen = new Set([key])
    let target = next.get(key)
    while (target !== undefined && !seen.has(target)) {
      seen.add(target)
      const nextTarget = next.get(target)
      if (nextTarget === undefined || seen.has(nextTarget)) break
      target = nextTarget
    }
    if (target !== undefined && target !== key && graph.entities.has(target)) targets.set(key, target)
  }
  // of two names that stand for each other, the first one remains
  for (const [key, target] of targets) if (targets.get(target) === key) targets.delete(target)
  return targets
}

/** Pairs of keys that differ only in spaces, `e mail` and `email`, with the key that has the fewest. */
function findSpacingVariants({ entities }: GraphExtraction): [string, string][] {
  const byLetters = new Map<string, string[]>()
  for (const [key, { found }] of entities) {
    if (found.type === 'date' || found.type === 'metric' || /\d/.test(key)) continue
    const letters = key.replaceAll(' ', '')
    byLetters.set(letters, [...(byLetters.get(letters) ?? []), key])
  }
  return [...byLetters.values()].flatMap((keys): [string, string][] => {
    const [shortest = '', ...rest] = keys.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    return rest.map((key) => [key, shortest])
  })
}

function withKey(entity: ExtractedEntity, key: string): ExtractedEntity {
  return { ...entity, found: { ...entity.found, canonicalKey: key } }
}

/** @param isOwn whether the second entity is the merge target, whose own name comes first */
function mergeEntities(existing: ExtractedEntity, more: ExtractedEntity, isOwn: boolean): ExtractedEntity {
  const best = isOwn ? more : existing
  const typed = best.found.type === 'term' ? (isOwn ? existing : more).found : best.found
  return {
    found: { ...best.found, type: typed.type, confidence: typed.confidence },
    names: new Set(isOwn ? [...more.names, ...existing.names] : [...existing.names, ...more.names]),
    nodes: new Set([...existing.nodes, ...more.nodes]),
  }
}
