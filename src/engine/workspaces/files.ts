import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { KsError, notFound } from '../../contract/errors.js'
import type { FsMvBody, FsRmQuery, FsWriteBody, Moved, Removed, VirtualItem } from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { provisionalType } from '../base/file-names.js'
import type { VirtualPath } from '../base/virtual-paths.js'
import type { EngineContext } from '../context.js'
import { findSpace } from '../rows/spaces.js'
import { type FileKey, fileItem, folderOf, liveFile, liveTree, nextChange, subtreeOf } from '../rows/workspaces.js'
import { ObjectStore } from '../storage/objects.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'
import { workspacePath } from './paths.js'

/** What is written to the virtual file system. */
export interface FileSystemWriter {
  write(caller: Caller, spaceId: string, body: FsWriteBody): Promise<VirtualItem>
  mv(caller: Caller, spaceId: string, body: FsMvBody): Promise<Moved>
  rm(caller: Caller, spaceId: string, query: FsRmQuery): Promise<Removed>
}

const NAMESPACE_BYTES = Buffer.byteLength('/workspaces/')

/**
 * Writes a file. Its bytes are durable under their final name before the row that names them; the row is the
 * acknowledgement, and until then readers see what was there before.
 *
 * @throws KsError `invalid-request`, `path-taken`, `upload-too-large`, `quota-exceeded`
 */
export async function writeFile(
  { db, objects, now }: EngineContext,
  caller: Caller,
  spaceId: string,
  body: FsWriteBody,
): Promise<VirtualItem> {
  const space = db.now(findSpace(caller.tenant, spaceId))
  const path = workspacePath(body.path, 'path', 2)
  const bytes = bytesOf(body.content)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file: NewFile = { sha256, size: bytes.length, objectKey: ObjectStore.key(caller.tenant, sha256) }
  // refused before anything is written; asked again in the transaction
  db.now(assertPlace(space.key, path))
  const release = objects.hold(file.objectKey)
  try {
    const staged = await objects.stage(newId(), Readable.from([bytes]), LIMITS.workspaceFileBytes, path.path)
    try {
      await objects.syncStaged([staged])
      await objects.publish([{ staged, key: file.objectKey }])
    } catch (error) {
      await objects.discard(staged.id)
      throw error
    }
    return await writeAnswer(db, caller, function* () {
      const { key } = yield* findSpace(caller.tenant, spaceId)
      yield* assertPlace(key, path)
      return yield* putRow({ spaceKey: key, subject: caller.subject, now: now() }, path, file)
    })
  } finally {
    release()
  }
}

interface NewFile {
  sha256: string
  size: number
  objectKey: string
}

function bytesOf(content: string): Buffer {
  if (!content.isWellFormed())
    throw new KsError('invalid-request', 'content must be unicode text, received half of a surrogate pair')
  const size = Buffer.byteLength(content)
  if (size > LIMITS.workspaceFileBytes)
    throw new KsError(
      'upload-too-large',
      `content must hold at most ${LIMITS.workspaceFileBytes} bytes in a workspace, received ${size}`,
    )
  return Buffer.from(content)
}

