import { statSync } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import { withDiskErrors } from '../../local/disk-error.js'
import { ignoreMissing, isObjectKey, syncPath } from '../../local/file-system.js'
import { checkOpened, READ_FLAGS } from '../../local/open-inside.js'
import { hasErrorCode } from '../../local/private-file.js'
import {
  assertObjectKey,
  damagedObjectError,
  hashAndClose,
  linkOrKeep,
  matchesHash,
  readAllBytes,
  renameIfExists,
} from './durable-files.js'
import { getObjectFileSize, ObjectFolders } from './object-folders.js'
import { describeObjectFiles, type ListedFile, listObjectFiles, type StoredFile } from './object-list.js'
import { Staging } from './object-staging.js'
import { type ObjectMeasureResult, ObjectThread } from './object-thread.js'
import {
  type LocalObjectFile,
  type ObjectMeasurement,
  type ObjectRemovalCallbacks,
  ObjectStore,
  type StagedFile,
  type StagedObject,
} from './objects.js'

/** Error codes where a file is in the path of a folder, or a folder in the path of a file. */
const PATH_CONFLICT_CODES = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY']
/** A pin that was not renewed for this long belongs to a backup that was killed. */
const PIN_EXPIRY_MS = 60_000
const READ_CHUNK_BYTES = 256 * 1024
const MAX_CONCURRENT_RENAMES = 32
const SHA256_DIGITS = 64

/** Objects as files of the data directory, `objects/<key>`. Bytes become durable in the order file, name, directory. */
export class FileObjects extends ObjectStore {
  readonly #root: string
  readonly #staging: Staging
  readonly #folders = new ObjectFolders()
  readonly #thread = new ObjectThread()

  /** @param realRoot the real path of the store: an operator may have moved it to another disk */
  private constructor(
    root: string,
    readonly realRoot: string,
    staging: Staging,
  ) {
    super()
    this.#root = root
    this.#staging = staging
  }

  /** Opens the store and removes incomplete uploads of an earlier process. */
  static async open(root: string): Promise<FileObjects> {
    const staging = await Staging.open(join(root, 'tmp'))
    return new FileObjects(root, await realpath(root), staging)
  }

  stage(id: string, content: Readable, limit: number, name: string): Promise<StagedObject> {
    return this.#staging.receive(id, content, limit, name)
  }

  discard(id: string): Promise<void> {
    return this.#staging.discard(id)
  }

  syncStaged(staged: StagedObject[]): Promise<void> {
    return this.#staging.sync(staged)
  }

  /**
   * Gives staged objects their final names and makes the names durable. An existing intact object is kept. A file that
   * is not also in memory keeps its temporary name too, until it is discarded: it may have to be published again.
   *
   * @param pause awaited now and then
   */
  async publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void> {
    try {
      await withDiskErrors(() => this.#publish(entries, pause))
    } catch (error) {
      if (!PATH_CONFLICT_CODES.some((code) => hasErrorCode(error, code))) throw error
      const message = 'an unexpected file or folder blocks the path of an object: `ks fsck` lists it'
      throw new KsError('upload-failed', message, { cause: error })
    }
  }

  async #publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void> {
    const folders = new Set<string>()
    for (let start = 0; start < entries.length; start += MAX_CONCURRENT_RENAMES) {
      if (start > 0) await pause?.()
      const renames = entries.slice(start, start + MAX_CONCURRENT_RENAMES).map(async ({ staged, key }) => {
        const target = this.path(key)
        folders.add(dirname(target))
        await this.#folders.make(dirname(target))
        await this.#name(staged, key, target)
      })
      // a discard after a failure must not overtake a rename that is still running
      await Promise.allSettled(renames)
      await Promise.all(renames)
    }
    await this.#folders.sync(folders)
  }

  /** Gives a staged object its name, unless an intact object already has it. */
  async #name(staged: StagedObject, key: string, target: string): Promise<void> {
    // existing but damaged bytes are replaced: sending a document again repairs it
    const isExisting = getObjectFileSize(target) === staged.size // and it may be removed while it is read
    const isIntact = isExisting && (await this.#hash(key).catch(ignoreMissing)) === staged.sha256
    const isInMemory = staged.bytes !== undefined
    const name = this.#staging.path(staged.id)
    if (!isIntact)
      await this.#folders.moveInto(isInMemory ? name : await linkOrKeep(name, this.#staging.path(newId())), target)
    else if (isInMemory) await this.discard(staged.id)
  }

