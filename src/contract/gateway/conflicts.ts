import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { boundedLimit, count, isoDateTime, opaqueCursor, positive, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { CONFLICT_KINDS, CONFLICT_RELATIONS } from '../values.js'
import { notWhole } from './degraded.js'

export const ConflictSide = z
  .strictObject({
    documentId: uuid,
    documentVersion: positive,
    filename: z.string(),
    title: z.string(),
    /** the passage */
    nodeId: uuid,
    pageNumber: positive.optional(),
    sectionPath: z.array(z.string()),
    /** the sentence */
    quote: z.string(),
    /** when the version was published */
    storedAt: isoDateTime,
  })
  .meta({ id: 'ConflictSide' })
export type ConflictSide = z.output<typeof ConflictSide>

/** Two documents of a space that say different things of one fact; or only seem to, which `relation` says. */
export const SpaceConflict = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    kind: z.enum(CONFLICT_KINDS),
    relation: z.enum(CONFLICT_RELATIONS),
    reason: z.string(),
    sides: z.array(ConflictSide).length(2),
    /** `model`: a reasoning model has confirmed what the rules found */
    decidedBy: z.enum(['rules', 'model']),
    foundAt: isoDateTime,
  })
  .meta({ id: 'SpaceConflict' })
export type SpaceConflict = z.output<typeof SpaceConflict>

export const SpaceConflicts = z
  .strictObject({
    items: z.array(SpaceConflict),
    nextCursor: z.string().optional(),
    /** documents that were compared with all others, and those that were not yet */
    comparedDocuments: count,
    pendingDocuments: count,
    ...notWhole,
  })
  .meta({ id: 'SpaceConflicts' })
export type SpaceConflicts = z.output<typeof SpaceConflicts>

export const SpaceConflictsQuery = z.strictObject({
  limit: boundedLimit(LIMITS.graphPage),
  cursor: opaqueCursor.optional(),
  kind: z.enum(CONFLICT_KINDS).optional(),
  /** only those with this document on one side */
  documentId: uuid.optional(),
  /** also what differs without a contradiction: another time, version, place or thing */
  includeDifferences: z.enum(['true', 'false']).default('false'),
})
export type SpaceConflictsQuery = z.output<typeof SpaceConflictsQuery>

export const conflictsRoutes = [
  route({
    id: 'listSpaceConflicts',
    method: 'GET',
    path: '/knowledge-spaces/{id}/conflicts',
    scope: 'read',
    summary: 'List what documents of a space say against each other, found behind each publication, newest first.',
    params: SpaceParams,
    query: SpaceConflictsQuery,
    ok: { 200: SpaceConflicts },
    errors: [400, 404],
    extension: true,
  }),
] as const
