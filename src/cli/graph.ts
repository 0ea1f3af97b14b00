import type { Client } from '../client/client.js'
import { EXIT } from '../contract/errors.js'
import type { GraphEntity, GraphTraversal } from '../contract/gateway/graph.js'
import { isUuid } from '../lib/ids.js'
import { pluralize } from '../lib/text/pluralize.js'
import { CliError, usageError } from './cli-error.js'
import type { OutputColumn } from './columns.js'
import { findRecentIds, hasIdTail } from './recent-ids.js'

export const ENTITY_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'type' },
  { field: 'name' },
  { field: 'canonicalKey', title: 'KEY', isDetail: true },
  { field: 'confidence', kind: 'score' },
]
export const RELATION_COLUMNS: OutputColumn[] = [
  { field: 'metadata.subject', title: 'SUBJECT' },
  { field: 'type' },
  { field: 'metadata.predicate', title: 'PREDICATE' },
  { field: 'metadata.object', title: 'OBJECT' },
  { field: 'confidence', kind: 'score' },
]

const ID_TAIL = /^#[0-9a-f]{8}$/i
/** Maximum number of entities compared with a name. */
const MAX_CANDIDATES = 100

/**
 * Resolves an entity from a UUID, the end of an id that was shown, or a name.
 *
 * @throws CliError exit 5 if none matches, exit 2 if several do
 */
export async function resolveEntity(client: Client, spaceId: string, text: string, cacheDir: string): Promise<string> {
  if (isUuid(text)) return text
  if (ID_TAIL.test(text)) {
    const [recentId] = findRecentIds(cacheDir, text.slice(1).toLowerCase()).filter((id) => hasIdTail(id, text.slice(1)))
    if (recentId !== undefined) return recentId
  }
  const query = { query: text, limit: MAX_CANDIDATES }
  const { items, degradedReasons = [] } = await client.request('GET /knowledge-spaces/{id}/graph/entities', {
    path: { id: spaceId },
    query,
  })
  const lowerCase = text.toLowerCase()
  const exact = items.filter(({ name, canonicalKey, aliases }) =>
    [name, canonicalKey, ...aliases].some((candidate) => candidate.toLowerCase() === lowerCase),
  )
  const [only, second] = exact.length > 0 ? exact : items
  if (only === undefined)
    throw new CliError(`no entity ${JSON.stringify(text)} in this space`, {
      code: 'not-found',
      exit: EXIT.notFound,
      hint: [...degradedReasons, '`ks graph` lists the entities'].join('; '),
    })
  if (second !== undefined && exact.length !== 1)
    throw usageError(
      `${JSON.stringify(text)} is part of ${items.length === MAX_CANDIDATES ? 'many names' : pluralize(items.length, 'name')}`,
      `use a full name, such as ${JSON.stringify(only.name)}, or an id`,
    )
  return only.id
}

/** Formats a traversal as a graph in the DOT language of Graphviz. */
export function formatDot({ entities, relations }: GraphTraversal): string {
  const lines = entities.map(
    ({ id, name, type }) => `  ${quoteDot(id)} [label=${quoteDot(name)}, tooltip=${quoteDot(type)}]`,
  )
  const edges = relations.map(
    (relation) =>
      `  ${quoteDot(relation.subjectEntityId)} -> ${quoteDot(relation.objectEntityId)} [label=${quoteDot(getRelationLabel(relation))}]`,
  )
  return ['digraph knowledge {', '  rankdir=LR', ...lines, ...edges, '}', ''].join('\n')
}

/** The predicate of a relation, or its type without one. */
function getRelationLabel({ type, metadata }: GraphTraversal['relations'][number]): string {
  const { predicate } = metadata
  return typeof predicate === 'string' ? predicate : type
}

function quoteDot(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[\r\n]+/g, ' ')}"`
}

export interface TraversalNode {
  entity: GraphEntity
  /** Label of the relation that leads to it from its parent; absent for the root. */
  relationLabel?: string
  children: TraversalNode[]
}

/** Converts a traversal to a tree: every entity once, below the first entity that reaches it. */
export function buildTraversalTree({ entities, relations }: GraphTraversal): TraversalNode | undefined {
  const nodes = new Map(entities.map((entity): [string, TraversalNode] => [entity.id, { entity, children: [] }]))
  const visited = new Set<string>()
  const [root] = nodes.values()
  if (root !== undefined) visited.add(root.entity.id)
  for (const relation of relations) {
    const { subjectEntityId, objectEntityId } = relation
    const isOutgoing = visited.has(subjectEntityId)
    const parent = nodes.get(isOutgoing ? subjectEntityId : objectEntityId)
    const child = nodes.get(isOutgoing ? objectEntityId : subjectEntityId)
    if (parent === undefined || child === undefined || visited.has(child.entity.id)) continue
    visited.add(child.entity.id)
    child.relationLabel = isOutgoing ? getRelationLabel(relation) : `${getRelationLabel(relation)} (from it)`
    parent.children.push(child)
  }
  return root
}
