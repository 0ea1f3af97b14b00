import { notFoundError } from '../../../contract/errors.js'
import type { Caller } from '../../base/caller.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { findPublishedVersion, findVersionByNumber, type VersionRow } from '../../store/rows/document-versions.js'
import { type DocumentRow, findDocument } from '../../store/rows/documents.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { loadPackedColumn } from '../../store/rows/version-parts.js'

function* findSpaceAndDocument(
  caller: Caller,
  spaceId: string,
  documentId: string,
): Read<{ space: SpaceRow; document: DocumentRow }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return { space, document: yield* findDocument(caller, space.key, documentId) }
}

/** The version with a number, with its elements as they are stored: packed. */
export function* loadVersionWithArtifact(caller: Caller, spaceId: string, documentId: string, version: number) {
  const { document } = yield* findSpaceAndDocument(caller, spaceId, documentId)
  const row = yield* findVersionByNumber(document.key, version)
  if (row === undefined) throw notFoundError('parse artifact', `${documentId} version ${version}`)
  return { document, row, packed: yield* loadPackedColumn(row.key, 'artifact', row.artifact) }
}

/** The published version. @throws KsError `not-found` before the first publication */
export function* findPublished(caller: Caller, spaceId: string, documentId: string) {
  const { space, document } = yield* findSpaceAndDocument(caller, spaceId, documentId)
  const row = yield* findPublishedVersion(document.key)
  if (row === undefined) throw notFoundError('published version of document', document.id)
  return { space, document, row }
}

/** The published version with its packed items: its pictures, tables, code blocks and pages. */
export function* loadPublishedItems(caller: Caller, spaceId: string, documentId: string) {
  const version = yield* findPublished(caller, spaceId, documentId)
  return { ...version, packed: yield* loadPackedColumn(version.row.key, 'items', version.row.items) }
}

/** The packed elements of a loaded version. @throws KsError `not-found` when the document is deleted */
export function* loadArtifact(caller: Caller, spaceId: string, documentId: string, row: VersionRow): Read<Uint8Array> {
  yield* findSpaceAndDocument(caller, spaceId, documentId)
  return yield* loadPackedColumn(row.key, 'artifact', row.artifact)
}

/** The packed outline of a loaded version. @throws KsError `not-found` when the document is deleted */
export function* loadOutline(caller: Caller, spaceId: string, documentId: string, row: VersionRow): Read<Uint8Array> {
  yield* findSpaceAndDocument(caller, spaceId, documentId)
  return yield* loadPackedColumn(row.key, 'outline', row.outline)
}

/** The metadata of a version. */
export function parseVersionMetadata({ metadata }: Pick<VersionRow, 'metadata'>): Record<string, unknown> {
  const value: unknown = parseJsonCell(metadata)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Whether the pages of a version can be rendered. */
export function isPaged(row: Pick<VersionRow, 'metadata'>): boolean {
  return parseVersionMetadata(row).mediaType === 'application/pdf'
}
