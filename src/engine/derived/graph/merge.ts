import { variantsOf } from './aliases.js'
import type { ExtractedEntity, Extraction } from './extraction.js'
import { relationId } from './extraction.js'

/** Merges the names of one entity in a document's graph: short forms, plurals, different spacing. */
export function mergeNames(graph: Extraction, aliases: ReadonlyMap<string, string>): Extraction {
  const targets = targetsOf(graph, aliases)
  if (targets.size === 0) return graph
  const resolve = (key: string): string => targets.get(key) ?? key
  const merged: Extraction = { entities: new Map(), relations: new Map() }
  for (const [key, entity] of graph.entities) {
    const target = resolve(key)
    const known = merged.entities.get(target)
    merged.entities.set(target, known === undefined ? renamed(entity, target) : joined(known, entity, key === target))
  }
  for (const relation of graph.relations.values()) {
    const moved = { ...relation, subject: resolve(relation.subject), object: resolve(relation.object) }
    if (moved.subject === moved.object) continue
    const id = relationId(moved)
    const known = merged.relations.get(id)
    const nodes = new Set([...(known?.nodes ?? []), ...moved.nodes])
    merged.relations.set(id, { ...(known ?? moved), nodes })
  }
  return merged
}

/** Maps each name to the name that it stands for, resolved transitively. */
function targetsOf(graph: Extraction, aliases: ReadonlyMap<string, string>): Map<string, string> {
  const next = new Map(aliases)
  for (const [key, { found }] of graph.entities) {
    if (found.type === 'date' || found.type === 'metric' || next.has(key)) continue
    const variant = variantsOf(key).find((other) => graph.entities.has(other))
    if (variant !== undefined) next.set(key, variant)
  }
  for (const [key, other] of otherGaps(graph)) if (!next.has(key)) next.set(key, other)
  const targets = new Map<string, string>()
  for (const key of next.keys()) {
    const seen = new Set([key])
    let target = next.get(key)
    while (target !== undefined && !seen.has(target)) {
      seen.add(target)
      const further = next.get(target)
      if (further === undefined || seen.has(further)) break
      target = further
    }
    if (target !== undefined && target !== key && graph.entities.has(target)) targets.set(key, target)
  }
  // of two names that stand for each other, the first one remains
  for (const [key, target] of targets) if (targets.get(target) === key) targets.delete(target)
  return targets
}

/** Pairs of keys that differ only in spaces, `e mail` and `email`, with the key that has the fewest. */
function otherGaps({ entities }: Extraction): [string, string][] {
  const byLetters = new Map<string, string[]>()
  for (const [key, { found }] of entities) {
    if (found.type === 'date' || found.type === 'metric' || /\d/.test(key)) continue
    const letters = key.replaceAll(' ', '')
    byLetters.set(letters, [...(byLetters.get(letters) ?? []), key])
  }
  return [...byLetters.values()].flatMap((keys): [string, string][] => {
    const [closed = '', ...rest] = keys.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    return rest.map((key) => [key, closed])
  })
}

function renamed(entity: ExtractedEntity, key: string): ExtractedEntity {
  return { ...entity, found: { ...entity.found, canonicalKey: key } }
}

/** @param isOwn whether the second entity is the merge target, whose own name comes first */
function joined(known: ExtractedEntity, more: ExtractedEntity, isOwn: boolean): ExtractedEntity {
  const best = isOwn ? more : known
  const typed = best.found.type === 'term' ? (isOwn ? known : more).found : best.found
  return {
    found: { ...best.found, type: typed.type, confidence: typed.confidence },
    names: new Set(isOwn ? [...more.names, ...known.names] : [...known.names, ...more.names]),
    nodes: new Set([...known.nodes, ...more.nodes]),
  }
}
