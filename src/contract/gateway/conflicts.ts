import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { boundedLimit, count, isoDateTime, opaqueCursor, positive, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { CONFLICT_KINDS, CONFLICT_RELATIONS } from '../values.js'
import { incompleteResult } from './degraded.js'

export const ConflictSide = z
  .strictObject({
    documentId: uuid,
    documentVersion: positive,
    filename: z.string(),
    title: z.string(),
    /** Id of the passage. */
    nodeId: uuid,
    pageNumber: positive.optional(),
    sectionPath: z.array(z.string()),
    /** The sentence. */
    quote: z.string(),
    /** Time of publication of this version. */
    storedAt: isoDateTime,
  })
  .meta({ id: 'ConflictSide' })
export type ConflictSide = z.output<typeof ConflictSide>

/** Two documents of a space with different statements about one fact, or seemingly so; see `relation`. */
export const SpaceConflict = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    kind: z.enum(CONFLICT_KINDS),
    relation: z.enum(CONFLICT_RELATIONS),
    reason: z.string(),
    sides: z.array(ConflictSide).length(2),
    /** `model`: a reasoning model confirmed the result of the rules. */
    decidedBy: z.enum(['rules', 'model']),
    foundAt: isoDateTime,
  })
  .meta({ id: 'SpaceConflict' })
export type SpaceConflict = z.output<typeof SpaceConflict>

export const SpaceConflicts = z
  .strictObject({
    items: z.array(SpaceConflict),
    nextCursor: z.string().optional(),
    /** Number of documents compared with all others, and of those pending. */
    comparedDocuments: count,
    pendingDocuments: count,
    ...incompleteResult,
  })
  .meta({ id: 'SpaceConflicts' })
export type SpaceConflicts = z.output<typeof SpaceConflicts>

export const SpaceConflictsQuery = z.strictObject({
  limit: boundedLimit(LIMITS.graphPage),
  cursor: opaqueCursor.optional(),
  kind: z.enum(CONFLICT_KINDS).optional(),
  /** Only conflicts with this document on one side. */
  documentId: uuid.optional(),
  /** Also differences without a contradiction: a different time, version, location or subject. */
  includeDifferences: z.enum(['true', 'false']).default('false'),
})
export type SpaceConflictsQuery = z.output<typeof SpaceConflictsQuery>

export const conflictsRoutes = [
  route({
    id: 'listSpaceConflicts',
    method: 'GET',
    path: '/knowledge-spaces/{id}/conflicts',
    scope: 'read',
    summary:
      'List contradictions between documents of a space, newest first; they are detected in the background after each publication.',
    params: SpaceParams,
    query: SpaceConflictsQuery,
    ok: { 200: SpaceConflicts },
    errors: [400, 404],
    extension: true,
  }),
] as const
