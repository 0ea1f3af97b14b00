import { statSync } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import { onDisk } from '../../local/disk-error.js'
import { ignoreMissing, isObjectKey, syncPath } from '../../local/file-system.js'
import { checkOpened, READ_FLAGS } from '../../local/open-inside.js'
import { isCode } from '../../local/private-file.js'
import { damagedObject, hasHash, hashOf, hasMoved, readWhole, secondName } from './durable-files.js'
import { ObjectFolders, sizeOfFile } from './object-folders.js'
import { describeFiles, type ListedFile, listFiles, type StoredFile } from './object-list.js'
import { Staging } from './object-staging.js'
import { type Measured, ObjectThread } from './object-thread.js'
import {
  type LocalFile,
  ObjectStore,
  type Removed,
  type StagedFile,
  type StagedObject,
  type WholeObject,
} from './objects.js'

/** What the system says where a file stands in the place of a folder, or a folder in that of a file. */
const IN_THE_WAY = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY']
/** A pin that was not renewed for so long is of a backup that was killed. */
const PIN_MS = 60_000
const READ_BYTES = 256 * 1024
const NAMED_AT_ONCE = 32 // names that are given at the same time
const SHA256_DIGITS = 64

/** Objects as files of the data directory, `objects/<key>`. Bytes become durable in the order file, name, directory. */
export class FileObjects extends ObjectStore {
  readonly #root: string
  readonly #staging: Staging
  readonly #folders = new ObjectFolders()
  readonly #thread = new ObjectThread()

  /** @param realRoot where the store really lies: an operator may have put it on another disk */
  private constructor(
    root: string,
    readonly realRoot: string,
    staging: Staging,
  ) {
    super()
    this.#root = root
    this.#staging = staging
  }

  /** Opens the store and removes what an earlier process left half received. */
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
   * Gives staged objects their final names and makes the names durable. An object that is there already is kept. A file
   * that holds what memory does not stays under its temporary name too, until it is discarded: it may have to be put again.
   *
   * @param pause waited for now and then
   */
  async publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void> {
    try {
      await onDisk(() => this.#publish(entries, pause))
    } catch (error) {
      if (!IN_THE_WAY.some((code) => isCode(error, code))) throw error
      const message = 'something else stands where an object or its folder belongs: `ks fsck` names it'
      throw new KsError('upload-failed', message, { cause: error })
    }
  }

  async #publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void> {
    const folders = new Set<string>()
    for (let from = 0; from < entries.length; from += NAMED_AT_ONCE) {
      if (from > 0) await pause?.()
      const named = entries.slice(from, from + NAMED_AT_ONCE).map(async ({ staged, key }) => {
        const target = this.path(key)
        folders.add(dirname(target))
        await this.#folders.make(dirname(target))
        await this.#name(staged, key, target)
      })
      // discarding them after a failure must not come before one that is still being named
      await Promise.allSettled(named)
      await Promise.all(named)
    }
    await this.#folders.sync(folders)
  }

  /** Gives a staged object its name, unless its bytes have it already. */
  async #name(staged: StagedObject, key: string, target: string): Promise<void> {
    // bytes that are there but damaged are replaced: sending a document again heals it
    const isThere = sizeOfFile(target) === staged.size // and it may be removed while it is read
    const isWhole = isThere && (await this.#hash(key).catch(ignoreMissing)) === staged.sha256
    const isInMemory = staged.bytes !== undefined
    const name = this.#staging.path(staged.id)
    if (!isWhole)
      await this.#folders.name(isInMemory ? name : await secondName(name, this.#staging.path(newId())), target)
    else if (isInMemory) await this.discard(staged.id)
  }

