import { notFound } from '../../contract/errors.js'
import type { Caller } from '../base/caller.js'
import { publishedVersion, type VersionRow, versionNumbered } from '../rows/document-versions.js'
import { type DocumentRow, findDocument } from '../rows/documents.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { packedOf } from '../rows/version-parts.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'

function* locate(
  caller: Caller,
  spaceId: string,
  documentId: string,
): Read<{ space: SpaceRow; document: DocumentRow }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return { space, document: yield* findDocument(caller, space.key, documentId) }
}

/** A version with its packed elements. */
export function* versionParts(caller: Caller, spaceId: string, documentId: string, version: number) {
  const { document } = yield* locate(caller, spaceId, documentId)
  const row = yield* versionNumbered(document.key, version)
  if (row === undefined) throw notFound('parse artifact', `${documentId} version ${version}`)
  return { document, row, packed: yield* packedOf(row.key, 'artifact', row.artifact) }
}

/** The published version. @throws KsError `not-found` before the first publication */
export function* published(caller: Caller, spaceId: string, documentId: string) {
  const { space, document } = yield* locate(caller, spaceId, documentId)
  const row = yield* publishedVersion(document.key)
  if (row === undefined) throw notFound('published version of document', document.id)
  return { space, document, row }
}

/** The published version with its packed items. */
export function* publishedItems(caller: Caller, spaceId: string, documentId: string) {
  const found = yield* published(caller, spaceId, documentId)
  return { ...found, packed: yield* packedOf(found.row.key, 'items', found.row.items) }
}

/** The packed elements of a version. @throws KsError `not-found` when the document is deleted */
export function* artifactOf(caller: Caller, spaceId: string, documentId: string, row: VersionRow): Read<Uint8Array> {
  yield* locate(caller, spaceId, documentId)
  return yield* packedOf(row.key, 'artifact', row.artifact)
}

/** The packed outline of a version. @throws KsError `not-found` when the document is deleted */
export function* outlineOf(caller: Caller, spaceId: string, documentId: string, row: VersionRow): Read<Uint8Array> {
  yield* locate(caller, spaceId, documentId)
  return yield* packedOf(row.key, 'outline', row.outline)
}

/** The metadata of a version. */
export function metadataOf({ metadata }: Pick<VersionRow, 'metadata'>): Record<string, unknown> {
  const value: unknown = fromCell(metadata)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Whether the pages of a version can be rendered. */
export function isPaged(row: Pick<VersionRow, 'metadata'>): boolean {
  return metadataOf(row).mediaType === 'application/pdf'
}
