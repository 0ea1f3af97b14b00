import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { KsError, notFound } from '../../contract/errors.js'
import type { FsMvBody, FsRmQuery, FsWriteBody, Moved, Removed, VirtualItem } from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'
import { newId } from '../../lib/ids.js'
import { counted } from '../../lib/text/counted.js'
import type { Caller } from '../base/caller.js'
import { provisionalType } from '../base/file-names.js'
import type { VirtualPath } from '../base/virtual-paths.js'
import type { EngineContext } from '../context.js'
import { keepObjects } from '../objects/receive.js'
import { removeUnreferenced } from '../objects/remove.js'
import { findSpace } from '../rows/spaces.js'
import { endVersion, forgetOld, insertVersion, moveRows, removeRows } from '../rows/workspace-changes.js'
import { type FileKey, fileItem, folderOf, liveFile, liveSize, liveTree, nextChange } from '../rows/workspaces.js'
import { ObjectStore } from '../storage/objects.js'
import type { Read, Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'
import { workspacePath } from './paths.js'

/** The write operations of the virtual file system. */
export interface FileSystemWriter {
  write(caller: Caller, spaceId: string, body: FsWriteBody): Promise<VirtualItem>
  mv(caller: Caller, spaceId: string, body: FsMvBody): Promise<Moved>
  rm(caller: Caller, spaceId: string, query: FsRmQuery): Promise<Removed>
}

const NAMESPACE_BYTES = Buffer.byteLength('/workspaces/')

/**
 * Writes a file. Its bytes are durable under their key before a row references them; the row is the acknowledgement,
 * and until then readers see the earlier state.
 *
 * @throws KsError `invalid-request`, `path-taken`, `upload-too-large`, `quota-exceeded`
 */
export async function writeFile(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  body: FsWriteBody,
): Promise<VirtualItem> {
  const { db, objects, log, now, changes } = context
  const { path, bytes } = await db.read(place(caller, spaceId, body))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file: NewFile = { sha256, size: bytes.length, objectKey: ObjectStore.key(caller.tenant, sha256) }
  const staged = await objects.stage(newId(), Readable.from([bytes]), LIMITS.workspaceFileBytes, path.path)
  try {
    const written = await keepObjects(context, {
      tenant: caller.tenant,
      incoming: [{ staged, key: file.objectKey }],
      isLoose: true,
      *begin() {},
      commit: (held) =>
        writeAnswer(
          db,
          caller,
          function* () {
            yield* held()
            const { key } = yield* findSpace(caller.tenant, spaceId)
            yield* assertPlace(key, path)
            return yield* putRow({ spaceKey: key, subject: caller.subject, now: now() }, path, file)
          },
          { lock: { tenant: caller.tenant, id: spaceId } },
        ),
    })
    changes.changed(caller.tenant, spaceId)
    return written
  } catch (error) {
    await removeUnreferenced(context, caller.tenant, [file.objectKey]).catch((cause: unknown) =>
      log.warn({ error: String(cause) }, 'a rejected file could not be cleaned up'),
    )
    throw error
  }
}

/** Rejects an invalid write before anything is stored; the transaction checks again. */
function* place(caller: Caller, spaceId: string, body: FsWriteBody): Read<{ path: VirtualPath; bytes: Buffer }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const path = workspacePath(body.path, 'path', 2)
  const bytes = bytesOf(body.content)
  yield* assertPlace(space.key, path)
  return { path, bytes }
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

/** Inserts or overwrites a file. The same bytes change nothing. */
function* putRow(
  at: { spaceKey: number; subject: string; now: number },
  path: VirtualPath,
  file: NewFile,
): Write<VirtualItem> {
  const [folder, base] = keyOf(path)
  const there = yield* liveFile(at.spaceKey, folder, base)
  if (there?.sha256 === file.sha256) return fileItem(there)
  const change = { ...at, seq: yield* nextChange(at.spaceKey) }
  if (there !== undefined) yield* endVersion(there.key, change)
  const type = provisionalType(base, undefined)
  yield* insertVersion(change, {
    id: there?.id ?? newId(),
    folder,
    base,
    object_key: file.objectKey,
    sha256: file.sha256,
    size_bytes: file.size,
    content_type: type === 'application/octet-stream' ? 'text/plain' : type,
    version: (there?.version ?? 0) + 1,
    subject: at.subject,
    created_at: there?.created_at ?? at.now,
  })
  yield* assertRoom(at.spaceKey)
  yield* forgetOld(at.spaceKey)
  const row = yield* liveFile(at.spaceKey, folder, base)
  if (row === undefined) throw new KsError('internal', 'a file vanished while it was written')
  return fileItem(row)
}

/** @throws KsError `quota-exceeded`, which rolls the write back */
function* assertRoom(spaceKey: number): Read<void> {
  const held = yield* liveSize(spaceKey)
  if (held.files > LIMITS.workspaceFiles)
    throw new KsError('quota-exceeded', `the workspaces of a space hold at most ${LIMITS.workspaceFiles} files`)
  if (held.bytes > LIMITS.workspaceBytes)
    throw new KsError(
      'quota-exceeded',
      `the workspaces of the space would hold ${held.bytes} bytes, at most ${LIMITS.workspaceBytes} are kept`,
    )
}

function keyOf({ segments }: VirtualPath): FileKey {
  return [folderOf(segments.slice(0, -1)), segments[segments.length - 1] ?? '']
}

/** @throws KsError `path-taken` if the path is a folder, or a parent of it is a file */
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
 * Renames or moves a file, a folder or a complete workspace. Nothing is overwritten.
 *
 * @throws KsError `invalid-request`, `not-found`, `path-taken`
 */
export async function moveFiles(
  { db, now, changes }: EngineContext,
  caller: Caller,
  spaceId: string,
  body: FsMvBody,
): Promise<Moved> {
  const move = function* (): Write<Moved> {
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
      throw new KsError('path-taken', `${JSON.stringify(to.path)} exists already`)
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
  }
  const moved = await writeAnswer(db, caller, move, { lock: { tenant: caller.tenant, id: spaceId } })
  changes.changed(caller.tenant, spaceId)
  return moved
}

/** Removes a file, or a folder with its content, from every read. The bytes are removed in the background. */
export async function removeFiles(
  { db, now, wake, changes }: EngineContext,
  caller: Caller,
  spaceId: string,
  query: FsRmQuery,
): Promise<Removed> {
  const remove = function* (): Write<Removed> {
    const { key } = yield* findSpace(caller.tenant, spaceId)
    const parsed = workspacePath(query.path, 'path', 1)
    const [folder, base] = keyOf(parsed)
    const file = parsed.segments.length < 2 ? undefined : yield* liveFile(key, folder, base)
    const tree = folderOf(parsed.segments)
    const files = file === undefined ? (yield* liveTree(key, tree)).files : 1
    if (files === 0) throw notFound('path', parsed.path)
    if (file === undefined && query.recursive !== 'true')
      throw new KsError(
        'invalid-request',
        `path names a folder of ${counted(files, 'file')}, ${JSON.stringify(parsed.path)}: recursive must be true to remove it`,
      )
    const at = { spaceKey: key, seq: yield* nextChange(key), now: now() }
    yield* removeRows(at, file === undefined ? { tree } : { folder, base })
    return { path: parsed.path, files }
  }
  const removed = await writeAnswer(db, caller, remove, { lock: { tenant: caller.tenant, id: spaceId } })
  wake()
  changes.changed(caller.tenant, spaceId)
  return removed
}
