import { link, mkdir, readdir, realpath, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withDiskErrors } from '../../local/disk-error.js'
import { OBJECT_MODE } from './durable-files.js'

interface CachedObject {
  /** unique: no other entry ever uses it */
  path: string
  size: number
  users: number
  ready: Promise<void>
  /** no caller can request it any more; its file is removed with its last user */
  isDropped: boolean
}

/** An object as a file of this machine; the caller calls `release`. */
export interface CachedObjectLease {
  path: string
  release(): void
}

/**
 * Fetched objects as files of this machine, with a total size limit that objects in use may exceed. Evicts the least
 * recently used first. The cache is emptied at each start.
 */
export class ObjectCache {
  readonly #entries = new Map<string, CachedObject>()
  #bytes = 0
  #fileCount = 0

  private constructor(
    /** real path of the folder that contains every file */
    readonly root: string,
    readonly maxBytes: number,
  ) {}

  /** Opens the folder and empties it: files of an earlier process may be incomplete. */
  static async open(folder: string, maxBytes: number): Promise<ObjectCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
    return new ObjectCache(await realpath(folder), maxBytes)
  }

  /**
   * Provides an object as a file until it is released.
   *
   * @param fetch creates the file at a path; returns whether it is complete
   * @returns a path without a file where it is not complete
   */
  async acquire(key: string, fetch: (path: string) => Promise<boolean>): Promise<CachedObjectLease> {
    const entry = this.#entries.get(key) ?? this.#add(key, fetch)
    // moves it to the end, as the most recently used
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.users++
    const release = () => {
      entry.users--
      if (entry.isDropped && entry.users === 0) this.#unlink(entry)
      else this.#trim()
    }
    try {
      await entry.ready
    } catch (error) {
      release()
      throw error
    }
    this.#trim()
    return { path: entry.path, release }
  }

  /** Adds an object that was just received, so that it need not be fetched: its bytes, or a file that is linked. */
  async add(key: string, content: Buffer | string): Promise<void> {
    if (this.#entries.has(key)) return
    const fetch = async (path: string) => {
      if (typeof content === 'string') await link(content, path)
      else await writeFile(path, content, { flag: 'wx', mode: OBJECT_MODE })
      return true
    }
    // an object that cannot be cached is fetched on request
    const lease = await this.acquire(key, fetch).catch(() => undefined)
    lease?.release()
  }

  /** Evicts an object that was removed. */
  evict(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#drop(key, entry)
  }

  #add(key: string, fetch: (path: string) => Promise<boolean>): CachedObject {
    const path = join(this.root, String(++this.#fileCount))
    const entry: CachedObject = { path, size: 0, users: 0, ready: Promise.resolve(), isDropped: false }
    entry.ready = this.#fill(key, entry, fetch)
    return entry
  }

  async #fill(key: string, entry: CachedObject, fetch: (path: string) => Promise<boolean>): Promise<void> {
    let isComplete = false
    try {
      isComplete = await withDiskErrors(() => fetch(entry.path))
      if (!isComplete) return
      const { size } = await stat(entry.path)
      // the object may have been removed meanwhile
      if (entry.isDropped) return
      entry.size = size
      this.#bytes += size
    } finally {
      if (!isComplete) {
        await unlink(entry.path).catch(() => {})
        if (this.#entries.get(key) === entry) this.#drop(key, entry)
      }
    }
  }

  #trim(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.maxBytes) return
      if (entry.users === 0) this.#drop(key, entry)
    }
  }

  #drop(key: string, entry: CachedObject): void {
    this.#entries.delete(key)
    this.#bytes -= entry.size
    entry.isDropped = true
    if (entry.users === 0) this.#unlink(entry)
  }

  /** The name is removed at once; readers that have the file open go on. */
  #unlink({ path }: CachedObject): void {
    unlink(path).catch(() => {})
  }
}
