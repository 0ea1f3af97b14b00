import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  ConsistencyClass,
  count,
  isoDateTime,
  metadata,
  opaqueCursor,
  positive,
  queryInt,
  SpaceParams,
} from '../primitives.js'
import { route } from '../route.js'
import { RESOURCE_TYPES } from '../values.js'
import { incompleteResult } from './degraded.js'

export const ResourceType = z.enum(RESOURCE_TYPES)
export type ResourceType = z.output<typeof ResourceType>

export const VirtualItem = z
  .strictObject({
    kind: z.enum(['directory', 'resource']),
    name: z.string(),
    path: z.string(),
    metadata,
    resourceType: ResourceType.optional(),
    targetId: z.string().optional(),
    version: z.int().optional(),
  })
  .meta({ id: 'VirtualItem' })
export type VirtualItem = z.output<typeof VirtualItem>

export interface VirtualTree {
  kind: 'directory' | 'resource'
  name: string
  path: string
  metadata: Record<string, unknown>
  resourceType?: ResourceType | undefined
  targetId?: string | undefined
  version?: number | undefined
  truncated?: boolean | undefined
  children?: VirtualTree[] | undefined
}

export const VirtualTree: z.ZodType<VirtualTree> = z
  .strictObject({
    ...VirtualItem.shape,
    truncated: z.boolean().optional(),
    get children() {
      return z.array(VirtualTree).optional()
    },
  })
  .meta({ id: 'VirtualTree' })

const listingPreview = z.strictObject({ stale: z.boolean(), asOf: isoDateTime, pendingDocuments: count })

export const Listing = z
  .strictObject({
    path: z.string(),
    items: z.array(VirtualItem),
    truncated: z.boolean(),
    nextCursor: z.string().optional(),
    consistencyClass: ConsistencyClass.optional(),
    preview: listingPreview.optional(),
    ...incompleteResult,
  })
  .meta({ id: 'Listing' })
export type Listing = z.output<typeof Listing>

export const TreeListing = z
  .strictObject({
    path: z.string(),
    root: VirtualTree,
    truncated: z.boolean(),
    nextCursor: z.string().optional(),
    consistencyClass: ConsistencyClass.optional(),
    preview: listingPreview.optional(),
    ...incompleteResult,
  })
  .meta({ id: 'TreeListing' })
export type TreeListing = z.output<typeof TreeListing>

