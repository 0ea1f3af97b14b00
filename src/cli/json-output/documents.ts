import { z } from 'zod'
import { BoundingBox, ParseElement, SectionFields } from '../../contract/gateway/document-parts.js'
import { Watch } from '../../contract/gateway/local-files.js'
import { count, metadata, positive } from '../../contract/primitives.js'

/** The result of one file. */
export const IngestRecord = z
  .strictObject({
    filename: z.string(),
    status: z.enum(['queued', 'published', 'unchanged', 'skipped', 'failed']),
    documentId: z.string().exactOptional(),
    jobId: z.string().exactOptional(),
    retried: z
      .literal(true)
      .exactOptional()
      .describe('present if its last compilation failed or was canceled and is started again'),
    reason: z.string().exactOptional().describe('why it was skipped or failed'),
    code: z.string().exactOptional().describe('error code of the service'),
  })
  .meta({ id: 'IngestRecord' })
export type IngestRecord = z.output<typeof IngestRecord>
export type IngestStatus = IngestRecord['status']

/** A table with its cells, by rows. */
export const TableView = z.strictObject({
  id: z.string(),
  caption: z.string().exactOptional(),
  pageNumber: positive.exactOptional(),
  sectionPath: z.array(z.string()),
  headerRows: count.describe('number of leading rows with column names'),
  rows: z.array(z.array(z.string())),
})
export type TableView = z.output<typeof TableView>

/** The text of a page. */
export const PageView = z.strictObject({ pageNumber: positive, text: z.string() })
export type PageView = z.output<typeof PageView>

export const PictureView = z.strictObject({
  id: z.string(),
  pageNumber: positive.exactOptional(),
  section: z.string().exactOptional(),
  caption: z.string().exactOptional(),
  contentType: z.string().exactOptional(),
  sizeBytes: count.exactOptional(),
  text: z.string().exactOptional().describe('text recognized in the picture, or its beginning'),
  externalUri: z.string().exactOptional().describe('address of a picture that is not stored in the document'),
  file: z.string().exactOptional().describe('file to which the picture was written'),
})
export type PictureView = z.output<typeof PictureView>

/** The outputs of `--as` that stored and local documents share. */
export const CONTENT_FORMS = {
  '--as markdown': z.strictObject({ markdown: z.string() }),
  '--as text': z.strictObject({ text: z.string() }),
  '--as tables': z.array(TableView),
  '--as pictures': z.array(PictureView),
  '--as pages': z.array(PageView),
}

const span = z.strictObject({ row: count, column: count, rows: positive, columns: positive })

/** The cells of one table, as the service stores them. */
export const TableCellsOutput = z.strictObject({
  rows: z.array(z.array(z.string())),
  headerRows: count,
  headColumns: count,
  spans: z.array(span).describe('cells over several rows or columns, from 0'),
  caption: z.string().exactOptional(),
})

/** A section of a file that was read without a space. */
const FileSection: z.ZodType = z
  .strictObject({
    ...SectionFields.shape,
    get children() {
      return z.array(FileSection)
    },
  })
  .meta({ id: 'FileSection' })
export const FileOutline = z.array(FileSection)

/** Everything that was parsed of a file that was read without a space. */
export const FileOutput = z.strictObject({
  filename: z.string(),
  title: z.string(),
  mediaType: z.string(),
  language: z.string().exactOptional(),
  contentType: z.enum(['text', 'structured', 'mixed']),
  parser: z.string(),
  metadata,
  elements: z.array(ParseElement),
  outline: FileOutline,
  items: z.array(
    z.strictObject({
      id: z.string(),
      parseElementId: z.string(),
      captionElementId: z.string().exactOptional(),
      modality: z.enum(['code', 'image', 'page', 'table']),
      title: z.string().exactOptional(),
      caption: z.string().exactOptional(),
      textPreview: z.string().exactOptional(),
      ocrText: z.string().exactOptional(),
      pageNumber: positive.exactOptional(),
      boundingBox: BoundingBox.exactOptional(),
      sectionPath: z.array(z.string()),
      startOffset: count.exactOptional(),
      endOffset: count.exactOptional(),
      sourceMetadata: metadata,
      asset: z.strictObject({ contentType: z.string(), sha256: z.string(), size: count }).exactOptional(),
      externalUri: z.string().exactOptional(),
      drawn: z.literal(true).exactOptional().describe('present if it is drawn on request'),
    }),
  ),
})

/** The result of reading a document again. */
export const ReindexRow = z.union([
  z.strictObject({
    documentId: z.string(),
    status: z.literal('queued'),
    jobId: z.string(),
    bulkJobId: z.string(),
  }),
  z.strictObject({ documentId: z.string(), status: z.literal('not_found'), bulkJobId: z.string() }),
])
export type ReindexRow = z.output<typeof ReindexRow>

/** A file of a drive, or a bucket whose files were not requested. */
export const SourceFileRow = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  size: count.optional(),
  bucket: z.string().optional(),
})
export type SourceFileRow = z.output<typeof SourceFileRow>

/** A page of a connector. */
export const SourcePageRow = z.strictObject({
  pageId: z.string(),
  pageName: z.string(),
  type: z.string(),
  parentId: z.string().optional(),
  lastEditedTime: z.string().optional(),
  workspaceId: z.string().optional(),
  workspaceName: z.string().optional(),
})
export type SourcePageRow = z.output<typeof SourcePageRow>

/** A change of a watched folder. */
export const WatchedChange = z.strictObject({
  filename: z.string(),
  status: z.enum(['added', 'changed', 'removed', 'published', 'skipped', 'failed']),
  reason: z.string().exactOptional(),
  documentId: z.string().exactOptional(),
  jobId: z.string().exactOptional(),
  bulkJobId: z.string().exactOptional(),
})
export type WatchedChange = z.output<typeof WatchedChange>

export const WatchEvent = z.union([
  z.strictObject({ event: z.literal('watch.file'), data: WatchedChange }),
  z.strictObject({
    event: z.literal('watch.state'),
    data: z.strictObject({
      folder: z.string(),
      ...Watch.pick({ state: true, detail: true, files: true, lastSyncAt: true, polledEveryMs: true }).shape,
    }),
  }),
])
