import { omitUndefined } from '../../../lib/omit-undefined.js'
import { isTrained, queueCompilations } from '../../library/index.js'
import type { PreparedAsset, PreparedDocument, PreparedNode } from '../../store/compiled.js'
import { matchesRowHash } from '../../store/node-hash.js'
import { toReadError } from '../../store/objects.js'
import type { Write } from '../../store/program.js'
import { getDeclaredCharset } from '../../store/rows/documents.js'
import { logAdded } from '../../store/rows/projection-log.js'
import { replacePackedVersion } from '../../store/rows/version-parts.js'
import { insertAssets, removeItemAssets } from '../../store/rows/versions.js'
import type { StoredNode } from '../rows/integrity/nodes.js'
import {
  findStoredVersion,
  getVersionState,
  restoreNode,
  type StoredVersion,
  setArtifactHash,
  setRestoredHash,
} from '../rows/integrity/repairs.js'
import type { ScannedVersion } from '../rows/integrity/versions.js'
import { markVersionsObsolete } from '../rows/retention/versions.js'
import { hashArtifact, unpackVersion } from './artifacts.js'
import type { IntegrityScan } from './findings.js'
import { rebuildFromPassages } from './rebuild-from-passages.js'

interface DamagedVersion extends StoredVersion {
  scan: IntegrityScan
}

/**
 * Repairs a version without a model: from the bytes of its document, parsed again, if that gives the stored content;
 * otherwise by compiling the document again; and where the bytes are damaged too, from the remaining passages.
 *
 * @returns why nothing was done; nothing when it was repaired
 */
export async function repairVersion(scan: IntegrityScan, versionKey: number): Promise<string | undefined> {
  const stored = await scan.context.db.read(findStoredVersion(scan.space.key, versionKey))
  if (stored === undefined) return undefined
  const damaged = { scan, ...stored }
  const parsed = await parseAgain(damaged)
  if (parsed !== undefined && matchesStored(damaged, parsed)) return rewriteVersion(damaged, parsed)
  if (parsed !== undefined) return queueCompilation(damaged)
  return restoreFromPassages(damaged)
}

/** Parses the bytes of the document again. @returns nothing when the bytes are not those received */
async function parseAgain({ scan, document }: DamagedVersion): Promise<PreparedDocument | undefined> {
  const { compiler, objects } = scan.context
  const file = await objects.measure(document.object_key).catch(toReadError)
  if (file === undefined || 'error' in file || file.sha256 !== document.sha256) return undefined
  const { filename, mime_type: declaredType } = document
  const charset = omitUndefined({ declaredCharset: getDeclaredCharset(document) })
  const [result] = await objects.local([document.object_key], (files) =>
    compiler.compile(files.map((local) => ({ ...local, filename, declaredType, ...charset }))),
  )
  return result?.ok === true ? result.document : undefined
}

/** Whether the parsed document is the stored one: by its hash, or by all intact passages. */
function matchesStored({ row, nodes }: DamagedVersion, parsed: PreparedDocument): boolean {
  if (parsed.nodes.length !== row.node_count) return false
  if (parsed.artifactHash === row.artifact_hash) return true
  const intact = nodes.filter(matchesRowHash)
  const same = (node: StoredNode) =>
    Buffer.compare(parsed.nodes[node.ordinal]?.hash ?? new Uint8Array(), node.row_hash) === 0
  return intact.length > 0 && intact.every(same)
}

/** Writes a parsed document over the rows of its version, in one transaction; passages keep their keys and ids. */
async function rewriteVersion(
  { scan, row, nodes }: DamagedVersion,
  parsed: PreparedDocument,
): Promise<string | undefined> {
  const { db, indexes } = scan.context
  const write = function* (): Write<number> {
    const state = yield* getVersionState(row.key)
    if (state === 'gone') return 0
    yield* replacePackedVersion(row.space_key, row.key, parsed)
    yield* setArtifactHash(row.key, parsed.artifactHash)
    yield* writeAssets(row.key, parsed.assets)
    const changed: PreparedNode[] = []
    for (const node of parsed.nodes) {
      const old = nodes.find(({ ordinal }) => ordinal === node.ordinal)
      if (yield* restoreNode(row, old, node)) changed.push(node)
    }
    return state === 'superseded' ? 0 : yield* logChanged(scan, row, changed)
  }
  const seq = await db.write(write, { lock: row.space_key })
  await indexes.follow(scan.space.id, seq)
  return undefined
}

function* writeAssets(versionKey: number, assets: readonly PreparedAsset[]): Write<void> {
  yield* removeItemAssets(versionKey)
  yield* insertAssets(versionKey, assets)
}

/** Adds changed passages to the index log. @returns the last entry; 0 for none */
function* logChanged(
  scan: IntegrityScan,
  { first_node: first }: ScannedVersion,
  changed: PreparedNode[],
): Write<number> {
  let seq = 0
  if (first === null) return seq
  for (const { ordinal } of changed) seq = yield* logAdded(scan.space.key, first + ordinal, first + ordinal)
  return seq
}

/** The parser result differs from the stored one: a new version replaces this one. */
async function queueCompilation({ scan, row, document }: DamagedVersion): Promise<string | undefined> {
  const { context, space } = scan
  if (!isTrained(space))
    return `the document now gives other passages: \`ks docs reindex ${document.id}\` reads it again`
  if (row.until_revision !== null) await context.db.write(() => markVersionsObsolete([row], scan.now))
  else await context.db.write(() => queueCompilations(space, [document]), { lock: space.key })
  context.wake()
  return undefined
}

/** The bytes of the document are unusable: only its passages remain. */
async function restoreFromPassages({ scan, row, nodes }: DamagedVersion): Promise<string | undefined> {
  const { db } = scan.context
  const damaged = nodes.some((node) => !matchesRowHash(node))
  if (damaged || nodes.length !== row.node_count || nodes.length === 0)
    return 'the bytes and some passages of the document are damaged: upload the document again'
  const unpacked = await unpackVersion(row)
  const { artifact, outline } = await rebuildFromPassages(row.title, nodes, unpacked)
  const hash = hashArtifact(artifact.value.text, outline.value)
  await db.write(function* () {
    yield* replacePackedVersion(row.space_key, row.key, {
      artifact: artifact.packed,
      outline: outline.packed,
      items: row.items,
    })
    yield* setRestoredHash(row.key, hash)
  })
  if (unpacked.items !== undefined) return undefined
  return 'the pictures of the document cannot be restored: upload the document again'
}
