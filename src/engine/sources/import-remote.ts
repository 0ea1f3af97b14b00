import { posix } from 'node:path'
import type { ImportFilesBody, ImportPagesBody, SourceImportResult } from '../../contract/gateway/sources.js'
import { defined } from '../../lib/defined.js'
import { fileKey, importedItems, pageKey } from '../rows/source-documents.js'
import type { DriveConnection, PageConnection } from './connectors/connector.js'
import type { Opened } from './connectors/open.js'
import { type ImportPlace, type Item, type ItemOutcome, importItems } from './import-items.js'

type PageAsked = ImportPagesBody['pages'][number]
type FileAsked = ImportFilesBody['files'][number]

/** Outcomes of pages or files, with their labels. */
export interface RemoteImport {
  labels: string[]
  outcomes: ItemOutcome[]
}

/** Imports the requested pages; duplicates count once. */
export async function importPages(
  place: ImportPlace,
  connection: PageConnection,
  asked: readonly PageAsked[],
): Promise<RemoteImport> {
  const pages = [...new Map(asked.map((page) => [page.pageId, page])).values()]
  const outcomes = await importItems(
    place,
    pages.map((page) => pageItem(connection, page)),
  )
  return { labels: pages.map(({ pageId }) => pageId), outcomes }
}

/** Imports the requested files; duplicates count once. */
export async function importFiles(
  place: ImportPlace,
  connection: DriveConnection,
  asked: readonly FileAsked[],
): Promise<RemoteImport> {
  const items = new Map<string, Item>()
  const labels = new Map<string, string>()
  for (const file of asked) {
    const { bucket, isNamedBySource } = connection.bucketOf(file)
    const key = fileKey(file.id, bucket)
    items.set(key, fileItem(connection, { ...file, bucket }, key, isNamedBySource))
    labels.set(key, file.id)
  }
  return { labels: [...labels.values()], outcomes: await importItems(place, [...items.values()]) }
}

/**
 * Imports again only what was imported before: pages edited since, and every file.
 *
 * @throws EgressFailure when nothing could be read
 */
export async function importAgain(place: ImportPlace, opened: Opened): Promise<RemoteImport> {
  const imported = await place.context.db.read(importedItems(place.source))
  const known = [...imported.values()].map(({ metadata }) => metadata)
  if (opened.kind === 'files') return importFiles(place, opened.connection, known.flatMap(fileOf))
  const pages = known.flatMap(pageOf)
  if (pages.length === 0) return { labels: [], outcomes: [] }
  const listed = new Map<string, string | undefined>()
  for (const workspace of await opened.connection.list())
    for (const page of workspace.pages) listed.set(page.pageId, page.lastEditedTime)
  const there = pages.filter(({ pageId }) => listed.has(pageId))
  const read = await importPages(
    place,
    opened.connection,
    there.map((page) => ({ ...page, lastEditedTime: listed.get(page.pageId) })),
  )
  const gone = pages.filter(({ pageId }) => !listed.has(pageId)).map(({ pageId }) => pageId)
  const failures = gone.map((filename): ItemOutcome => {
    return { kind: 'failed', filename, error: 'no longer exists', placeFailed: false }
  })
  return { labels: [...read.labels, ...gone], outcomes: [...read.outcomes, ...failures] }
}

/** The reply to a client. */
export function toResult({ labels, outcomes }: RemoteImport): SourceImportResult {
  const result: SourceImportResult = { documents: [], failed: [], skipped: [] }
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'skipped') result.skipped.push(labels[index] ?? '')
    else if (outcome.kind === 'failed') result.failed.push({ filename: outcome.filename, error: outcome.error })
    else result.documents.push({ documentAssetId: outcome.documentAssetId, filename: outcome.filename })
  }
  return result
}

function pageItem(connection: PageConnection, page: PageAsked): Item {
  const { pageId, workspaceId, type, name, lastEditedTime } = page
  return {
    key: pageKey(pageId),
    label: name ?? pageId,
    isUnchanged: ({ metadata }) => lastEditedTime !== undefined && metadata.lastEditedTime === lastEditedTime,
    async read() {
      const { pageName, lastEditedTime: edited, path, isUnique, mimeType, content } = await connection.read(page)
      const metadata = {
        pageId,
        workspaceId,
        pageType: type,
        title: pageName,
        ...defined({ name }),
        // the content is at least as new as the client's value
        ...(edited === undefined && lastEditedTime === undefined ? {} : { lastEditedTime: edited ?? lastEditedTime }),
      }
      return { path, isUnique, mimeType, content, metadata }
    },
  }
}

function fileItem(connection: DriveConnection, file: FileAsked, key: string, isNamedBySource: boolean): Item {
  const { id, name, bucket, mimeType: asked } = file
  return {
    key,
    label: name,
    async read(kept) {
      const opened = await connection.open({ id, bucket }, kept)
      const folder = bucket === undefined || isNamedBySource ? '' : `${bucket}/`
      const isNamedById = posix.basename(id) === name
      const path = isNamedById ? `${folder}${id}` : `${folder}${posix.dirname(id)}/${name}`
      const metadata = {
        fileId: id,
        name,
        ...defined({ bucket, mimeType: asked }),
      }
      const type = asked ?? opened?.mimeType
      return {
        path,
        isUnique: isNamedById,
        content: opened?.content,
        validators: opened?.validators,
        metadata,
        ...defined({ mimeType: type }),
      }
    },
  }
}

function pageOf(metadata: Readonly<Record<string, unknown>>): PageAsked[] {
  const { pageId, workspaceId, pageType: type, name } = metadata
  if (typeof pageId !== 'string' || typeof workspaceId !== 'string' || typeof type !== 'string') return []
  return [{ pageId, workspaceId, type, ...(typeof name === 'string' ? { name } : {}) }]
}

function fileOf(metadata: Readonly<Record<string, unknown>>): FileAsked[] {
  const { fileId: id, name, bucket, mimeType } = metadata
  if (typeof id !== 'string' || typeof name !== 'string') return []
  return [
    {
      id,
      name,
      ...(typeof bucket === 'string' ? { bucket } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
    },
  ]
}
