import type { CheckDocumentsBody, CheckedDocuments, DocumentAsset } from '../../contract/gateway/documents.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { isRecord } from '../../lib/json/values.js'
import type { Caller } from '../base/caller.js'
import { storedName } from '../base/file-names.js'
import type { Page, PageRequest } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { publishedFields } from '../rows/document-fields.js'
import { type DocumentRow, documentsAfter, findDocument, newestNamed, toAsset } from '../rows/documents.js'
import { endedInVain, latestJobs } from '../rows/jobs.js'
import { findSource } from '../rows/sources.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { fromCell, readablePage, unlessDamaged } from '../storage/readable.js'

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
const DESCRIBED_AT_ONCE = 32

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
  const version = yield* publishedFields(row.key)
  return version === undefined ? asset : { ...asset, metadata: { ...fieldsOf(version), ...asset.metadata } }
}

/** The document's metadata fields, as they were parsed. */
function fieldsOf({ title, metadata }: { title: string; metadata: string }): Record<string, unknown> {
  const said: unknown = unlessDamaged(() => fromCell(metadata))
  if (!isRecord(said)) return { title }
  return { title, ...Object.fromEntries(DOCUMENT_FIELDS.flatMap((name) => (name in said ? [[name, said[name]]] : []))) }
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
  const space = await db.read(spaceAndSource(caller, spaceId, body.sourceId))
  const items: CheckedDocuments['items'] = []
  for (let from = 0; from < body.items.length; from += DESCRIBED_AT_ONCE) {
    const asked = body.items.slice(from, from + DESCRIBED_AT_ONCE)
    const held = await db.read(heldAs(space.key, body.sourceId ?? null, asked))
    items.push(
      ...(await Promise.all(
        held.map(async ({ filename, row, isSame, isFailed }) => {
          if (row === undefined) return { filename, status: 'new' as const }
          if (!isSame || (await objects.describe(row.object_key))?.size !== row.size_bytes)
            return { filename, status: 'changed' as const, documentId: row.id }
          return {
            filename,
            status: isFailed ? ('failed' as const) : ('unchanged' as const),
            documentId: row.id,
            parserStatus: row.parser_status,
            ...defined({ error: row.error ?? undefined }),
          }
        }),
      )),
    )
  }
  return { items }
}

/** @throws KsError `not-found` also for a source that the caller may not read */
function* spaceAndSource(caller: Caller, spaceId: string, sourceId: string | undefined): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, spaceId)
  if (sourceId !== undefined) yield* findSource(caller, space, sourceId)
  return space
}

interface Held {
  filename: string
  /** undefined if no document has the name */
  row: DocumentRow | undefined
  /** whether its bytes are the same; and whether its last compilation failed or was canceled */
  isSame: boolean
  isFailed: boolean
}

function* heldAs(spaceKey: number, sourceId: string | null, asked: CheckDocumentsBody['items']): Read<Held[]> {
  const rows = yield* newestNamed(
    spaceKey,
    sourceId,
    asked.map(({ filename }) => storedName(filename)),
  )
  const same = rows.filter((row, place) => row !== undefined && row.sha256 === asked[place]?.sha256)
  const keys = same.flatMap((row) => row?.key ?? [])
  const latest = yield* latestJobs(keys)
  const jobs = new Map(keys.map((key, place) => [key, latest[place]]))
  return asked.map(({ filename, sha256 }, place) => {
    const row = rows[place]
    const isSame = row?.sha256 === sha256
    return { filename, row, isSame, isFailed: isSame && endedInVain(jobs.get(row.key)) }
  })
}