  /** Whether a backup is running: then no object is removed, because the copy of the database may refer to it. */
  isPinned(): boolean {
    const at = statSync(join(this.#root, 'being-copied'), { throwIfNoEntry: false })?.mtimeMs
    return at !== undefined && Math.abs(Date.now() - at) < PIN_EXPIRY_MS
  }

  /**
   * Provides objects as files of this machine while `use` runs, for a child process to read.
   * @throws like `path`
   */
  async local<T>(keys: readonly string[], use: (files: LocalObjectFile[]) => Promise<T>): Promise<T> {
    return use(keys.map((key) => ({ path: this.path(key), root: this.realRoot })))
  }

  /** @throws like `assertObjectKey` */
  path(key: string): string {
    assertObjectKey(key)
    return join(this.#root, key)
  }

  /**
   * Opens an object for reading. Does not follow links: a data directory may come from an untrusted origin.
   *
   * @throws RefusedFile for anything but a regular file of the store; the error of the system
   */
  async open(key: string): Promise<FileHandle> {
    const path = this.path(key)
    const handle = await open(path, READ_FLAGS)
    try {
      checkOpened(handle.fd, path, this.realRoot)
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /**
   * Reads all bytes of an object. @throws like `open`; KsError `data-damaged` where they differ from the stored ones
   */
  async bytes(key: string): Promise<Buffer> {
    const handle = await this.open(key)
    const bytes = await readAllBytes(handle).finally(() => handle.close())
    if (!(await matchesHash(bytes, key.slice(-SHA256_DIGITS)))) throw damagedObjectError()
    return bytes
  }

  /** SHA-256 of an object; reads a large one in chunks, so that other work can run. @throws like `open` */
  async #hash(key: string): Promise<string> {
    return await hashAndClose(await this.open(key), READ_CHUNK_BYTES)
  }

  /** Reads an object completely again. @returns nothing when there is no such file */
  async measure(key: string): Promise<ObjectMeasurement | undefined> {
    const found = await lstat(this.path(key)).catch(ignoreMissing)
    if (found === undefined) return undefined
    const sha256 = await this.#hash(key).catch(ignoreMissing)
    return sha256 === undefined ? undefined : { size: found.size, sha256, modifiedAt: found.mtimeMs }
  }

  /**
   * Reads many objects again, in a thread.
   *
   * @returns one result each, in their order: nothing for a missing file, or why it cannot be read
   */
  async measureAll(keys: readonly string[]): Promise<ObjectMeasureResult[]> {
    const validKeys = keys.filter(isObjectKey)
    const paths = validKeys.map((key) => this.path(key))
    const measured = await this.#thread.measure(this.realRoot, paths).catch(() => undefined)
    const found = new Map(measured === undefined ? [] : validKeys.map((key, index) => [key, measured[index]]))
    const all: ObjectMeasureResult[] = []
    // invalid keys fail here; if the thread ended, everything is read here
    for (const key of keys)
      all.push(
        found.has(key) ? found.get(key) : await this.measure(key).catch((error: unknown) => ({ error: String(error) })),
      )
    return all
  }

  /** Size and age of an object. @returns nothing when there is no such file, or its path is not a file */
  async describe(key: string): Promise<{ size: number; modifiedAt: number } | undefined> {
    const found = await lstat(this.path(key)).catch(ignoreMissing)
    return found?.isFile() === true ? { size: found.size, modifiedAt: found.mtimeMs } : undefined
  }

  /**
   * Files of a tenant after `after` in the order of their keys; names that are not objects do not have the form of a
   * key.
   */
  list(tenant: string, after: string, limit: number): Promise<ListedFile[]> {
    return listObjectFiles(this.#root, ObjectStore.prefix(tenant), after, limit)
  }

  /** Sizes and times of listed files; omits files that no longer exist. */
  describeAll(files: readonly ListedFile[]): Promise<StoredFile[]> {
    return describeObjectFiles(this.#root, files)
  }

  listStaged(): Promise<StagedFile[]> {
    return this.#staging.list()
  }

  /**
   * Removes files of objects whose rows are marked for removal. Each file is removed in the same turn in which `isOurs`
   * confirms that no other process has taken over its removal, and none while a backup runs.
   */
  async remove(
    keys: readonly string[],
    isOurs: () => boolean,
    { onRemoved }: Pick<ObjectRemovalCallbacks, 'onRemoved'>,
  ): Promise<void> {
    const movedIds: string[] = []
    const removed: string[] = []
    const folders = new Set<string>()
    try {
      for (const key of keys) {
        const path = this.path(key)
        const id = newId()
        if (this.isPinned() || !isOurs()) break
        // the rename is immediate; freeing the space of a large file takes a while
        if (renameIfExists(path, this.#staging.path(id))) movedIds.push(id)
        removed.push(key)
        folders.add(dirname(path))
      }
    } finally {
      await Promise.all([...folders].map((folder) => syncPath(folder).catch(ignoreMissing)))
      await Promise.all(movedIds.map((id) => this.discard(id)))
      for (const key of removed) onRemoved(key)
    }
  }

  keepUnknownReason(): undefined {}

  requests(): readonly [] {
    return []
  }

  close(): void {}
}
