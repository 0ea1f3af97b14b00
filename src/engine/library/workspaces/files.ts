import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { KsError, notFoundError } from '../../../contract/errors.js'
import type {
  FsMvBody,
  FsRmQuery,
  FsWriteBody,
  VirtualItem,
  WorkspaceMove,
  WorkspaceRemoval,
} from '../../../contract/gateway/fs.js'
import { LIMITS } from '../../../contract/limits.js'
import { newId } from '../../../lib/ids.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { Caller } from '../../base/caller.js'
import { getProvisionalMediaType } from '../../base/file-names.js'
import type { VirtualPath } from '../../base/virtual-paths.js'
import { ObjectStore } from '../../store/objects.js'
import type { Read, Write } from '../../store/program.js'
import { findSpace } from '../../store/rows/spaces.js'
import {
  addWorkspaceChange,
  findLiveFile,
  getFolderSize,
  getWorkspacesSize,
  toFileItem,
  toFolder,
  type WorkspaceFilePosition,
} from '../../store/rows/workspaces.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { storeObjects, writeNothing } from '../objects/receive.js'
import { removeUnreferenced } from '../objects/remove.js'
import {
  endFileVersion,
  insertFileVersion,
  moveFileRows,
  removeFileVersions,
  trimFileHistory,
} from '../rows/workspace-changes.js'
import { parseWorkspacePath } from './paths.js'

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
  const { path, bytes } = await db.read(prepareWrite(caller, spaceId, body))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file: NewWorkspaceFile = { sha256, size: bytes.length, objectKey: ObjectStore.key(caller.tenant, sha256) }
  const staged = await objects.stage(newId(), Readable.from([bytes]), LIMITS.workspaceFileBytes, path.path)
  try {
    const written = await storeObjects(context, {
      tenant: caller.tenant,
      incoming: [{ staged, key: file.objectKey }],
      isUnreferenced: true,
      begin: writeNothing,
      commit: (markReferenced) =>
        writeReply(
          db,
          caller,
          function* () {
            yield* markReferenced()
            const { key } = yield* findSpace(caller.tenant, spaceId)
            yield* assertPathFree(key, path)
            return yield* upsertFile({ spaceKey: key, subject: caller.subject, now: now() }, path, file)
          },
          { lock: { tenant: caller.tenant, id: spaceId } },
        ),
    })
    changes.report(caller.tenant, spaceId)
    return written
  } catch (error) {
    await removeUnreferenced(context, caller.tenant, [file.objectKey]).catch((cause: unknown) =>
      log.warn({ error: String(cause) }, 'a rejected file could not be cleaned up'),
    )
    throw error
  }
}

/** Rejects an invalid write before anything is stored; the transaction checks again. */
function* prepareWrite(caller: Caller, spaceId: string, body: FsWriteBody): Read<{ path: VirtualPath; bytes: Buffer }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const path = parseWorkspacePath(body.path, 'path', 2)
  const bytes = encodeContent(body.content)
  yield* assertPathFree(space.key, path)
  return { path, bytes }
}

interface NewWorkspaceFile {
  sha256: string
  size: number
  objectKey: string
}

