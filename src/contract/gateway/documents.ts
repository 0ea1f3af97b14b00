import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { boundedLimit, count, isoDateTime, metadata, page, positive, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { DocumentParams, documentPartsRoutes } from './document-parts.js'
import { JobStage } from './jobs.js'

export const DocumentAsset = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    sourceId: uuid.optional(),
    parentDocumentId: uuid.optional(),
    filename: z.string(),
    mimeType: z.string(),
    objectKey: z.string(),
    sha256: z.string(),
    sizeBytes: count,
    parserStatus: z.enum(['pending', 'parsed', 'failed']),
    version: positive,
    metadata,
    createdAt: isoDateTime,
    updatedAt: isoDateTime.optional(),
  })
  .meta({ id: 'DocumentAsset' })
export type DocumentAsset = z.output<typeof DocumentAsset>

const JobTicket = z.strictObject({ id: z.string(), stage: JobStage })

export const AcceptedDocument = z
  .strictObject({ asset: DocumentAsset, compilationJob: JobTicket, statusUrl: z.string() })
  .meta({ id: 'AcceptedDocument' })
export type AcceptedDocument = z.output<typeof AcceptedDocument>

export const BulkUpload = z
  .strictObject({ bulkJobId: uuid, total: count, items: z.array(AcceptedDocument) })
  .meta({ id: 'BulkUpload' })
export type BulkUpload = z.output<typeof BulkUpload>

export const BulkDelete = z
  .strictObject({
    bulkJobId: uuid,
    total: count,
    items: z.array(
      z.strictObject({
        documentId: uuid,
        status: z.enum(['deleted', 'not_found']),
        objectDeleted: z.boolean(),
        artifactsDeleted: count,
        nodesDeleted: count,
        projectionsDeleted: count,
      }),
    ),
  })
  .meta({ id: 'BulkDelete' })
export type BulkDelete = z.output<typeof BulkDelete>

export const BulkReindex = z
  .strictObject({
    bulkJobId: uuid,
    total: count,
    items: z.array(
      z.union([
        z.strictObject({
          asset: DocumentAsset,
          compilationJob: JobTicket,
          status: z.literal('queued'),
          statusUrl: z.string(),
        }),
        z.strictObject({ documentId: uuid, status: z.literal('not_found') }),
      ]),
    ),
  })
  .meta({ id: 'BulkReindex' })
export type BulkReindex = z.output<typeof BulkReindex>

export const CheckDocumentsBody = z.strictObject({
  sourceId: uuid.optional(),
  items: z
    .array(
      z.strictObject({
        filename: z.string().min(1).max(LIMITS.filename),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, '64 lowercase hexadecimal digits'),
      }),
    )
    .min(1)
    .max(LIMITS.checkItems),
})
export type CheckDocumentsBody = z.output<typeof CheckDocumentsBody>

