import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  count,
  isoDateTime,
  metadata,
  opaqueCursor,
  page,
  queryInt,
  SpaceParams,
  slug,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { ENTITY_TYPES, RELATION_TYPES } from '../values.js'
import { communityRoutes } from './communities.js'
import { incompleteResult } from './degraded.js'
import { graphReadingRoutes } from './graph-readings.js'

export const EntityType = z.enum(ENTITY_TYPES)
export type EntityType = z.output<typeof EntityType>

export const RelationType = z.enum(RELATION_TYPES)
export type RelationType = z.output<typeof RelationType>

const confidence = z.number().min(0).max(1)
const extractionFields = {
  confidence,
  /** Distance from the start of a traversal, in relations; 0 in lists. */
  depth: count,
  extractionVersion: z.string(),
  /** Subjects that may read it; empty: the entire tenant. */
  permissionScope: z.array(z.string()),
  sourceNodeIds: z.array(uuid),
  metadata,
  createdAt: isoDateTime,
  updatedAt: isoDateTime,
}

export const GraphEntity = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    name: z.string(),
    canonicalKey: z.string(),
    aliases: z.array(z.string()),
    type: EntityType,
    ...extractionFields,
  })
  .meta({ id: 'GraphEntity' })
export type GraphEntity = z.output<typeof GraphEntity>

export const GraphRelation = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    subjectEntityId: uuid,
    objectEntityId: uuid,
    type: RelationType,
    ...extractionFields,
  })
  .meta({ id: 'GraphRelation' })
export type GraphRelation = z.output<typeof GraphRelation>

export const GraphTraversal = z
  .strictObject({
    entities: z.array(GraphEntity),
    relations: z.array(GraphRelation),
    truncated: z.boolean(),
    metrics: z.strictObject({
      depthReached: count,
      elapsedMs: z.number().min(0),
      exploredRelations: count,
      fanout: count,
      maxDepth: count,
      maxNodes: count,
      timedOut: z.boolean(),
    }),
    ...incompleteResult,
  })
  .meta({ id: 'GraphTraversal' })
export type GraphTraversal = z.output<typeof GraphTraversal>

const boundedInt = (limit: { min: number; max: number; default: number }) =>
  queryInt({ min: limit.min, max: limit.max }).default(limit.default)

export const TraverseQuery = z.strictObject({
  entityId: uuid,
  depth: boundedInt(LIMITS.traversal.depth),
  fanout: boundedInt(LIMITS.traversal.fanout),
  maxNodes: boundedInt(LIMITS.traversal.maxNodes),
  timeoutMs: boundedInt(LIMITS.traversal.timeoutMs),
})
export type TraverseQuery = z.output<typeof TraverseQuery>

const pageQuery = { limit: boundedLimit(LIMITS.graphList), cursor: opaqueCursor.optional() }

export const GraphEntitiesQuery = z.strictObject({
  ...pageQuery,
  type: EntityType.optional(),
  /** Part of the name, ignoring case. */
  query: z.string().min(1).max(LIMITS.findNameContains).optional(),
})
export type GraphEntitiesQuery = z.output<typeof GraphEntitiesQuery>

export const GraphRelationsQuery = z.strictObject({
  ...pageQuery,
  entityId: uuid.optional(),
  type: RelationType.optional(),
})
export type GraphRelationsQuery = z.output<typeof GraphRelationsQuery>

const generatedVersion = z.string().min(1).max(LIMITS.viewName)
const itemLimit = z.int().min(1).max(LIMITS.viewItems.max).default(LIMITS.viewItems.default)

export const ExtractEntitiesBody = z.strictObject({ limit: itemLimit })
export type ExtractEntitiesBody = z.output<typeof ExtractEntitiesBody>

export const EntityExtraction = z
  .strictObject({
    knowledgeSpaceId: uuid,
    extractionMode: z.literal('provider'),
    nodesScanned: count,
    nodesUpdated: count,
    entitiesExtracted: count,
    graphEntitiesIndexed: count,
    graphRelationsIndexed: count,
  })
  .meta({ id: 'EntityExtraction' })
export type EntityExtraction = z.output<typeof EntityExtraction>