/** Extension: the line of a match, with `by=line`. */
const matchedLine = {
  line: positive.optional(),
  column: positive.optional(),
  text: z.string().optional(),
  spans: z.array(z.strictObject({ start: count, end: count })).optional(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
}

export const GrepListing = z
  .strictObject({
    path: z.string(),
    matches: z.array(
      z.strictObject({
        kind: z.enum(['node', 'segment']),
        path: z.string(),
        snippet: z.string(),
        startOffset: count,
        endOffset: count,
        metadata,
        nodeId: z.string().optional(),
        segmentId: z.string().optional(),
        ...matchedLine,
      }),
    ),
    truncated: z.boolean(),
    nextCursor: z.string().optional(),
    ...incompleteResult,
  })
  .meta({ id: 'GrepListing' })
export type GrepListing = z.output<typeof GrepListing>

export const CatResult = z
  .strictObject({
    path: z.string(),
    content: z.string(),
    contentType: z.string(),
    offset: count,
    totalChars: count,
    nextOffset: count.optional(),
    truncated: z.boolean(),
    resourceType: ResourceType.optional(),
    targetId: z.string().optional(),
    metadata,
  })
  .meta({ id: 'CatResult' })
export type CatResult = z.output<typeof CatResult>

/**
 * Shape of a virtual path at the edge: a namespace, then optional segments. `..`, empty segments, control characters
 * and length are checked where paths are parsed.
 */
const path = z.string().regex(/^\/(sources|knowledge|evidence|workspaces)(\/|$)/, {
  error: 'an absolute path in /sources, /knowledge, /evidence or /workspaces',
})

const requiredLimit = queryInt({ min: 1 })
const sharedQuery = {
  path,
  limit: requiredLimit,
  cursor: opaqueCursor.optional(),
  consistencyClass: ConsistencyClass.optional(),
}

export const FsLsQuery = z.strictObject(sharedQuery)
export type FsLsQuery = z.output<typeof FsLsQuery>
export const FsTreeQuery = z.strictObject({
  ...sharedQuery,
  depth: queryInt({ min: 1, max: LIMITS.treeDepth }).optional(),
})
export type FsTreeQuery = z.output<typeof FsTreeQuery>
/** Extension: how lines are selected; each of these implies `by=line`. */
const lineSelection = {
  before: queryInt({ min: 0, max: LIMITS.grepContextLines }).optional(),
  after: queryInt({ min: 0, max: LIMITS.grepContextLines }).optional(),
  linesPerText: queryInt({ min: 1 }).optional(),
  inverted: z.enum(['true', 'false']).optional(),
  wholeWords: z.enum(['true', 'false']).optional(),
}
export const FsGrepQuery = z.strictObject({
  ...sharedQuery,
  q: z.string().min(1).max(LIMITS.grepQuery),
  timeoutMs: queryInt({ min: 1, max: LIMITS.grepTimeoutMs.max }).default(LIMITS.grepTimeoutMs.default),
  by: z.literal('line').optional(),
  ...lineSelection,
})
export type FsGrepQuery = z.output<typeof FsGrepQuery>
export const FsFindQuery = z.strictObject({
  ...sharedQuery,
  nameContains: z.string().min(1).max(LIMITS.findNameContains).optional(),
  metadataKey: z.string().min(1).max(LIMITS.findMetadataKey).optional(),
  metadataValue: z.string().min(1).max(LIMITS.findMetadataValue).optional(),
  resourceType: ResourceType.optional(),
})
export type FsFindQuery = z.output<typeof FsFindQuery>
export const FsCatQuery = z.strictObject({
  path,
  offset: queryInt({ min: 0 }).default(0),
  maxBytes: queryInt({ min: 1, max: LIMITS.catBytes.max }).default(LIMITS.catBytes.default),
})
export type FsCatQuery = z.output<typeof FsCatQuery>

export const FsWriteBody = z.strictObject({ path, content: z.string() })
export type FsWriteBody = z.output<typeof FsWriteBody>
export const FsMvBody = z.strictObject({ oldPath: path, newPath: path })
export type FsMvBody = z.output<typeof FsMvBody>
export const FsRmQuery = z.strictObject({ path, recursive: z.enum(['true', 'false']).default('false') })
export type FsRmQuery = z.output<typeof FsRmQuery>

export const WorkspaceMove = z
  .strictObject({ oldPath: z.string(), newPath: z.string(), files: positive })
  .meta({ id: 'WorkspaceMove' })
export type WorkspaceMove = z.output<typeof WorkspaceMove>
export const WorkspaceRemoval = z.strictObject({ path: z.string(), files: positive }).meta({ id: 'WorkspaceRemoval' })
export type WorkspaceRemoval = z.output<typeof WorkspaceRemoval>

export const fsRoutes = [
  route({
    id: 'fsLs',
    method: 'GET',
    path: '/knowledge-spaces/{id}/fs/ls',
    scope: 'read',
    summary: 'List a directory of the virtual file system.',
    params: SpaceParams,
    query: FsLsQuery,
    ok: { 200: Listing },
    errors: [400, 404],
  }),
  route({
    id: 'fsTree',
    method: 'GET',
    path: '/knowledge-spaces/{id}/fs/tree',
    scope: 'read',
    summary: 'Get a directory with its descendants.',
    params: SpaceParams,
    query: FsTreeQuery,
    ok: { 200: TreeListing },
    errors: [400, 404],
  }),
  route({
    id: 'fsGrep',
    method: 'GET',
    path: '/knowledge-spaces/{id}/fs/grep',
    scope: 'read',
    summary: 'Search text below a path, literally or by a regular expression (prefix `re:`).',
    params: SpaceParams,
    query: FsGrepQuery,
    ok: { 200: GrepListing },
    errors: [400, 404],
  }),
  route({
    id: 'fsFind',
    method: 'GET',
    path: '/knowledge-spaces/{id}/fs/find',
    scope: 'read',
    summary: 'Find entries below a path by name, metadata or type.',
    params: SpaceParams,
    query: FsFindQuery,
    ok: { 200: Listing },
    errors: [400, 404],
  }),
  route({
    id: 'fsCat',
    method: 'GET',
    path: '/knowledge-spaces/{id}/fs/cat',
    scope: 'read',
    summary: 'Get the text of a resource.',
    params: SpaceParams,
    query: FsCatQuery,
    ok: { 200: CatResult },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'fsWrite',
    method: 'PUT',
    path: '/knowledge-spaces/{id}/fs/write',
    scope: 'write',
    summary: "Write a file of an agent's workspace, replacing an existing one.",
    params: SpaceParams,
    body: FsWriteBody,
    ok: { 200: VirtualItem },
    errors: [400, 404, 409, 413, 429, 503],
    extension: true,
  }),
  route({
    id: 'fsMv',
    method: 'POST',
    path: '/knowledge-spaces/{id}/fs/mv',
    scope: 'write',
    summary: 'Rename or move a file or folder within the workspaces.',
    params: SpaceParams,
    body: FsMvBody,
    ok: { 200: WorkspaceMove },
    errors: [400, 404, 409, 503],
    extension: true,
  }),
  route({
    id: 'fsRm',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}/fs/rm',
    scope: 'write',
    summary: 'Remove a file of a workspace, or a folder with its content.',
    params: SpaceParams,
    query: FsRmQuery,
    ok: { 200: WorkspaceRemoval },
    errors: [400, 404, 503],
    extension: true,
  }),
] as const
