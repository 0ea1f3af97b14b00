import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  count,
  isoDateTime,
  metadata,
  opaqueCursor,
  page,
  positive,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { SOURCE_TYPES } from '../values.js'

const SourceType = z.enum(SOURCE_TYPES)

export const Source = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    name: z.string(),
    type: SourceType,
    uri: z.string(),
    status: z.enum(['active', 'syncing', 'error', 'disabled']),
    permissionScope: z.array(z.string()),
    metadata,
    version: positive,
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'Source' })
export type Source = z.output<typeof Source>

const name = z.string().min(1).max(LIMITS.sourceName)
/** Only the daemon sets the other two. */
const status = z.enum(['active', 'disabled'])

export const CreateSourceBody = z.strictObject({
  name,
  type: SourceType,
  uri: z.string().min(1).max(LIMITS.sourceUri),
  status: status.optional(),
  permissionScope: z.array(z.string().max(LIMITS.permissionScope)).max(LIMITS.permissionScopes).default([]),
  metadata: metadata.default({}),
})
export type CreateSourceBody = z.output<typeof CreateSourceBody>

export const UpdateSourceBody = z.strictObject({
  name: name.optional(),
  status: status.optional(),
  metadata: metadata.optional(),
  expectedVersion: positive.optional(),
})
export type UpdateSourceBody = z.output<typeof UpdateSourceBody>

export const WebsiteCrawlResult = z
  .strictObject({
    pages: z.array(
      z.strictObject({
        sourceUrl: z.string(),
        content: z.string(),
        title: z.string().optional(),
        description: z.string().optional(),
      }),
    ),
    status: z.string().optional(),
    total: count.optional(),
    completed: count.optional(),
    failed: count.optional(),
    imported: count.optional(),
    replaced: count.optional(),
    skipped: count.optional(),
  })
  .meta({ id: 'WebsiteCrawlResult' })
export type WebsiteCrawlResult = z.output<typeof WebsiteCrawlResult>

export const SourceTestResult = z
  .strictObject({ valid: z.boolean(), error: z.string().optional() })
  .meta({ id: 'SourceTestResult' })
export type SourceTestResult = z.output<typeof SourceTestResult>

const text = z.string().min(1)
const remoteId = text.max(LIMITS.remoteId)
const fileName = text.max(LIMITS.driveFileName)
/** Empty: none. */
const bucket = z.string().max(LIMITS.bucketName)

