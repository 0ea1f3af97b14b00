import { newId } from '../../../../lib/ids.js'
import type { PreparedNode } from '../../../store/compiled.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import type { DocumentRow } from '../../../store/rows/documents.js'
import { toContentCells } from '../../../store/rows/nodes.js'
import { logRemoved } from '../../../store/rows/projection-log.js'
import { loadPackedVersion } from '../../../store/rows/version-parts.js'
import { removeNode } from '../purge/parts.js'
import { listStoredNodes, type StoredNode } from './nodes.js'
import type { ScannedVersion } from './versions.js'

/** A version of a live document with everything stored for it, damaged or not. */
export interface StoredVersion {
  row: ScannedVersion
  document: DocumentRow
  nodes: StoredNode[]
}

export function* findStoredVersion(spaceKey: number, versionKey: number): Read<StoredVersion | undefined> {
  const row = yield* sql.getAsStored<ScannedVersion>(
    `SELECT versions.*, documents.id document_id, documents.filename FROM versions JOIN documents ON documents.key = versions.doc_key
     WHERE versions.key = ? AND versions.space_key = ? AND documents.deleted_at IS NULL`,
    [versionKey, spaceKey],
  )
  const document = row && (yield* sql.getAsStored<DocumentRow>('SELECT * FROM documents WHERE key = ?', [row.doc_key]))
  if (row === undefined || document === undefined) return undefined
  const nodes = yield* listStoredNodes(versionKey)
  return { row: yield* loadPackedVersion(row), document, nodes }
}

/** Whether a version exists, and whether it is superseded. */
export function* getVersionState(key: number): Read<'gone' | 'live' | 'superseded'> {
  const row = yield* sql.getAsStored<{ until_revision: number | null }>(
    'SELECT until_revision FROM versions WHERE key = ?',
    [key],
  )
  if (row === undefined) return 'gone'
  return row.until_revision === null ? 'live' : 'superseded'
}

export function* setArtifactHash(versionKey: number, hash: string): Write<void> {
  yield* sql.run('UPDATE versions SET artifact_hash = ? WHERE key = ?', [hash, versionKey])
}

/** The same for an artifact that was restored from passages; the version's metadata record that. */
export function* setRestoredHash(versionKey: number, hash: string): Write<void> {
  yield* sql.run(
    `UPDATE versions SET artifact_hash = ?,
         metadata = json_set(CASE WHEN json_valid(metadata) THEN metadata ELSE '{}' END, '$.restoredFromPassages', json('true'))
       WHERE key = ?`,
    [hash, versionKey],
  )
}

/** @returns whether the passage's row was missing or different */
export function* restoreNode(row: ScannedVersion, old: StoredNode | undefined, node: PreparedNode): Write<boolean> {
  const { hash } = node
  const values = toContentCells(node)
  if (old !== undefined) {
    const location = [old.start_offset, old.end_offset, old.page, old.kind]
    const oldValues = [old.title, old.text, old.section, old.outline_node, old.elements, ...location]
    const isSame =
      oldValues.every((value, index) => value === values[index]) && Buffer.compare(old.row_hash, hash) === 0
    if (isSame) return false
    yield* sql.run(
      `UPDATE nodes SET title = ?, text = ?, section = ?, outline_node = ?, elements = ?, start_offset = ?, end_offset = ?,
         page = ?, kind = ?, shows = ?, row_hash = ? WHERE key = ?`,
      [...values, hash, old.key],
    )
    return true
  }
  if (row.first_node === null) return false
  // nodes of a version have consecutive keys, so the key of a lost node is known, and so are its vectors
  yield* sql.run(
    `INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
       start_offset, end_offset, page, kind, shows, row_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [row.first_node + node.ordinal, newId(), row.space_key, row.doc_key, row.key, node.ordinal, ...values, hash],
  )
  return true
}

/**
 * Removes passages without a version, in a range of keys. @returns their number, and the last entry of the index log
 */
export function* removeStrayNodes(
  spaceKey: number,
  first: number,
  last: number,
): Write<{ seq: number; count: number }> {
  const rows = yield* sql.allAsStored<{ key: number }>(
    `SELECT key FROM nodes WHERE space_key = ? AND key BETWEEN ? AND ?
         AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.key = nodes.version_key)`,
    [spaceKey, first, last],
  )
  for (const { key } of rows) yield* removeNode(spaceKey, key)
  const seq = yield* logRemoved(
    spaceKey,
    rows.map(({ key }) => ({ first_node: key, last_node: key })),
  )
  return { seq, count: rows.length }
}

/** A document that is not deleted, by the key of its row. */
export function* findLiveDocument(docKey: number): Read<DocumentRow | undefined> {
  return yield* sql.get<DocumentRow>('SELECT * FROM documents WHERE key = ? AND deleted_at IS NULL', [docKey])
}
