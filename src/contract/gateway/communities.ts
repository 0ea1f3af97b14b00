import { z } from 'zod'
import { count, SpaceParams, slug, uuid } from '../primitives.js'
import { route } from '../route.js'
import { COMMUNITY_WRITERS } from '../values.js'
import { incompleteResult } from './degraded.js'

/** A report about a community; its statements cite passages. */
export const CommunityReport = z
  .strictObject({
    title: z.string(),
    writtenBy: z.enum(COMMUNITY_WRITERS),
    statements: z.array(
      z.strictObject({
        text: z.string(),
        citations: z.array(
          z.strictObject({
            documentId: uuid,
            filename: z.string(),
            title: z.string(),
            nodeId: uuid,
            pageNumber: count.optional(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'CommunityReport' })
export type CommunityReport = z.output<typeof CommunityReport>

export const Community = z
  .strictObject({
    slug: z.string(),
    name: z.string(),
    terms: z.array(z.string()).describe('names of the best connected entities of the community'),
    entityCount: count,
    documentCount: count,
    generatedVersion: z.string(),
    coveredDocuments: count,
    totalDocuments: count,
    stale: z.boolean(),
    report: CommunityReport,
  })
  .meta({ id: 'Community' })
export type Community = z.output<typeof Community>

export const CommunitiesQuery = z.strictObject({ slug: slug.min(1).max(120).optional() })
export type CommunitiesQuery = z.output<typeof CommunitiesQuery>

export const communityRoutes = [
  route({
    id: 'listCommunities',
    method: 'GET',
    path: '/knowledge-spaces/{id}/semantic-views/communities',
    scope: 'read',
    summary: 'List the communities of a space, largest first, each with a short report and its citations.',
    params: SpaceParams,
    query: CommunitiesQuery,
    ok: { 200: z.strictObject({ items: z.array(Community), ...incompleteResult }) },
    errors: [400, 404],
    extension: true,
  }),
] as const