export const OnlineDocumentPages = z
  .strictObject({
    workspaces: z.array(
      z.strictObject({
        workspaceId: z.string().optional(),
        workspaceName: z.string().optional(),
        total: count.optional(),
        pages: z.array(
          z.strictObject({
            pageId: z.string(),
            pageName: z.string(),
            type: z.string(),
            parentId: z.string().optional(),
            lastEditedTime: z.string().optional(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'OnlineDocumentPages' })
export type OnlineDocumentPages = z.output<typeof OnlineDocumentPages>

export const OnlineDriveFiles = z
  .strictObject({
    buckets: z.array(
      z.strictObject({
        bucket: z.string().optional(),
        isTruncated: z.boolean().optional(),
        files: z.array(z.strictObject({ id: z.string(), name: z.string(), type: z.string(), size: count.optional() })),
      }),
    ),
  })
  .meta({ id: 'OnlineDriveFiles' })
export type OnlineDriveFiles = z.output<typeof OnlineDriveFiles>

export const ImportPagesBody = z.strictObject({
  pages: z
    .array(
      z.strictObject({
        pageId: remoteId,
        workspaceId: remoteId,
        type: remoteId,
        name: text.max(LIMITS.pageName).optional(),
        lastEditedTime: remoteId.optional(),
      }),
    )
    .min(1)
    .max(LIMITS.importItems),
})
export type ImportPagesBody = z.output<typeof ImportPagesBody>

export const ImportFilesBody = z.strictObject({
  files: z
    .array(z.strictObject({ id: remoteId, name: fileName, bucket: bucket.optional(), mimeType: z.string().optional() }))
    .min(1)
    .max(LIMITS.importItems),
})
export type ImportFilesBody = z.output<typeof ImportFilesBody>

export const SourceImportResult = z
  .strictObject({
    documents: z.array(z.strictObject({ documentAssetId: uuid, filename: z.string() })),
    failed: z.array(z.strictObject({ filename: z.string(), error: z.string() })),
    /** Ids of pages. */
    skipped: z.array(z.string()),
  })
  .meta({ id: 'SourceImportResult' })
export type SourceImportResult = z.output<typeof SourceImportResult>

const FilesQuery = z.strictObject({
  bucket: bucket.optional(),
  prefix: z.string().max(LIMITS.remoteId).optional(),
  maxKeys: boundedLimit(LIMITS.driveKeys),
})

const SourceParams = z.strictObject({ id: uuid, sourceId: uuid })
const SOURCE_PATH = '/knowledge-spaces/{id}/sources/{sourceId}'

export const sourcesRoutes = [
  route({
    id: 'createSource',
    method: 'POST',
    path: '/knowledge-spaces/{id}/sources',
    scope: 'write',
    summary: 'Create a source of documents; metadata.credentials is stored encrypted and never returned.',
    params: SpaceParams,
    body: CreateSourceBody,
    ok: { 201: Source },
    errors: [400, 404, 429],
  }),
  route({
    id: 'listSources',
    method: 'GET',
    path: '/knowledge-spaces/{id}/sources',
    scope: 'read',
    summary: 'List the sources of a space, oldest first.',
    params: SpaceParams,
    query: z.strictObject({ limit: boundedLimit(LIMITS.sourcesPage), cursor: opaqueCursor.optional() }),
    ok: { 200: page(Source) },
    errors: [400, 404],
  }),
  route({
    id: 'getSource',
    method: 'GET',
    path: SOURCE_PATH,
    scope: 'read',
    summary: 'Get a source.',
    params: SourceParams,
    ok: { 200: Source },
    errors: [404],
  }),
  route({
    id: 'updateSource',
    method: 'PATCH',
    path: SOURCE_PATH,
    scope: 'write',
    summary: 'Update a source; metadata is replaced completely, except for the keys that the daemon writes.',
    params: SourceParams,
    body: UpdateSourceBody,
    ok: { 200: Source },
    errors: [400, 404, 409],
  }),
  route({
    id: 'deleteSource',
    method: 'DELETE',
    path: SOURCE_PATH,
    scope: 'write',
    summary: 'Delete a source, with or without its documents.',
    params: SourceParams,
    query: z.strictObject({ documents: z.enum(['cascade', 'keep']).default('cascade') }),
    ok: { 204: 'empty' },
    errors: [400, 404],
  }),
  route({
    id: 'crawlSource',
    method: 'POST',
    path: `${SOURCE_PATH}/crawl`,
    scope: 'write',
    summary: 'Crawl a web source; pages that have not changed since the last crawl are skipped.',
    params: SourceParams,
    ok: { 200: WebsiteCrawlResult },
    errors: [400, 404, 501, 502],
  }),
  route({
    id: 'listSourcePages',
    method: 'GET',
    path: `${SOURCE_PATH}/pages`,
    scope: 'read',
    summary: 'List the pages of a connector source.',
    params: SourceParams,
    ok: { 200: OnlineDocumentPages },
    errors: [400, 404, 501, 502],
  }),
  route({
    id: 'importSourcePages',
    method: 'POST',
    path: `${SOURCE_PATH}/import`,
    scope: 'write',
    summary: 'Import pages as documents; pages that were not edited since their last import are skipped.',
    params: SourceParams,
    body: ImportPagesBody,
    ok: { 200: SourceImportResult },
    errors: [400, 404, 501, 502],
  }),
  route({
    id: 'listSourceFiles',
    method: 'GET',
    path: `${SOURCE_PATH}/files`,
    scope: 'read',
    summary: 'List the folders and files directly below a prefix of a drive.',
    params: SourceParams,
    query: FilesQuery,
    ok: { 200: OnlineDriveFiles },
    errors: [400, 404, 501, 502],
  }),
  route({
    id: 'importSourceFiles',
    method: 'POST',
    path: `${SOURCE_PATH}/import-files`,
    scope: 'write',
    summary: 'Import files of a drive as documents.',
    params: SourceParams,
    body: ImportFilesBody,
    ok: { 200: SourceImportResult },
    errors: [400, 404, 501, 502],
  }),
  route({
    id: 'testSource',
    method: 'POST',
    path: `${SOURCE_PATH}/test`,
    scope: 'write',
    summary: 'Test whether a source can be reached with its stored credentials.',
    params: SourceParams,
    ok: { 200: SourceTestResult },
    errors: [404, 501],
  }),
] as const