export const MaterializeTopicBody = z.strictObject({
  topicName: z.string().min(1).max(LIMITS.viewName).optional(),
  topicSlug: slug.min(1).max(LIMITS.viewName).optional(),
  generatedVersion: generatedVersion.optional(),
  limit: itemLimit,
})
export type MaterializeTopicBody = z.output<typeof MaterializeTopicBody>

/** Extension: how much of the current publication topics or communities cover; documents are read in the background. */
const coverage = {
  coveredDocuments: count,
  totalDocuments: count,
  stale: z.boolean().describe('whether the view covers less than the current publication'),
}

export const MaterializedTopic = z
  .strictObject({
    knowledgeSpaceId: uuid,
    topicName: z.string(),
    topicSlug: z.string(),
    generatedVersion: z.string(),
    documentCount: count,
    pathCount: count,
    ...coverage,
    /** Extension, present if the request names no topic: counts of all topics of the space. */
    topicCount: count.optional(),
    documentsWithoutTopic: count
      .optional()
      .describe('number of documents similar to no other; absent for a single topic'),
    passagesInTopics: count.optional(),
    totalPassages: count.optional(),
  })
  .meta({ id: 'MaterializedTopic' })
export type MaterializedTopic = z.output<typeof MaterializedTopic>

export const MaterializeCommunitiesBody = z.strictObject({ generatedVersion: generatedVersion.optional() })
export type MaterializeCommunitiesBody = z.output<typeof MaterializeCommunitiesBody>

export const MaterializedCommunities = z
  .strictObject({
    knowledgeSpaceId: uuid,
    generatedVersion: z.string(),
    communityCount: count,
    entityCount: count,
    documentCount: count,
    pathCount: count,
    ...coverage,
  })
  .meta({ id: 'MaterializedCommunities' })
export type MaterializedCommunities = z.output<typeof MaterializedCommunities>

export const graphRoutes = [
  route({
    id: 'traverseGraph',
    method: 'GET',
    path: '/knowledge-spaces/{id}/graph/traverse',
    scope: 'read',
    summary: 'Traverse the graph from an entity.',
    params: SpaceParams,
    query: TraverseQuery,
    ok: { 200: GraphTraversal },
    errors: [400, 404],
  }),
  route({
    id: 'materializeTopic',
    method: 'POST',
    path: '/knowledge-spaces/{id}/semantic-views/topic/materialize',
    scope: 'write',
    summary: 'Create a topic from documents, or all topics of the space.',
    params: SpaceParams,
    body: MaterializeTopicBody,
    ok: { 200: MaterializedTopic },
    errors: [400, 404, 429],
  }),
  route({
    id: 'extractEntities',
    method: 'POST',
    path: '/knowledge-spaces/{id}/semantic-views/entities/extract',
    scope: 'write',
    summary: 'Extract entities and relations from some passages.',
    params: SpaceParams,
    body: ExtractEntitiesBody,
    ok: { 200: EntityExtraction },
    errors: [400, 404],
  }),
  route({
    id: 'materializeCommunities',
    method: 'POST',
    path: '/knowledge-spaces/{id}/semantic-views/communities/materialize',
    scope: 'write',
    summary: 'Create the communities of the entity graph.',
    params: SpaceParams,
    body: MaterializeCommunitiesBody,
    ok: { 200: MaterializedCommunities },
    errors: [400, 404],
  }),
  route({
    id: 'listGraphEntities',
    method: 'GET',
    path: '/knowledge-spaces/{id}/graph/entities',
    scope: 'read',
    summary: 'List the entities of the graph by canonical key.',
    params: SpaceParams,
    query: GraphEntitiesQuery,
    ok: { 200: page(GraphEntity).extend(incompleteResult) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'listGraphRelations',
    method: 'GET',
    path: '/knowledge-spaces/{id}/graph/relations',
    scope: 'read',
    summary: 'List the relations of the graph, of all entities or one.',
    params: SpaceParams,
    query: GraphRelationsQuery,
    ok: { 200: page(GraphRelation).extend(incompleteResult) },
    errors: [400, 404],
    extension: true,
  }),
  ...graphReadingRoutes,
  ...communityRoutes,
] as const