export const CheckedDocuments = z
  .strictObject({
    items: z.array(
      z.strictObject({
        filename: z.string(),
        status: z.enum(['unchanged', 'changed', 'new', 'failed']),
        documentId: uuid.optional(),
        parserStatus: z.enum(['pending', 'parsed', 'failed']).optional(),
        error: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'CheckedDocuments' })
export type CheckedDocuments = z.output<typeof CheckedDocuments>

const filename = z.string().min(1).max(LIMITS.filename)

export const SkippedFile = z
  .strictObject({
    filename: z.string(),
    reason: z.string(),
    sizeBytes: count.optional(),
    /** The document that holds the file, if the service received it. */
    documentId: uuid.optional(),
    skippedAt: isoDateTime,
  })
  .meta({ id: 'SkippedFile' })
export type SkippedFile = z.output<typeof SkippedFile>

export const RecordSkippedFilesBody = z.strictObject({
  files: z
    .array(z.strictObject({ filename, reason: z.string().min(1).max(LIMITS.skipReason), sizeBytes: count.optional() }))
    .max(LIMITS.localFiles)
    .default([]),
  /** Names of files that are no longer skipped. */
  forget: z.array(filename).max(LIMITS.localFiles).default([]),
})
export type RecordSkippedFilesBody = z.output<typeof RecordSkippedFilesBody>

const documentIds = z.array(uuid).min(1).max(LIMITS.documentIds)
const uploadFields = z.strictObject({ sourceId: uuid.optional() })

export const documentsRoutes = [
  route({
    id: 'listDocuments',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents',
    scope: 'read',
    summary: 'List the documents of a space, oldest first.',
    params: SpaceParams,
    query: z.strictObject({ limit: boundedLimit(LIMITS.documentsPage), cursor: uuid.optional() }),
    ok: { 200: page(DocumentAsset, uuid) },
    errors: [400, 404],
  }),
  route({
    id: 'getDocument',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}',
    scope: 'read',
    summary: 'Get a document.',
    params: DocumentParams,
    ok: { 200: DocumentAsset },
    errors: [404],
  }),
  ...documentPartsRoutes,
  route({
    id: 'uploadDocument',
    method: 'POST',
    path: '/knowledge-spaces/{id}/documents',
    scope: 'write',
    summary: 'Upload a file as a document; it is compiled in the background.',
    params: SpaceParams,
    multipart: { file: { name: 'file', many: false }, fields: uploadFields },
    ok: { 201: DocumentAsset, 202: AcceptedDocument },
    errors: [400, 404, 413, 429, 500],
  }),
  route({
    id: 'uploadDocuments',
    method: 'POST',
    path: '/knowledge-spaces/{id}/documents/bulk',
    scope: 'write',
    summary: 'Upload several files as documents, in one bulk job.',
    params: SpaceParams,
    multipart: { file: { name: 'files', many: true }, fields: uploadFields },
    ok: { 202: BulkUpload },
    errors: [400, 404, 413, 429, 500, 503],
  }),
  route({
    id: 'deleteDocuments',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}/documents/bulk',
    scope: 'write',
    summary: 'Delete documents and all data derived from them.',
    params: SpaceParams,
    body: z.strictObject({ documentIds }),
    ok: { 200: BulkDelete },
    errors: [400, 404],
  }),
  route({
    id: 'reindexDocuments',
    method: 'POST',
    path: '/knowledge-spaces/{id}/documents/bulk/reindex',
    scope: 'write',
    summary: 'Compile documents again; queries use the old version until the new one is published.',
    params: SpaceParams,
    body: z
      .strictObject({ all: z.boolean().optional(), documentIds: documentIds.optional() })
      .refine(
        (body) => (body.all === undefined) !== (body.documentIds === undefined) && body.all !== false,
        'exactly one of all (true) or documentIds must be given',
      ),
    ok: { 202: BulkReindex },
    errors: [400, 404, 413, 503],
  }),
  route({
    id: 'checkDocuments',
    method: 'POST',
    path: '/knowledge-spaces/{id}/documents/check',
    scope: 'write',
    summary:
      'Check which files a space already has, by name and SHA-256, before an upload; damaged files count as changed.',
    params: SpaceParams,
    body: CheckDocumentsBody,
    ok: { 200: CheckedDocuments },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'listSkippedFiles',
    method: 'GET',
    path: '/knowledge-spaces/{id}/skipped-files',
    scope: 'read',
    summary: 'List the files that were skipped, by name, each with its reason.',
    params: SpaceParams,
    query: z.strictObject({
      limit: boundedLimit(LIMITS.localFilesPage),
      /** Continue after this filename. */
      after: filename.optional(),
    }),
    ok: { 200: z.strictObject({ items: z.array(SkippedFile), nextAfter: z.string().optional() }) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'recordSkippedFiles',
    method: 'POST',
    path: '/knowledge-spaces/{id}/skipped-files',
    scope: 'write',
    summary: 'Record files that a client skipped, and forget those that it no longer skips.',
    params: SpaceParams,
    body: RecordSkippedFilesBody,
    ok: { 200: z.strictObject({ recorded: count, forgotten: count }) },
    errors: [400, 404],
    extension: true,
  }),
] as const