  /** Whether a backup is being taken: then no object goes, for its rows may be in the copy of the database. */
  isPinned(): boolean {
    const at = statSync(join(this.#root, 'being-copied'), { throwIfNoEntry: false })?.mtimeMs
    return at !== undefined && Math.abs(Date.now() - at) < PIN_MS
  }

  /**
   * Has objects as files of this machine for as long as `use` takes, to be read by a child process.
   * @throws like `path`
   */
  async local<T>(keys: readonly string[], use: (files: LocalFile[]) => Promise<T>): Promise<T> {
    return use(keys.map((key) => ({ path: this.path(key), root: this.realRoot })))
  }

  /** @throws KsError `data-damaged` for what is no key of an object: keys stand in rows */
  path(key: string): string {
    if (!isObjectKey(key))
      throw new KsError(
        'data-damaged',
        'a stored key of an object does not have the form of one; `ks fsck` names its row',
      )
    return join(this.#root, key)
  }

  /**
   * Opens an object to be read. A data directory may come from elsewhere: a link in it leads nowhere.
   *
   * @throws RefusedFile for what is no regular file of the store; the system's error
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

  /** All bytes of an object. @throws like `open`; KsError `data-damaged` where they are not those that were stored */
  async bytes(key: string): Promise<Buffer> {
    const handle = await this.open(key)
    const bytes = await readWhole(handle).finally(() => handle.close())
    if (!(await hasHash(bytes, key.slice(-SHA256_DIGITS)))) throw damagedObject()
    return bytes
  }

  /** SHA-256 of an object; a large one is read in pieces so that others get their turns. @throws like `open` */
  async #hash(key: string): Promise<string> {
    return await hashOf(await this.open(key), READ_BYTES)
  }

  /** Reads an object again, whole. @returns nothing when there is no such file */
  async measure(key: string): Promise<WholeObject | undefined> {
    const found = await lstat(this.path(key)).catch(ignoreMissing)
    if (found === undefined) return undefined
    const sha256 = await this.#hash(key).catch(ignoreMissing)
    return sha256 === undefined ? undefined : { size: found.size, sha256, modifiedAt: found.mtimeMs }
  }

  /**
   * Reads many objects again, in a thread.
   *
   * @returns what became of each, in their order: nothing where there is no such file, or why it cannot be read
   */
  async measureAll(keys: readonly string[]): Promise<Measured[]> {
    const known = keys.filter(isObjectKey)
    const paths = known.map((key) => this.path(key))
    const measured = await this.#thread.measure(this.realRoot, paths).catch(() => undefined)
    const found = new Map(measured === undefined ? [] : known.map((key, place) => [key, measured[place]]))
    const all: Measured[] = []
    // what is no key is refused here, and where the thread ended all is read here
    for (const key of keys) all.push(found.has(key) ? found.get(key) : await this.measure(key).catch(unreadable))
    return all
  }

  /** Size and age of an object. @returns nothing when there is no such file, or something else in its place */
  async describe(key: string): Promise<{ size: number; modifiedAt: number } | undefined> {
    const found = await lstat(this.path(key)).catch(ignoreMissing)
    return found?.isFile() === true ? { size: found.size, modifiedAt: found.mtimeMs } : undefined
  }

  /** Files of a tenant after `after` in the order of their keys; what is no object has no form of a key. */
  list(tenant: string, after: string, limit: number): Promise<ListedFile[]> {
    return listFiles(this.#root, ObjectStore.prefix(tenant), after, limit)
  }

  /** Sizes and times of files that were listed; what is not there any more is left out. */
  described(files: readonly ListedFile[]): Promise<StoredFile[]> {
    return describeFiles(this.#root, files)
  }

  listStaged(): Promise<StagedFile[]> {
    return this.#staging.list()
  }

  /**
   * Removes files of objects whose rows say so. Each goes in the very turn in which `isOurs` says that nobody else has
   * taken its removal over, and none while a backup is taken.
   */
  async remove(keys: readonly string[], isOurs: () => boolean, { gone }: Pick<Removed, 'gone'>): Promise<void> {
    const taken: string[] = []
    const removed: string[] = []
    const folders = new Set<string>()
    try {
      for (const key of keys) {
        const path = this.path(key)
        const id = newId()
        if (this.isPinned() || !isOurs()) break
        // a name goes at once, the room of a large file takes a while
        if (hasMoved(path, this.#staging.path(id))) taken.push(id)
        removed.push(key)
        folders.add(dirname(path))
      }
    } finally {
      await Promise.all([...folders].map((folder) => syncPath(folder).catch(ignoreMissing)))
      await Promise.all(taken.map((id) => this.discard(id)))
      for (const key of removed) gone(key)
    }
  }

  doubt(): undefined {}

  requests(): readonly [] {
    return []
  }

  close(): void {}
}

function unreadable(error: unknown): Measured {
  return { error: String(error) }
}
