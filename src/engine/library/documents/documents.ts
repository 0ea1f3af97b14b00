import type { CheckDocumentsBody, CheckedDocuments, DocumentAsset } from '../../../contract/gateway/documents.js'
import { LIMITS } from '../../../contract/limits.js'
import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { toStoredName } from '../../base/file-names.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell, readablePage, unlessDamaged } from '../../store/readable.js'
import { findPublishedFields } from '../../store/rows/document-fields.js'
import {
  type DocumentRow,
  documentsAfter,
  findDocument,
  findNewestByName,
  toAsset,
} from '../../store/rows/documents.js'
import { hasEndedUnpublished, listLatestJobs } from '../../store/rows/jobs.js'
import { findSource } from '../../store/rows/sources.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import type { EngineContext } from '../context.js'

/** Metadata fields of the document, among those of its version. */
const DOCUMENT_FIELDS = [
  'documentDate',
  'datePublished',
  'dateModified',
  'dateCreated',
  'author',
  'authors',
  'language',
  'canonicalUrl',
] as const

/** number of files whose sizes are requested together */
const CHECK_BATCH_SIZE = 32

export function* listDocuments(caller: Caller, spaceId: string, page: PageRequest): Read<Page<DocumentAsset>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const limit = Math.min(page.limit, LIMITS.documentsPage.max)
  const rows = yield* documentsAfter(caller, space.key, { after: page.cursor ?? '', most: limit + 1 })
  return readablePage(
    rows,
    limit,
    (row) => toAsset(row, space.id),
    ({ id }) => id,
  )
}

export function* getDocument(caller: Caller, spaceId: string, documentId: string): Read<DocumentAsset> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const row = yield* findDocument(caller, space.key, documentId)
  const asset = toAsset(row, space.id)
  const version = yield* findPublishedFields(row.key)
  return version === undefined ? asset : { ...asset, metadata: { ...toDocumentFields(version), ...asset.metadata } }
}

/** The document's metadata fields, as they were parsed. */
function toDocumentFields({ title, metadata }: { title: string; metadata: string }): Record<string, unknown> {
  const parsed: unknown = unlessDamaged(() => parseJsonCell(metadata))
  if (!isRecord(parsed)) return { title }
  return {
    title,
    ...Object.fromEntries(DOCUMENT_FIELDS.flatMap((name) => (name in parsed ? [[name, parsed[name]]] : []))),
  }
}

/**
 * Reports for each name and hash whether an upload of the bytes would change anything. A document whose bytes are
 * missing or have another size is `changed`, since an upload repairs it; damage with an unchanged size is found by
 * `fsck`. A document whose last compilation failed or was canceled is `failed`: an upload of its bytes starts another
 * one.
 */
export async function checkDocuments(
  { db, objects }: EngineContext,
  caller: Caller,
  spaceId: string,
  body: CheckDocumentsBody,
): Promise<CheckedDocuments> {
  const space = await db.read(findSpaceAndSource(caller, spaceId, body.sourceId))
  const items: CheckedDocuments['items'] = []
  for (let start = 0; start < body.items.length; start += CHECK_BATCH_SIZE) {
    const batch = body.items.slice(start, start + CHECK_BATCH_SIZE)
    const matches = await db.read(findUploadMatches(space.key, body.sourceId ?? null, batch))
    items.push(
      ...(await Promise.all(
        matches.map(async ({ filename, row, isSame, isFailed }) => {
          if (row === undefined) return { filename, status: 'new' as const }
          if (!isSame || (await objects.describe(row.object_key))?.size !== row.size_bytes)
            return { filename, status: 'changed' as const, documentId: row.id }
          return {
            filename,
            status: isFailed ? ('failed' as const) : ('unchanged' as const),
            documentId: row.id,
            parserStatus: row.parser_status,
            ...omitUndefined({ error: row.error ?? undefined }),
          }
        }),
      )),
    )
  }
  return { items }
}

/** @throws KsError `not-found` also for a source that the caller may not read */
function* findSpaceAndSource(caller: Caller, spaceId: string, sourceId: string | undefined): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, spaceId)
  if (sourceId !== undefined) yield* findSource(caller, space, sourceId)
  return space
}

interface UploadCheckMatch {
  filename: string
  /** undefined if no document has the name */
  row: DocumentRow | undefined
  /** whether its bytes are the same; and whether its last compilation failed or was canceled */
  isSame: boolean
  isFailed: boolean
}

function* findUploadMatches(
  spaceKey: number,
  sourceId: string | null,
  items: CheckDocumentsBody['items'],
): Read<UploadCheckMatch[]> {
  const rows = yield* findNewestByName(
    spaceKey,
    sourceId,
    items.map(({ filename }) => toStoredName(filename)),
  )
  const same = rows.filter((row, index) => row !== undefined && row.sha256 === items[index]?.sha256)
  const keys = same.flatMap((row) => row?.key ?? [])
  const latest = yield* listLatestJobs(keys)
  const jobs = new Map(keys.map((key, index) => [key, latest[index]]))
  return items.map(({ filename, sha256 }, index) => {
    const row = rows[index]
    const isSame = row?.sha256 === sha256
    return { filename, row, isSame, isFailed: isSame && hasEndedUnpublished(jobs.get(row.key)) }
  })
}
