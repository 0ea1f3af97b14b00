import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { boundedLimit, count, isoDateTime, metadata, page, positive, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { JobStage } from './jobs.js'

export const DocumentAsset = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    sourceId: uuid.optional(),
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

export const ParseElement = z
  .strictObject({
    id: z.string(),
    type: z.enum(['title', 'heading', 'paragraph', 'table', 'list', 'image', 'code', 'page-break']),
    text: z.string().optional(),
    pageNumber: positive.optional(),
    sectionPath: z.array(z.string()),
    metadata,
  })
  .meta({ id: 'ParseElement' })

export const ParseArtifact = z
  .strictObject({
    id: uuid,
    documentAssetId: uuid,
    artifactHash: z.string(),
    contentType: z.enum(['text', 'structured', 'mixed']),
    parser: z.enum(['native-markdown', 'native-html', 'native-structured', 'unstructured']),
    version: positive,
    metadata,
    createdAt: isoDateTime,
    updatedAt: isoDateTime.optional(),
    elements: z.array(ParseElement),
  })
  .meta({ id: 'ParseArtifact' })
export type ParseArtifact = z.output<typeof ParseArtifact>

export interface OutlineNode {
  id: string
  title: string
  level: number
  tocSource: string
  sectionPath: string[]
  childNodeIds: string[]
  children: OutlineNode[]
  sourceElementIds: string[]
  sourceNodeIds: string[]
  startOffset?: number | undefined
  endOffset?: number | undefined
  startPage?: number | undefined
  endPage?: number | undefined
  summary?: string | undefined
  titleLocation?: unknown
  metadata: Record<string, unknown>
}

export const OutlineNode: z.ZodType<OutlineNode> = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    level: positive,
    tocSource: z.string(),
    sectionPath: z.array(z.string()),
    childNodeIds: z.array(z.string()),
    get children() {
      return z.array(OutlineNode)
    },
    sourceElementIds: z.array(z.string()),
    sourceNodeIds: z.array(z.string()),
    startOffset: count.optional(),
    endOffset: count.optional(),
    startPage: positive.optional(),
    endPage: positive.optional(),
    summary: z.string().optional(),
    titleLocation: z.unknown().optional(),
    metadata,
  })
  .meta({ id: 'OutlineNode' })

export const DocumentOutline = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    documentAssetId: uuid,
    parseArtifactId: uuid,
    artifactHash: z.string(),
    outlineVersion: z.string(),
    version: positive,
    nodes: z.array(OutlineNode),
    metadata,
    createdAt: isoDateTime,
    updatedAt: isoDateTime.optional(),
  })
  .meta({ id: 'DocumentOutline' })
export type DocumentOutline = z.output<typeof DocumentOutline>

const variant = z.strictObject({
  objectKey: z.string().optional(),
  uri: z.string().optional(),
  contentType: z.string().optional(),
  sha256: z.string().optional(),
  width: count.optional(),
  height: count.optional(),
})

const enrichmentState = z.enum(['missing', 'pending', 'provided', 'unsupported'])

export const MultimodalItem = z
  .strictObject({
    id: z.string(),
    parseElementId: z.string(),
    modality: z.enum(['code', 'image', 'page', 'table']),
    title: z.string().optional(),
    caption: z.string().optional(),
    textPreview: z.string().optional(),
    ocrText: z.string().optional(),
    pageNumber: positive.optional(),
    boundingBox: z.strictObject({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).optional(),
    sectionPath: z.array(z.string()),
    startOffset: count.optional(),
    endOffset: count.optional(),
    sourceMetadata: metadata,
    assetRef: z
      .strictObject({
        objectKey: z.string().optional(),
        uri: z.string().optional(),
        contentType: z.string().optional(),
        sha256: z.string().optional(),
        variants: z.record(z.string(), variant).optional(),
      })
      .optional(),
    enrichment: z.strictObject({
      asset: enrichmentState,
      caption: enrichmentState,
      ocr: enrichmentState,
      tableStructure: enrichmentState,
      visualEmbedding: enrichmentState,
    }),
  })
  .meta({ id: 'MultimodalItem' })
export type MultimodalItem = z.output<typeof MultimodalItem>

export const DocumentMultimodalManifest = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    documentAssetId: uuid,
    parseArtifactId: uuid,
    artifactHash: z.string(),
    manifestVersion: positive,
    version: positive,
    metadata,
    createdAt: isoDateTime,
    updatedAt: isoDateTime.optional(),
    items: z.array(MultimodalItem),
  })
  .meta({ id: 'DocumentMultimodalManifest' })
export type DocumentMultimodalManifest = z.output<typeof DocumentMultimodalManifest>

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

const DocumentParams = z.strictObject({ id: uuid, documentId: uuid })
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
    summary: 'Read one document.',
    params: DocumentParams,
    ok: { 200: DocumentAsset },
    errors: [404],
  }),
  route({
    id: 'getParseArtifact',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
    scope: 'read',
    summary: 'Read what the parser made of a document.',
    params: z.strictObject({
      id: uuid,
      documentId: uuid,
      version: z
        .string()
        .regex(/^[1-9]\d{0,14}$/)
        .transform(Number)
        .pipe(positive),
    }),
    ok: { 200: ParseArtifact },
    errors: [404],
  }),
  route({
    id: 'getDocumentOutline',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/outline',
    scope: 'read',
    summary: 'Read the section tree of a document.',
    params: DocumentParams,
    ok: { 200: DocumentOutline },
    errors: [404],
  }),
  route({
    id: 'getMultimodalManifest',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/multimodal',
    scope: 'read',
    summary: 'Read the tables, pictures, code blocks and pages of a document.',
    params: DocumentParams,
    ok: { 200: DocumentMultimodalManifest },
    errors: [404],
  }),
  route({
    id: 'getMultimodalAsset',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset',
    scope: 'read',
    summary: 'Read the bytes of one item.',
    params: z.strictObject({ id: uuid, documentId: uuid, itemId: z.string().min(1).max(LIMITS.itemId) }),
    query: z.strictObject({
      variant: z
        .string()
        .min(1)
        .max(LIMITS.variantName)
        .regex(/^[A-Za-z0-9._=-]+$/, 'letters, digits and . _ = -')
        .optional(),
    }),
    ok: { 200: 'binary' },
    errors: [400, 404, 409, 413],
  }),
  route({
    id: 'uploadDocument',
    method: 'POST',
    path: '/knowledge-spaces/{id}/documents',
    scope: 'write',
    summary: 'Upload one file.',
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
    summary: 'Upload many files.',
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
    summary: 'Delete documents with everything derived from them.',
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
    summary: 'Compile documents again; the old version answers until the new one is published.',
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
      'Ask which files a space already holds, by name and sha256, before sending their bytes; what is held damaged counts as changed.',
    params: SpaceParams,
    body: CheckDocumentsBody,
    ok: { 200: CheckedDocuments },
    errors: [400, 404],
    extension: true,
  }),
] as const
