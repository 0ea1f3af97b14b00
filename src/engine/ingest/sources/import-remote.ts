import { posix } from 'node:path'
import type { ImportFilesBody, ImportPagesBody, SourceImportResult } from '../../../contract/gateway/sources.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { listImportedItems, toFileKey, toPageKey } from '../rows/source-documents.js'
import type { DriveConnection, PageConnection } from './connectors/connector.js'
import type { OpenedSource } from './connectors/open.js'
import { type ImportContext, type ImportItem, type ImportItemOutcome, importItems } from './import-items.js'

type RequestedPage = ImportPagesBody['pages'][number]
type RequestedFile = ImportFilesBody['files'][number]

/** Outcomes of pages or files, with their labels. */
export interface RemoteImport {
  labels: string[]
  outcomes: ImportItemOutcome[]
}

/** Imports the requested pages; duplicates count once. */
export async function importPages(
  importContext: ImportContext,
  connection: PageConnection,
  requested: readonly RequestedPage[],
): Promise<RemoteImport> {
  const pages = [...new Map(requested.map((page) => [page.pageId, page])).values()]
  const outcomes = await importItems(
    importContext,
    pages.map((page) => toPageItem(connection, page)),
  )
  return { labels: pages.map(({ pageId }) => pageId), outcomes }
}

/** Imports the requested files; duplicates count once. */
export async function importFiles(
  importContext: ImportContext,
  connection: DriveConnection,
  requested: readonly RequestedFile[],
): Promise<RemoteImport> {
  const items = new Map<string, ImportItem>()
  const labels = new Map<string, string>()
  for (const file of requested) {
    const { bucket, isNamedBySource } = connection.resolveBucket(file)
    const key = toFileKey(file.id, bucket)
    items.set(key, toFileItem(connection, { ...file, bucket }, key, isNamedBySource))
    labels.set(key, file.id)
  }
  return { labels: [...labels.values()], outcomes: await importItems(importContext, [...items.values()]) }
}

/**
 * Imports again only what was imported before: pages edited since, and every file.
 *
 * @throws EgressFailure when nothing could be read
 */
export async function reimport(importContext: ImportContext, opened: OpenedSource): Promise<RemoteImport> {
  const imported = await importContext.context.db.read(listImportedItems(importContext.source))
  const known = [...imported.values()].map(({ metadata }) => metadata)
  if (opened.kind === 'files') return importFiles(importContext, opened.connection, known.flatMap(toRequestedFile))
  const pages = known.flatMap(toRequestedPage)
  if (pages.length === 0) return { labels: [], outcomes: [] }
  const listed = new Map<string, string | undefined>()
  for (const workspace of await opened.connection.list())
    for (const page of workspace.pages) listed.set(page.pageId, page.lastEditedTime)
  const existing = pages.filter(({ pageId }) => listed.has(pageId))
  const imports = await importPages(
    importContext,
    opened.connection,
    existing.map((page) => ({ ...page, lastEditedTime: listed.get(page.pageId) })),
  )
  const missingIds = pages.filter(({ pageId }) => !listed.has(pageId)).map(({ pageId }) => pageId)
  const failures = missingIds.map((filename): ImportItemOutcome => {
    return { kind: 'failed', filename, error: 'no longer exists', locationFailed: false }
  })
  return { labels: [...imports.labels, ...missingIds], outcomes: [...imports.outcomes, ...failures] }
}

/** The reply to a client. */
export function toImportResult({ labels, outcomes }: RemoteImport): SourceImportResult {
  const result: SourceImportResult = { documents: [], failed: [], skipped: [] }
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'skipped') result.skipped.push(labels[index] ?? '')
    else if (outcome.kind === 'failed') result.failed.push({ filename: outcome.filename, error: outcome.error })
    else result.documents.push({ documentAssetId: outcome.documentAssetId, filename: outcome.filename })
  }
  return result
}

function toPageItem(connection: PageConnection, page: RequestedPage): ImportItem {
  const { pageId, workspaceId, type, name, lastEditedTime } = page
  return {
    key: toPageKey(pageId),
    label: name ?? pageId,
    isUnchanged: ({ metadata }) => lastEditedTime !== undefined && metadata.lastEditedTime === lastEditedTime,
    async read() {
      const { pageName, lastEditedTime: edited, path, isUnique, mimeType, content } = await connection.read(page)
      const metadata = {
        pageId,
        workspaceId,
        pageType: type,
        title: pageName,
        ...omitUndefined({ name }),
        // the content is at least as new as the client's value
        ...(edited === undefined && lastEditedTime === undefined ? {} : { lastEditedTime: edited ?? lastEditedTime }),
      }
      return { path, isUnique, mimeType, content, metadata }
    },
  }
}

function toFileItem(
  connection: DriveConnection,
  file: RequestedFile,
  key: string,
  isNamedBySource: boolean,
): ImportItem {
  const { id, name, bucket, mimeType: requested } = file
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
        ...omitUndefined({ bucket, mimeType: requested }),
      }
      const type = requested ?? opened?.mimeType
      return {
        path,
        isUnique: isNamedById,
        content: opened?.content,
        validators: opened?.validators,
        metadata,
        ...omitUndefined({ mimeType: type }),
      }
    },
  }
}

function toRequestedPage(metadata: Readonly<Record<string, unknown>>): RequestedPage[] {
  const { pageId, workspaceId, pageType: type, name } = metadata
  if (typeof pageId !== 'string' || typeof workspaceId !== 'string' || typeof type !== 'string') return []
  return [{ pageId, workspaceId, type, ...(typeof name === 'string' ? { name } : {}) }]
}

function toRequestedFile(metadata: Readonly<Record<string, unknown>>): RequestedFile[] {
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
