import type { Client } from '../client/client.js'
import { EXIT } from '../contract/errors.js'
import type { GraphEntity, GraphTraversal } from '../contract/gateway/graph.js'
import { isUuid } from '../lib/ids.js'
import { CliError, usageError } from './cli-error.js'
import type { Column } from './columns.js'
import { endsIn, recallIds } from './recent-ids.js'

export const ENTITY_COLUMNS: Column[] = [
  { field: 'id', kind: 'id' },
  { field: 'type' },
  { field: 'name' },
  { field: 'canonicalKey', title: 'KEY' },
  { field: 'confidence' },
]
export const ENTITY_FIELDS = [
  'aliases',
  'depth',
  'extractionVersion',
  'permissionScope',
  'sourceNodeIds',
  'metadata',
  'knowledgeSpaceId',
  'createdAt',
  'updatedAt',
]
export const RELATION_COLUMNS: Column[] = [
  { field: 'metadata.subject', title: 'SUBJECT' },
  { field: 'type' },
  { field: 'metadata.predicate', title: 'PREDICATE' },
  { field: 'metadata.object', title: 'OBJECT' },
  { field: 'confidence' },
]
export const RELATION_FIELDS = [
  'id',
  'subjectEntityId',
  'objectEntityId',
  'depth',
  'extractionVersion',
  'permissionScope',
  'sourceNodeIds',
  'metadata',
  'knowledgeSpaceId',
  'createdAt',
  'updatedAt',
]

const TAIL = /^#[0-9a-f]{8}$/i
/** Entities looked at for a name. */
const CANDIDATES = 100

/**
 * The id of an entity, of what people type: a uuid, the tail of an id that was shown, or a name.
 *
 * @throws CliError exit 5 when there is none, exit 2 when a name stands for several
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
    throw new CliError(`no entity ${JSON.stringify(text)} here`, {
      code: 'not-found',
      exit: EXIT.notFound,
      hint: [...degradedReasons, '`ks graph entities` lists what was found'].join('; '),
    })
  if (other !== undefined && exact.length !== 1)
    throw usageError(
      `${JSON.stringify(text)} is part of ${items.length === CANDIDATES ? 'many names' : `${items.length} names`}`,
      `give one of them whole, such as ${JSON.stringify(only.name)}, or an id`,
    )
  return only.id
}

/** A traversal as a graph in the DOT language of Graphviz. */
export function dotOf({ entities, relations }: GraphTraversal): string {
  const lines = entities.map(({ id, name, type }) => `  ${quoted(id)} [label=${quoted(name)}, tooltip=${quoted(type)}]`)
  const edges = relations.map(
    (relation) =>
      `  ${quoted(relation.subjectEntityId)} -> ${quoted(relation.objectEntityId)} [label=${quoted(saidBy(relation))}]`,
  )
  return ['digraph knowledge {', '  rankdir=LR', ...lines, ...edges, '}', ''].join('\n')
}

/** What a relation says: its predicate, or its type where nothing more exact is known. */
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

export interface Reached {
  entity: GraphEntity
  /** how it was reached from the entity above it */
  by?: string
  children: Reached[]
}

/** A traversal as a tree: every entity once, below the one that it was first reached from. */
export function treeOf({ entities, relations }: GraphTraversal): Reached | undefined {
  const nodes = new Map(entities.map((entity): [string, Reached] => [entity.id, { entity, children: [] }]))
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
