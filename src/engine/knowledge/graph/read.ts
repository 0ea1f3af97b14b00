import type { GraphEntity, GraphRelation } from '../../../contract/gateway/graph.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import {
  type EntityRow,
  type EntitySourceNode,
  listEntityNames,
  listSourceNodes,
  type RelationRow,
  type VisibleGraph,
} from '../../store/rows/graph/entities.js'

/** One reader's view of a space's graph: what passages state that are visible at a revision and readable. */
export interface GraphView extends VisibleGraph {
  db: Driver
  space: { key: number; id: string }
}

/** Passages listed per entity or relation; `metadata.sourceNodesTruncated` reports that there are more. */
const MAX_SOURCE_NODES = 100
const MAX_ALIASES = 10

/** Converts an entity to what the reader sees of it. */
export function* toGraphEntity(view: GraphView, row: EntityRow, depth = 0): Read<GraphEntity> {
  const sources = yield* listSourceNodes(view, 'entity', row.key, MAX_SOURCE_NODES + 1)
  const names = yield* listEntityNames(view, row)
  const [name = row.name, ...aliases] = names
  return {
    id: row.id,
    knowledgeSpaceId: view.space.id,
    name,
    canonicalKey: row.canonical_key,
    aliases: aliases.slice(0, MAX_ALIASES),
    type: row.type,
    ...toSharedFields(row, sources, depth),
  }
}

/** Converts a relation between two entities to what the reader sees of it. */
export function* toGraphRelation(
  view: GraphView,
  row: RelationRow,
  ends: { subject: EntityRow; object: EntityRow },
  depth = 0,
): Read<GraphRelation> {
  const sources = yield* listSourceNodes(view, 'relation', row.key, MAX_SOURCE_NODES + 1)
  const { metadata, ...rest } = toSharedFields(row, sources, depth)
  function* getName(entity: EntityRow): Read<string> {
    return (yield* listEntityNames(view, entity))[0] ?? entity.name
  }
  return {
    id: row.id,
    knowledgeSpaceId: view.space.id,
    subjectEntityId: ends.subject.id,
    objectEntityId: ends.object.id,
    type: row.type,
    ...rest,
    metadata: {
      ...metadata,
      ...(row.predicate === '' ? {} : { predicate: row.predicate }),
      subject: yield* getName(ends.subject),
      object: yield* getName(ends.object),
    },
  }
}

function toSharedFields(row: EntityRow | RelationRow, sources: readonly EntitySourceNode[], depth: number) {
  const scopes = sources.map(({ scope }): string[] => parseJsonCell(scope))
  const open = scopes.some((scope) => scope.length === 0)
  const metadata: Record<string, unknown> = parseJsonCell(row.metadata)
  return {
    confidence: row.confidence,
    depth,
    extractionVersion: `rules-${row.extraction_version}`,
    permissionScope: open ? [] : [...new Set(scopes.flat())].sort(),
    sourceNodeIds: sources.slice(0, MAX_SOURCE_NODES).map(({ id }) => id),
    metadata: { ...metadata, ...(sources.length > MAX_SOURCE_NODES ? { sourceNodesTruncated: true } : {}) },
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
