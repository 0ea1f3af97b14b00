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
  findDocument,
  findNewestByName,
  listDocumentsAfter,
  toAsset,
  withNewestFile,
} from '../../store/rows/documents.js'
import { hasEndedUnpublished, type JobRow, listLatestJobs } from '../../store/rows/jobs.js'
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
  const rows = yield* listDocumentsAfter(caller, space.key, { after: page.cursor ?? '', limit: limit + 1 })
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
    const files = batch.map(({ filename, sha256 }) => ({ name: toStoredName(filename), sha256 }))
    const matches = await db.read(findUploadMatches(space.key, body.sourceId ?? null, files))
    items.push(
      ...(await Promise.all(
        batch.map(async ({ filename }, index) => {
          const { newest, same, latest } = matches[index] ?? {}
          if (newest === undefined) return { filename, status: 'new' as const }
          if (same === undefined || (await objects.describe(same.object_key))?.size !== same.size_bytes)
            return { filename, status: 'changed' as const, documentId: newest.id }
          return {
            filename,
            status: hasEndedUnpublished(latest) ? ('failed' as const) : ('unchanged' as const),
            documentId: same.id,
            parserStatus: isBeingEdited(same, latest) ? ('pending' as const) : same.parser_status,
            ...omitUndefined({ error: same.error ?? undefined }),
          }
        }),
      )),
    )
  }
  return { items }
}

/** Whether the newest file of a published document is still being compiled. */
function isBeingEdited(document: DocumentRow, latest: JobRow | undefined): boolean {
  return document.next_object_key !== null && latest?.completed_at === null
}

/** @throws KsError `not-found` also for a source that the caller may not read */
function* findSpaceAndSource(caller: Caller, spaceId: string, sourceId: string | undefined): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, spaceId)
  if (sourceId !== undefined) yield* findSource(caller, space, sourceId)
  return space
}

/** A file of an upload, and the document with its name. */
export interface UploadMatch {
  /** with its newest file; undefined if no document has the name */
  newest: DocumentRow | undefined
  /** the same row if it has the bytes, too, and its latest job */
  same: DocumentRow | undefined
  latest: JobRow | undefined
}

/** For each file the newest document with its name. */
export function* findUploadMatches(
  spaceKey: number,
  sourceId: string | null,
  files: readonly { name: string; sha256: string }[],
): Read<UploadMatch[]> {
  const rows = yield* findNewestByName(
    spaceKey,
    sourceId,
    files.map(({ name }) => name),
  )
  const newest = rows.map((row) => row && withNewestFile(row))
  const same = newest.map((row, index) => (row?.sha256 === files[index]?.sha256 ? row : undefined))
  const keys = [...new Set(same.flatMap((row) => row?.key ?? []))]
  const latest = yield* listLatestJobs(keys)
  const jobs = new Map(keys.map((key, index) => [key, latest[index]]))
  return same.map((row, index) => ({ newest: newest[index], same: row, latest: row && jobs.get(row.key) }))
}