/** The same bytes again change nothing. */
function* putRow(
  at: { spaceKey: number; subject: string; now: number },
  path: VirtualPath,
  file: NewFile,
): Write<VirtualItem> {
  const [folder, base] = keyOf(path)
  const there = yield* liveFile(at.spaceKey, folder, base)
  if (there?.sha256 === file.sha256) return fileItem(there)
  const seq = yield* nextChange(at.spaceKey)
  if (there !== undefined)
    yield* sql.run('UPDATE workspace_files SET until_seq = ?, until_at = ? WHERE key = ?', [seq, at.now, there.key])
  const type = provisionalType(base, undefined)
  yield* sql.run(
    `INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type, version,
       subject, created_at, updated_at, from_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      there?.id ?? newId(),
      at.spaceKey,
      folder,
      base,
      file.objectKey,
      file.sha256,
      file.size,
      type === 'application/octet-stream' ? 'text/plain' : type,
      (there?.version ?? 0) + 1,
      at.subject,
      there?.created_at ?? at.now,
      at.now,
      seq,
    ],
  )
  yield* assertRoom(at.spaceKey)
  yield* forgetOld(at.spaceKey)
  const row = yield* liveFile(at.spaceKey, folder, base)
  if (row === undefined) throw new KsError('internal', 'a file vanished while it was written')
  return fileItem(row)
}

/** @throws KsError `quota-exceeded`, which undoes the write that asked */
function* assertRoom(spaceKey: number): Read<void> {
  const held = yield* sql.get<{ files: number; bytes: number }>(
    `SELECT count(*) files, coalesce(sum(size_bytes), 0) bytes FROM workspace_files INDEXED BY workspace_files_size
     WHERE space_key = ? AND until_seq IS NULL`,
    [spaceKey],
  )
  if (held === undefined) return
  if (held.files > LIMITS.workspaceFiles)
    throw new KsError('quota-exceeded', `the workspaces of a space hold at most ${LIMITS.workspaceFiles} files`)
  if (held.bytes > LIMITS.workspaceBytes)
    throw new KsError(
      'quota-exceeded',
      `the workspaces of the space would hold ${held.bytes} bytes, at most ${LIMITS.workspaceBytes} are kept`,
    )
}

/** Overwritten versions are kept for listings under way; past their bound the oldest are given up. */
function* forgetOld(spaceKey: number): Write<void> {
  const old =
    (yield* sql.get<{ bytes: number }>(
      `SELECT coalesce(sum(size_bytes), 0) bytes FROM workspace_files INDEXED BY workspace_files_old
       WHERE space_key = ? AND until_seq IS NOT NULL AND removed = 0`,
      [spaceKey],
    ))?.bytes ?? 0
  if (old <= LIMITS.workspaceHistoryBytes) return
  yield* sql.run(
    `UPDATE workspace_files SET removed = 1 WHERE key IN (SELECT key FROM (
       SELECT key, sum(size_bytes) OVER (ORDER BY until_at, key) - size_bytes before FROM workspace_files
       WHERE space_key = ? AND until_seq IS NOT NULL AND removed = 0) WHERE before < ?)`,
    [spaceKey, old - LIMITS.workspaceHistoryBytes],
  )
}

function keyOf({ segments }: VirtualPath): FileKey {
  return [folderOf(segments.slice(0, -1)), segments[segments.length - 1] ?? '']
}

/** @throws KsError `path-taken` where a folder stands at the path or a file above it */
function* assertPlace(spaceKey: number, { path, segments }: VirtualPath): Read<void> {
  if ((yield* liveTree(spaceKey, folderOf(segments))).files > 0)
    throw new KsError('path-taken', `${JSON.stringify(path)} is a folder`)
  for (let length = segments.length - 1; length >= 2; length--) {
    const above = segments.slice(0, length)
    if ((yield* liveFile(spaceKey, folderOf(above.slice(0, -1)), above[length - 1] ?? '')) !== undefined)
      throw new KsError('path-taken', `${JSON.stringify(`/workspaces/${above.join('/')}`)} is a file, not a folder`)
  }
}

/**
 * Renames or moves a file, a folder or a whole workspace. Nothing is overwritten.
 *
 * @throws KsError `invalid-request`, `not-found`, `path-taken`
 */
export function moveFiles({ db, now }: EngineContext, caller: Caller, spaceId: string, body: FsMvBody): Promise<Moved> {
  return writeAnswer(db, caller, function* () {
    const { key } = yield* findSpace(caller.tenant, spaceId)
    const from = workspacePath(body.oldPath, 'oldPath', 1)
    const to = workspacePath(body.newPath, 'newPath', 1)
    const moved = { oldPath: from.path, newPath: to.path }
    if (to.path === from.path || to.path.startsWith(`${from.path}/`))
      throw new KsError(
        'invalid-request',
        `newPath must not be oldPath or in it, received ${JSON.stringify(to.path.slice(0, 100))}`,
      )
    const [folder, base] = keyOf(from)
    const file = from.segments.length < 2 ? undefined : yield* liveFile(key, folder, base)
    const tree = file === undefined ? yield* liveTree(key, folderOf(from.segments)) : undefined
    if (tree?.files === 0) throw notFound('path', from.path)
    if (file !== undefined) workspacePath(body.newPath, 'newPath', 2)
    yield* assertPlace(key, to)
    const [toFolder, toBase] = keyOf(to)
    if (to.segments.length > 1 && (yield* liveFile(key, toFolder, toBase)) !== undefined)
      throw new KsError('path-taken', `${JSON.stringify(to.path)} is there already`)
    const at = { spaceKey: key, seq: yield* nextChange(key), now: now() }
    if (file !== undefined)
      return { ...moved, files: yield* moveRows(at, { one: file.key, folder: toFolder, base: toBase }) }
    const source = folderOf(from.segments)
    const target = folderOf(to.segments)
    const longest = (tree?.longest ?? 0) - Buffer.byteLength(source) + Buffer.byteLength(target) + NAMESPACE_BYTES
    if (longest > LIMITS.virtualPathBytes)
      throw new KsError(
        'invalid-request',
        `newPath would make a path of ${longest} bytes, the limit is ${LIMITS.virtualPathBytes}`,
      )
    return { ...moved, files: yield* moveRows(at, { source, target }) }
  })
}

type Move = { one: number; folder: string; base: string } | { source: string; target: string }

/** The old rows end, so that a snapshot-consistent listing under way still shows them; new ones begin. */
function* moveRows(at: { spaceKey: number; seq: number; now: number }, move: Move): Write<number> {
  const where = 'one' in move ? 'key = ?' : 'space_key = ? AND folder >= ? AND folder < ?'
  const { first, past } = 'one' in move ? { first: '', past: '' } : subtreeOf(move.source)
  const which = 'one' in move ? [move.one] : [at.spaceKey, first, past]
  const place = 'one' in move ? '?, ?' : '? || substr(folder, ?), base'
  const placed = 'one' in move ? [move.folder, move.base] : [move.target, [...move.source].length + 1]
  yield* sql.run(
    `INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type, version,
       subject, created_at, updated_at, from_seq)
     SELECT id, space_key, ${place}, object_key, sha256, size_bytes, content_type, version, subject, created_at,
       updated_at, ? FROM workspace_files WHERE ${where} AND until_seq IS NULL`,
    [...placed, at.seq, ...which],
  )
  const { changes } = yield* sql.run(
    `UPDATE workspace_files SET until_seq = ?, until_at = ? WHERE ${where} AND until_seq IS NULL`,
    [at.seq, at.now, ...which],
  )
  yield* forgetOld(at.spaceKey)
  return changes
}

/** Removes a file, or a folder with all it holds: gone from every read at once. The bytes go in the background. */
export async function removeFiles(
  { db, now, wake }: EngineContext,
  caller: Caller,
  spaceId: string,
  query: FsRmQuery,
): Promise<Removed> {
  const removed = await writeAnswer(db, caller, function* () {
    const { key } = yield* findSpace(caller.tenant, spaceId)
    const parsed = workspacePath(query.path, 'path', 1)
    const [folder, base] = keyOf(parsed)
    const file = parsed.segments.length < 2 ? undefined : yield* liveFile(key, folder, base)
    const { first, past } = subtreeOf(folderOf(parsed.segments))
    const files = file === undefined ? (yield* liveTree(key, first)).files : 1
    if (files === 0) throw notFound('path', parsed.path)
    if (file === undefined && query.recursive !== 'true')
      throw new KsError(
        'invalid-request',
        `path names a folder of ${files} files, ${JSON.stringify(parsed.path)}: recursive must be true to remove it`,
      )
    const which = file === undefined ? 'folder >= ? AND folder < ?' : 'folder = ? AND base = ?'
    yield* sql.run(
      `UPDATE workspace_files SET removed = 1, until_seq = coalesce(until_seq, ?), until_at = coalesce(until_at, ?)
       WHERE id IN (SELECT id FROM workspace_files WHERE space_key = ? AND until_seq IS NULL AND ${which})`,
      [yield* nextChange(key), now(), key, ...(file === undefined ? [first, past] : [folder, base])],
    )
    return { path: parsed.path, files }
  })
  wake()
  return removed
}
