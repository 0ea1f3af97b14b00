import { newId } from '../../lib/ids.js'
import { isTrained } from '../compile/vector-spaces.js'
import { queueAgain } from '../documents/reindex.js'
import type { PreparedAsset, PreparedDocument, PreparedNode } from '../parse/compiled.js'
import type { DocumentRow } from '../rows/documents.js'
import { replacePacked, withParts } from '../rows/version-parts.js'
import { insertAsset } from '../rows/versions.js'
import type { IndexBatch } from '../search/ports.js'
import { nodeHash } from '../storage/node-hash.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { artifactHash, readVersion, type ScannedVersion } from './artifacts.js'
import type { Scan } from './findings.js'
import { fromPassages, type StoredNode } from './from-passages.js'

interface Damaged {
  scan: Scan
  row: ScannedVersion
  document: DocumentRow
  nodes: StoredNode[]
}

/**
 * Puts a version right: from its document's bytes, read once more, where reading gives what was stored; else by compiling
 * the document again; and where the bytes are damaged too, from the passages that are left. No model is asked.
 *
 * @returns why nothing was done; nothing when it was
 */
export async function repairVersion(scan: Scan, versionKey: number): Promise<string | undefined> {
  const damaged = scan.context.db.now(load(scan, versionKey))
  if (damaged === undefined) return undefined
  const read = await readAgain(damaged)
  if (read !== undefined && isSameReading(damaged, read)) return rewrite(damaged, read)
  if (read !== undefined) return compileInstead(damaged)
  return restoreFromPassages(damaged)
}

function* load(scan: Scan, versionKey: number): Read<Damaged | undefined> {
  const row = yield* sql.getAsStored<ScannedVersion>(
    `SELECT versions.*, documents.id document_id, documents.filename FROM versions JOIN documents ON documents.key = versions.doc_key
     WHERE versions.key = ? AND versions.space_key = ? AND documents.deleted_at IS NULL`,
    [versionKey, scan.space.key],
  )
  const document = row && (yield* sql.getAsStored<DocumentRow>('SELECT * FROM documents WHERE key = ?', [row.doc_key]))
  if (row === undefined || document === undefined) return undefined
  const nodes = yield* sql.allAsStored<StoredNode>('SELECT * FROM nodes WHERE version_key = ? ORDER BY ordinal', [
    versionKey,
  ])
  return { scan, row: yield* withParts(row), document, nodes }
}

/** What the parser makes of the document's bytes now. @returns nothing when the bytes are not those received */
async function readAgain({ scan, document }: Damaged): Promise<PreparedDocument | undefined> {
  const { compiler, objects } = scan.context
  const file = await objects.measure(document.object_key).catch(() => undefined)
  if (file?.sha256 !== document.sha256) return undefined
  const [result] = await compiler.compile([
    {
      path: objects.path(document.object_key),
      root: objects.realRoot,
      filename: document.filename,
      declaredType: document.mime_type,
    },
  ])
  return result?.ok === true ? result.document : undefined
}

/** Whether a reading is the one that was stored: its hash says so, or most of the passages that are whole do. */
function isSameReading({ row, nodes }: Damaged, read: PreparedDocument): boolean {
  if (read.nodes.length !== row.node_count) return false
  if (read.artifactHash === row.artifact_hash) return true
  const whole = nodes.filter((node) => Buffer.compare(hashOf(node), node.row_hash) === 0)
  const same = (node: StoredNode) =>
    Buffer.compare(read.nodes[node.ordinal]?.hash ?? new Uint8Array(), node.row_hash) === 0
  return whole.length > 0 && whole.every(same)
}

function hashOf({ title, text, start_offset: startOffset, end_offset: endOffset }: StoredNode): Uint8Array {
  return nodeHash({ title, text, startOffset, endOffset })
}

/** Writes a reading over the rows of its version, in one transaction; passages keep their keys and ids. */
async function rewrite({ scan, row, nodes }: Damaged, read: PreparedDocument): Promise<string | undefined> {
  const { db, indexes } = scan.context
  const applied = await db.write(function* () {
    const there = yield* sql.getAsStored<{ until_revision: number | null }>(
      'SELECT until_revision FROM versions WHERE key = ?',
      [row.key],
    )
    if (there === undefined) return undefined
    yield* replacePacked(row.space_key, row.key, read)
    yield* sql.run('UPDATE versions SET artifact_hash = ? WHERE key = ?', [read.artifactHash, row.key])
    yield* writeAssets(row.key, read.assets)
    const changed = read.nodes.filter((node) => db.now(writeNode(row, nodes, node)))
    if (there.until_revision !== null || changed.length === 0) return undefined
    return yield* toBatch(scan, row, changed)
  })
  if (applied !== undefined) await indexes.apply(scan.space.id, applied)
  return undefined
}

