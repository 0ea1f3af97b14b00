import type { GraphEntity, GraphRelation } from '../../contract/gateway/graph.js'
import {
  type EntityRow,
  namesOf,
  type RelationRow,
  type Seen,
  type SourceNode,
  sourceNodes,
} from '../rows/graph/entities.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'

/** One reader's view of a space's graph: what passages state that are visible at a revision and readable. */
export interface GraphView extends Seen {
  db: Driver
  space: { key: number; id: string }
}

/** Passages listed per entity or relation; `metadata.sourceNodesTruncated` reports that there are more. */
const SOURCE_NODES = 100
const ALIASES = 10

/** Converts an entity to what the reader sees of it. */
export function* toEntity(view: GraphView, row: EntityRow, depth = 0): Read<GraphEntity> {
  const sources = yield* sourceNodes(view, 'entity', row.key, SOURCE_NODES + 1)
  const names = yield* namesOf(view, row)
  const [name = row.name, ...aliases] = names
  return {
    id: row.id,
    knowledgeSpaceId: view.space.id,
    name,
    canonicalKey: row.canonical_key,
    aliases: aliases.slice(0, ALIASES),
    type: row.type,
    ...shared(row, sources, depth),
  }
}

/** Converts a relation between two entities to what the reader sees of it. */
export function* toRelation(
  view: GraphView,
  row: RelationRow,
  ends: { subject: EntityRow; object: EntityRow },
  depth = 0,
): Read<GraphRelation> {
  const sources = yield* sourceNodes(view, 'relation', row.key, SOURCE_NODES + 1)
  const { metadata, ...rest } = shared(row, sources, depth)
  function* nameOf(entity: EntityRow): Read<string> {
    return (yield* namesOf(view, entity))[0] ?? entity.name
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
      subject: yield* nameOf(ends.subject),
      object: yield* nameOf(ends.object),
    },
  }
}

function shared(row: EntityRow | RelationRow, sources: readonly SourceNode[], depth: number) {
  const scopes = sources.map(({ scope }): string[] => fromCell(scope))
  const open = scopes.some((scope) => scope.length === 0)
  const metadata: Record<string, unknown> = fromCell(row.metadata)
  return {
    confidence: row.confidence,
    depth,
    extractionVersion: `rules-${row.extraction_version}`,
    permissionScope: open ? [] : [...new Set(scopes.flat())].sort(),
    sourceNodeIds: sources.slice(0, SOURCE_NODES).map(({ id }) => id),
    metadata: { ...metadata, ...(sources.length > SOURCE_NODES ? { sourceNodesTruncated: true } : {}) },
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
