import type { Client } from '../client/client.js'
import { EXIT } from '../contract/errors.js'
import type { GraphEntity, GraphTraversal } from '../contract/gateway/graph.js'
import { isUuid } from '../lib/ids.js'
import { CliError, usageError } from './cli-error.js'
import type { Column } from './columns.js'
import { endsIn, recallIds } from './recent-ids.js'

const SHARED_FIELDS = [
  'depth',
  'extractionVersion',
  'permissionScope',
  'sourceNodeIds',
  'metadata',
  'knowledgeSpaceId',
  'createdAt',
  'updatedAt',
]
export const ENTITY_COLUMNS: Column[] = [
  { field: 'id', kind: 'id' },
  { field: 'type' },
  { field: 'name' },
  { field: 'canonicalKey', title: 'KEY' },
  { field: 'confidence' },
]
export const ENTITY_FIELDS = ['aliases', ...SHARED_FIELDS]
export const RELATION_COLUMNS: Column[] = [
  { field: 'metadata.subject', title: 'SUBJECT' },
  { field: 'type' },
  { field: 'metadata.predicate', title: 'PREDICATE' },
  { field: 'metadata.object', title: 'OBJECT' },
  { field: 'confidence' },
]
export const RELATION_FIELDS = ['id', 'subjectEntityId', 'objectEntityId', ...SHARED_FIELDS]

const TAIL = /^#[0-9a-f]{8}$/i
/** Entities compared with a name. */
const CANDIDATES = 100

/**
 * Resolves an entity from a UUID, the end of an id that was shown, or a name.
 *
 * @throws CliError exit 5 if none matches, exit 2 if several do
 */
export async function resolveEntity(client: Client, spaceId: string, text: string, cacheDir: string): Promise<string> {
  if (isUuid(text)) return text
  if (TAIL.test(text)) {
    const [known] = recallIds(cacheDir, text.slice(1).toLowerCase()).filter((id) => endsIn(id, text.slice(1)))
    if (known !== undefined) return known
  }
  const query = { query: text, limit: CANDIDATES }
  const { items, degradedReasons = [] } = await client.request('GET /knowledge-spaces/{id}/graph/entities', {
    path: { id: spaceId },
    query,
  })
  const wanted = text.toLowerCase()
  const exact = items.filter(({ name, canonicalKey, aliases }) =>
    [name, canonicalKey, ...aliases].some((one) => one.toLowerCase() === wanted),
  )
  const [only, other] = exact.length > 0 ? exact : items
  if (only === undefined)
    throw new CliError(`no entity ${JSON.stringify(text)} in this space`, {
      code: 'not-found',
      exit: EXIT.notFound,
      hint: [...degradedReasons, '`ks graph entities` lists the entities'].join('; '),
    })
  if (other !== undefined && exact.length !== 1)
    throw usageError(
      `${JSON.stringify(text)} is part of ${items.length === CANDIDATES ? 'many names' : `${items.length} names`}`,
      `use a full name, such as ${JSON.stringify(only.name)}, or an id`,
    )
  return only.id
}

/** Formats a traversal as a graph in the DOT language of Graphviz. */
export function dotOf({ entities, relations }: GraphTraversal): string {
  const lines = entities.map(({ id, name, type }) => `  ${quoted(id)} [label=${quoted(name)}, tooltip=${quoted(type)}]`)
  const edges = relations.map(
    (relation) =>
      `  ${quoted(relation.subjectEntityId)} -> ${quoted(relation.objectEntityId)} [label=${quoted(saidBy(relation))}]`,
  )
  return ['digraph knowledge {', '  rankdir=LR', ...lines, ...edges, '}', ''].join('\n')
}

/** The predicate of a relation, or its type without one. */
function saidBy({ type, metadata }: GraphTraversal['relations'][number]): string {
  const { predicate } = metadata
  return typeof predicate === 'string' ? predicate : type
}

function quoted(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[\r\n]+/g, ' ')}"`
}

export interface TraversalNode {
  entity: GraphEntity
  /** How it was reached from its parent. */
  by?: string
  children: TraversalNode[]
}

/** Converts a traversal to a tree: every entity once, below the first entity that reaches it. */
export function traversalTree({ entities, relations }: GraphTraversal): TraversalNode | undefined {
  const nodes = new Map(entities.map((entity): [string, TraversalNode] => [entity.id, { entity, children: [] }]))
  const placed = new Set<string>()
  const [root] = nodes.values()
  if (root !== undefined) placed.add(root.entity.id)
  for (const relation of relations) {
    const { subjectEntityId, objectEntityId } = relation
    const out = placed.has(subjectEntityId)
    const above = nodes.get(out ? subjectEntityId : objectEntityId)
    const below = nodes.get(out ? objectEntityId : subjectEntityId)
    if (above === undefined || below === undefined || placed.has(below.entity.id)) continue
    placed.add(below.entity.id)
    below.by = out ? saidBy(relation) : `${saidBy(relation)} (from it)`
    above.children.push(below)
  }
  return root
}