function encodeContent(content: string): Buffer {
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
function* upsertFile(
  write: { spaceKey: number; subject: string; now: number },
  path: VirtualPath,
  file: NewWorkspaceFile,
): Write<VirtualItem> {
  const [folder, base] = toFilePosition(path)
  const existing = yield* findLiveFile(write.spaceKey, folder, base)
  if (existing?.sha256 === file.sha256) return toFileItem(existing)
  const change = { ...write, seq: yield* addWorkspaceChange(write.spaceKey) }
  if (existing !== undefined) yield* endFileVersion(existing.key, change)
  const type = getProvisionalMediaType(base, undefined)
  yield* insertFileVersion(change, {
    id: existing?.id ?? newId(),
    folder,
    base,
    object_key: file.objectKey,
    sha256: file.sha256,
    size_bytes: file.size,
    content_type: type === 'application/octet-stream' ? 'text/plain' : type,
    version: (existing?.version ?? 0) + 1,
    subject: write.subject,
    created_at: existing?.created_at ?? write.now,
  })
  yield* assertWorkspaceQuota(write.spaceKey)
  yield* trimFileHistory(write.spaceKey)
  const row = yield* findLiveFile(write.spaceKey, folder, base)
  if (row === undefined) throw new KsError('internal', 'a file vanished while it was written')
  return toFileItem(row)
}

/** @throws KsError `quota-exceeded`, which rolls the write back */
function* assertWorkspaceQuota(spaceKey: number): Read<void> {
  const size = yield* getWorkspacesSize(spaceKey)
  if (size.files > LIMITS.workspaceFiles)
    throw new KsError(
      'quota-exceeded',
      `the workspaces of a space may have at most ${formatCount(LIMITS.workspaceFiles)} files`,
    )
  if (size.bytes > LIMITS.workspaceBytes)
    throw new KsError(
      'quota-exceeded',
      `the workspaces of the space would have ${formatCount(size.bytes)} bytes, at most ${formatCount(LIMITS.workspaceBytes)} are possible`,
    )
}

function toFilePosition({ segments }: VirtualPath): WorkspaceFilePosition {
  return [toFolder(segments.slice(0, -1)), segments[segments.length - 1] ?? '']
}

/** @throws KsError `path-taken` if the path is a folder, or a parent of it is a file */
function* assertPathFree(spaceKey: number, { path, segments }: VirtualPath): Read<void> {
  if ((yield* getFolderSize(spaceKey, toFolder(segments))).files > 0)
    throw new KsError('path-taken', `${JSON.stringify(path)} is a folder`)
  for (let length = segments.length - 1; length >= 2; length--) {
    const parentSegments = segments.slice(0, length)
    if (
      (yield* findLiveFile(spaceKey, toFolder(parentSegments.slice(0, -1)), parentSegments[length - 1] ?? '')) !==
      undefined
    )
      throw new KsError(
        'path-taken',
        `${JSON.stringify(`/workspaces/${parentSegments.join('/')}`)} is a file, not a folder`,
      )
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
): Promise<WorkspaceMove> {
  const move = function* (): Write<WorkspaceMove> {
    const { key } = yield* findSpace(caller.tenant, spaceId)
    const oldPath = parseWorkspacePath(body.oldPath, 'oldPath', 1)
    const newPath = parseWorkspacePath(body.newPath, 'newPath', 1)
    const moved = { oldPath: oldPath.path, newPath: newPath.path }
    if (newPath.path === oldPath.path || newPath.path.startsWith(`${oldPath.path}/`))
      throw new KsError(
        'invalid-request',
        `newPath must not be oldPath or in it, received ${JSON.stringify(newPath.path.slice(0, 100))}`,
      )
    const [folder, base] = toFilePosition(oldPath)
    const file = oldPath.segments.length < 2 ? undefined : yield* findLiveFile(key, folder, base)
    const tree = file === undefined ? yield* getFolderSize(key, toFolder(oldPath.segments)) : undefined
    if (tree?.files === 0) throw notFoundError('path', oldPath.path)
    if (file !== undefined) parseWorkspacePath(body.newPath, 'newPath', 2)
    yield* assertPathFree(key, newPath)
    const [newFolder, newBase] = toFilePosition(newPath)
    if (newPath.segments.length > 1 && (yield* findLiveFile(key, newFolder, newBase)) !== undefined)
      throw new KsError('path-taken', `${JSON.stringify(newPath.path)} exists already`)
    const change = { spaceKey: key, seq: yield* addWorkspaceChange(key), now: now() }
    if (file !== undefined)
      return { ...moved, files: yield* moveFileRows(change, { one: file.key, folder: newFolder, base: newBase }) }
    const source = toFolder(oldPath.segments)
    const target = toFolder(newPath.segments)
    const longest = (tree?.longest ?? 0) - Buffer.byteLength(source) + Buffer.byteLength(target) + NAMESPACE_BYTES
    if (longest > LIMITS.virtualPathBytes)
      throw new KsError(
        'invalid-request',
        `newPath would make a path of ${longest} bytes, the limit is ${LIMITS.virtualPathBytes}`,
      )
    return { ...moved, files: yield* moveFileRows(change, { source, target }) }
  }
  const moved = await writeReply(db, caller, move, { lock: { tenant: caller.tenant, id: spaceId } })
  changes.report(caller.tenant, spaceId)
  return moved
}

/** Removes a file, or a folder with its content, from every read. The bytes are removed in the background. */
export async function removeFiles(
  { db, now, wake, changes }: EngineContext,
  caller: Caller,
  spaceId: string,
  query: FsRmQuery,
): Promise<WorkspaceRemoval> {
  const remove = function* (): Write<WorkspaceRemoval> {
    const { key } = yield* findSpace(caller.tenant, spaceId)
    const parsed = parseWorkspacePath(query.path, 'path', 1)
    const [folder, base] = toFilePosition(parsed)
    const file = parsed.segments.length < 2 ? undefined : yield* findLiveFile(key, folder, base)
    const tree = toFolder(parsed.segments)
    const files = file === undefined ? (yield* getFolderSize(key, tree)).files : 1
    if (files === 0) throw notFoundError('path', parsed.path)
    if (file === undefined && query.recursive !== 'true')
      throw new KsError(
        'invalid-request',
        `path names a folder of ${pluralize(files, 'file')}, ${JSON.stringify(parsed.path)}: recursive must be true to remove it`,
      )
    const change = { spaceKey: key, seq: yield* addWorkspaceChange(key), now: now() }
    yield* removeFileVersions(change, file === undefined ? { tree } : { folder, base })
    return { path: parsed.path, files }
  }
  const removed = await writeReply(db, caller, remove, { lock: { tenant: caller.tenant, id: spaceId } })
  wake()
  changes.report(caller.tenant, spaceId)
  return removed
}
