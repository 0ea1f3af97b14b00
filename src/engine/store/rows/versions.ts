import { newId } from '../../../lib/ids.js'
import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { PreparedAsset, PreparedDocument } from '../compiled.js'
import { type Bindable, type Read, readClock, sql, type Write } from '../program.js'
import { parseJsonCell } from '../readable.js'
import { logRemoved } from './projection-log.js'
import { type PackedVersion, splitParts, type VersionPart } from './version-parts.js'

/** Row keys of the owners of a version. */
export interface VersionOwner {
  spaceKey: number
  docKey: number
  version: number
}

/** maximum number of passages that one transaction removes: those of a larger version are left to the purge */
const MAX_REMOVED_NODES = 500

/** A version to be inserted. */
export interface NewVersion {
  owner: VersionOwner
  document: PreparedDocument
  /** key of its first node, if all nodes follow in this transaction: the row then has the final node count */
  firstNode?: number
}

/** An inserted version. */
export interface InsertedVersion {
  versionKey: number
  /** the content that does not fit into the row */
  parts: VersionPart[]
}

/** Inserts the rows of versions without their nodes, inside the caller's transaction. */
export function* insertVersionRows(versions: readonly NewVersion[]): Write<InsertedVersion[]> {
  const now = yield* readClock()
  const splits = versions.map(({ document }) => splitParts(document))
  const inserted = yield* sql.returningEach<{ key: number }>(
    `INSERT INTO versions (doc_key, space_key, version, title, artifact_id, artifact_hash, content_type, parser, metadata,
       artifact, outline_id, outline, items_id, items, first_node, last_node, node_count, segment_count, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    versions.map((version, index) => toVersionCells(version, splits[index]?.row ?? version.document, now)),
  )
  return inserted.flat().map(({ key }, index) => ({ versionKey: key, parts: splits[index]?.parts ?? [] }))
}

function toVersionCells({ owner, document, firstNode }: NewVersion, row: PackedVersion, now: number): Bindable[] {
  const count = firstNode === undefined ? 0 : document.nodes.length
  const first = firstNode === undefined || count === 0 ? null : firstNode
  return [
    owner.docKey,
    owner.spaceKey,
    owner.version,
    document.title,
    newId(),
    document.artifactHash,
    document.contentType,
    document.parser,
    JSON.stringify(versionMetadata(document)),
    row.artifact,
    newId(),
    row.outline,
    newId(),
    row.items,
    first,
    first === null ? null : first + count - 1,
    count,
    document.segments,
    now,
  ]
}

export function* insertAssets(versionKey: number, assets: readonly PreparedAsset[]): Write<void> {
  yield* sql.runEach(
    'INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (?, ?, ?, ?, ?)',
    assets.map(({ itemId, contentType, sha256, bytes }) => [versionKey, itemId, contentType, sha256, bytes]),
  )
}

/** A version that was never published. */
interface UnpublishedVersion {
  key: number
  space_key: number
  first_node: number | null
  last_node: number | null
  node_count: number
  has_parts: number
}

/**
 * Removes a version that was never published, inside the caller's transaction: its compilation starts over, failed or
 * was canceled. The rows of a large version are only hidden; the purge removes them in slices.
 *
 * @returns the index log's entry for its nodes, which an index may contain; 0 if it has none
 */
export function* removeUnpublishedVersion(docKey: number, version: number): Write<number> {
  return yield* removeUnpublishedVersions([{ docKey, version }])
}

/** The same for several versions. @returns the index log's last entry */
export function* removeUnpublishedVersions(
  versions: readonly Pick<VersionOwner, 'docKey' | 'version'>[],
): Write<number> {
  const rows = yield* sql.getEach<UnpublishedVersion>(
    `SELECT key, space_key, first_node, last_node, node_count,
       EXISTS (SELECT 1 FROM version_parts WHERE version_key = versions.key) has_parts
     FROM versions WHERE doc_key = ? AND version = ? AND from_revision IS NULL`,
    versions.map(({ docKey, version }) => [docKey, version]),
  )
  let seq = 0
  for (const row of rows) if (row !== undefined) seq = Math.max(seq, yield* removeOrHideVersion(row))
  return seq
}

function* removeOrHideVersion(row: UnpublishedVersion): Write<number> {
  if (row.node_count > MAX_REMOVED_NODES || row.has_parts === 1) yield* leaveVersionToPurge(row.key)
  else {
    yield* sql.run(
      `DELETE FROM vectors WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)
         AND node_key BETWEEN ? AND ?`,
      [row.space_key, row.first_node, row.last_node],
    )
    yield* sql.run('DELETE FROM nodes WHERE version_key = ?', [row.key])
    yield* removeItemAssets(row.key)
    yield* sql.run('DELETE FROM versions WHERE key = ?', [row.key])
  }
  return yield* logRemoved(row.space_key, [row])
}

/**
 * Hides a version before the first revision: no revision shows it, its number is free, and the purge removes it next.
 */
function* leaveVersionToPurge(versionKey: number): Write<void> {
  yield* sql.run('UPDATE versions SET version = -key, until_revision = 0, obsolete_at = 0 WHERE key = ?', [versionKey])
}

function versionMetadata(document: PreparedDocument): Record<string, unknown> {
  return {
    ...document.metadata,
    mediaType: document.mediaType,
    ...omitUndefined({ language: document.language }),
  }
}

/** Row key of a version of a document. */
export function* findVersionKey(docKey: number, version: number): Read<number | undefined> {
  return (yield* sql.get<{ key: number }>('SELECT key FROM versions WHERE doc_key = ? AND version = ?', [
    docKey,
    version,
  ]))?.key
}

/** The metadata of a version. */
export function* getVersionMetadata(key: number): Read<Record<string, unknown>> {
  const row = yield* sql.get<{ metadata: string }>('SELECT metadata FROM versions WHERE key = ?', [key])
  const metadata: unknown = parseJsonCell(row?.metadata ?? '{}')
  return isRecord(metadata) ? metadata : {}
}

/** Whether a version exists under its number: one that is left to the purge has lost it. */
export function* hasVersion(key: number, version: number): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM versions WHERE key = ? AND version = ?', [key, version])
}

/** Whether versions are, or may still become, visible at the head. */
export function* areVersionsLive(keys: readonly number[]): Read<boolean[]> {
  const live = yield* sql.getEach(
    'SELECT 1 one FROM versions WHERE key = ? AND until_revision IS NULL',
    keys.map((key) => [key]),
  )
  return live.map((row) => row !== undefined)
}

/** Whether each of the documents has a published version. */
export function* arePublished(docKeys: readonly number[]): Read<boolean[]> {
  const published = yield* sql.getEach(
    'SELECT 1 one FROM versions WHERE doc_key = ? AND from_revision IS NOT NULL AND until_revision IS NULL',
    docKeys.map((key) => [key]),
  )
  return published.map((row) => row !== undefined)
}

/**
 * Makes versions of documents of a space visible from a revision on, and ends earlier ones, inside the caller's
 * transaction.
 *
 * @returns the index log's last entry for the nodes of the earlier ones; 0 if they have none
 */
export function* publishVersions(
  spaceKey: number,
  published: readonly { docKey: number; versionKey: number }[],
  revision: number,
): Write<number> {
  const earlier = yield* sql.allEach<{ key: number; first_node: number | null; last_node: number | null }>(
    'SELECT key, first_node, last_node FROM versions WHERE doc_key = ? AND key <> ? AND until_revision IS NULL',
    published.map(({ docKey, versionKey }) => [docKey, versionKey]),
  )
  const superseded = earlier.flat()
  yield* sql.runEach(
    'UPDATE versions SET until_revision = ? WHERE key = ?',
    superseded.map(({ key }) => [revision, key]),
  )
  const seq = yield* logRemoved(spaceKey, superseded)
  yield* sql.runEach(
    'UPDATE versions SET from_revision = ? WHERE key = ?',
    published.map(({ versionKey }) => [revision, versionKey]),
  )
  return seq
}

/**
 * Marks the versions of documents up to a number as obsolete: the purge removes them once no snapshot can show them.
 */
export function* markObsoleteUpTo(versions: readonly { docKey: number; upTo: number }[]): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    'UPDATE versions SET obsolete_at = ? WHERE doc_key = ? AND version <= ? AND obsolete_at IS NULL',
    versions.map(({ docKey, upTo }) => [now, docKey, upTo]),
  )
}

/** Removes the pictures of a version. */
export function* removeItemAssets(versionKey: number): Write<void> {
  yield* sql.run('DELETE FROM item_assets WHERE version_key = ?', [versionKey])
}

export function* doVersionsExist(versionKeys: readonly number[]): Read<boolean[]> {
  const rows = yield* sql.getEach(
    'SELECT 1 one FROM versions WHERE key = ?',
    versionKeys.map((key) => [key]),
  )
  return rows.map((row) => row !== undefined)
}
