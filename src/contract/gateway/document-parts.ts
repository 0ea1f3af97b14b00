import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { count, isoDateTime, metadata, positive, uuid } from '../primitives.js'
import { route } from '../route.js'

/** Data derived from a document: its parse artifact, outline, tables, pictures, code and pages. */

export const DocumentParams = z.strictObject({ id: uuid, documentId: uuid })

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

/** A section as parsed, without its children. */
export const SectionFields = z.strictObject({
  id: z.string(),
  title: z.string(),
  level: positive,
  tocSource: z.string(),
  sectionPath: z.array(z.string()),
  sourceElementIds: z.array(z.string()),
  startOffset: count.optional(),
  endOffset: count.optional(),
  startPage: positive.optional(),
  endPage: positive.optional(),
  summary: z.string().optional(),
})

export const OutlineNode: z.ZodType<OutlineNode> = z
  .strictObject({
    ...SectionFields.shape,
    childNodeIds: z.array(z.string()),
    get children() {
      return z.array(OutlineNode)
    },
    sourceNodeIds: z.array(z.string()),
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

/** In points from the top left corner of the page. */
export const BoundingBox = z.strictObject({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })

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
    boundingBox: BoundingBox.optional(),
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

export const documentPartsRoutes = [
  route({
    id: 'getParseArtifact',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
    scope: 'read',
    summary: 'Get the parse artifact of a version of a document: its elements in reading order.',
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
    streamed: true,
    errors: [404],
  }),
  route({
    id: 'getDocumentOutline',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/outline',
    scope: 'read',
    summary: 'Get the outline of a document.',
    params: DocumentParams,
    ok: { 200: DocumentOutline },
    streamed: true,
    errors: [404],
  }),
  route({
    id: 'getMultimodalManifest',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/multimodal',
    scope: 'read',
    summary: 'Get the tables, pictures, code blocks and pages of a document.',
    params: DocumentParams,
    ok: { 200: DocumentMultimodalManifest },
    streamed: true,
    errors: [404],
  }),
  route({
    id: 'getMultimodalAsset',
    method: 'GET',
    path: '/knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset',
    scope: 'read',
    summary: 'Download the bytes of a table, picture, code block or page of a document.',
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
] as const