function* writeAssets(versionKey: number, assets: readonly PreparedAsset[]): Write<void> {
  yield* sql.run('DELETE FROM item_assets WHERE version_key = ?', [versionKey])
  for (const asset of assets) yield* insertAsset(versionKey, asset)
}

/** @returns whether the passage's row was missing or other than it is now */
function* writeNode(row: ScannedVersion, stored: StoredNode[], node: PreparedNode): Write<boolean> {
  const { hash } = node
  const old = stored.find((each) => each.ordinal === node.ordinal)
  const values = [
    node.title,
    node.text,
    node.section,
    node.outlineNodeId,
    node.elements,
    node.startOffset,
    node.endOffset,
    node.pageNumber ?? null,
    node.kind,
  ]
  if (old !== undefined) {
    const before = [old.title, old.text, old.section, old.outline_node, old.elements]
    const isSame = before.every((value, place) => value === values[place]) && Buffer.compare(old.row_hash, hash) === 0
    if (isSame) return false
    yield* sql.run(
      `UPDATE nodes SET title = ?, text = ?, section = ?, outline_node = ?, elements = ?, start_offset = ?, end_offset = ?,
         page = ?, kind = ?, row_hash = ? WHERE key = ?`,
      [...values, hash, old.key],
    )
    return true
  }
  if (row.first_node === null) return false
  // nodes of a version have consecutive keys, so a lost one's key is known, and with it its vectors
  yield* sql.run(
    `INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
       start_offset, end_offset, page, kind, row_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [row.first_node + node.ordinal, newId(), row.space_key, row.doc_key, row.key, node.ordinal, ...values, hash],
  )
  return true
}

/** Changed passages for the indexes, with their entries in the projection log. */
function* toBatch(scan: Scan, row: ScannedVersion, changed: PreparedNode[]): Write<IndexBatch | undefined> {
  const { first_node: first } = row
  if (first === null) return undefined
  let seq = 0
  for (const node of changed)
    seq = (yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, 1, ?, ?)', [
      scan.space.key,
      first + node.ordinal,
      first + node.ordinal,
    ])).key
  const add = changed.map(({ ordinal, title, text }) => ({ key: first + ordinal, doc: row.doc_key, title, body: text }))
  return { seq, add, remove: [] }
}

/** The parser reads the document otherwise than it did: a new version takes the place of this one. */
async function compileInstead({ scan, row, document }: Damaged): Promise<string | undefined> {
  const { context, space } = scan
  if (!isTrained(space))
    return `reading gives other passages by now: \`ks docs reindex ${document.id}\` compiles it again`
  if (row.until_revision !== null) {
    await context.db.write(() => sql.run('UPDATE versions SET obsolete_at = ? WHERE key = ?', [scan.now, row.key]))
  } else await context.db.write(() => queueAgain(space, document))
  context.wake()
  return undefined
}

/** The document's bytes are of no use: what its passages say is all there is. */
async function restoreFromPassages({ scan, row, nodes }: Damaged): Promise<string | undefined> {
  const { db } = scan.context
  const damaged = nodes.some((node) => Buffer.compare(hashOf(node), node.row_hash) !== 0)
  if (damaged || nodes.length !== row.node_count || nodes.length === 0)
    return 'the bytes of the document and passages of it are damaged: upload the document again'
  const read = await readVersion(row)
  const { artifact, outline } = await fromPassages(row.title, nodes, read)
  const hash = artifactHash(artifact.value.text, outline.value)
  await db.write(function* () {
    yield* replacePacked(row.space_key, row.key, {
      artifact: artifact.packed,
      outline: outline.packed,
      items: row.items,
    })
    yield* sql.run(
      `UPDATE versions SET artifact_hash = ?,
         metadata = json_set(CASE WHEN json_valid(metadata) THEN metadata ELSE '{}' END, '$.restoredFromPassages', json('true'))
       WHERE key = ?`,
      [hash, row.key],
    )
  })
  if (read.items !== undefined) return undefined
  return 'the pictures of the document cannot be restored: upload the document again'
}
