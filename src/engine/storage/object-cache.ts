import { link, mkdir, readdir, realpath, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onDisk } from '../../local/disk-error.js'
import { OBJECT_MODE } from './durable-files.js'

interface Entry {
  /** no other entry ever has it */
  path: string
  size: number
  users: number
  ready: Promise<void>
  /** nobody can ask for it any more, and its file goes with its last user */
  isDropped: boolean
}

/** An object as a file of this machine; `release` has to be called. */
export interface Held {
  path: string
  release(): void
}

/**
 * Objects that were fetched, as files of this machine. Together they have at most so many bytes, but for what is in use:
 * what was not used for longest goes first. Nothing here outlives the process.
 */
export class ObjectCache {
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  #made = 0

  private constructor(
    /** what every file lies in, through no link */
    readonly root: string,
    readonly mostBytes: number,
  ) {}

  /** Opens the folder and empties it: whether what an earlier process left there is whole is not known. */
  static async open(folder: string, mostBytes: number): Promise<ObjectCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
    return new ObjectCache(await realpath(folder), mostBytes)
  }

  /**
   * Has an object as a file until it is released.
   *
   * @param fetch writes it, new, to a path; says whether it is there whole
   * @returns a path where nothing lies, when it is not
   */
  async hold(key: string, fetch: (path: string) => Promise<boolean>): Promise<Held> {
    const entry = this.#entries.get(key) ?? this.#add(key, fetch)
    // the youngest is the last
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

  /** Keeps what was just received, so that it need not be fetched: bytes, or a file that gets a second name. */
  async offer(key: string, content: Buffer | string): Promise<void> {
    if (this.#entries.has(key)) return
    const fetch = async (path: string) => {
      if (typeof content === 'string') await link(content, path)
      else await writeFile(path, content, { flag: 'wx', mode: OBJECT_MODE })
      return true
    }
    // what cannot be kept is fetched when it is asked for
    const held = await this.hold(key, fetch).catch(() => undefined)
    held?.release()
  }

  /** The object is gone. */
  forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#drop(key, entry)
  }

  #add(key: string, fetch: (path: string) => Promise<boolean>): Entry {
    const path = join(this.root, String(++this.#made))
    const entry: Entry = { path, size: 0, users: 0, ready: Promise.resolve(), isDropped: false }
    entry.ready = this.#fill(key, entry, fetch)
    return entry
  }

  async #fill(key: string, entry: Entry, fetch: (path: string) => Promise<boolean>): Promise<void> {
    let isWhole = false
    try {
      isWhole = await onDisk(() => fetch(entry.path))
      if (!isWhole) return
      const { size } = await stat(entry.path)
      // the object may have gone meanwhile
      if (entry.isDropped) return
      entry.size = size
      this.#bytes += size
    } finally {
      if (!isWhole) {
        await unlink(entry.path).catch(() => {})
        if (this.#entries.get(key) === entry) this.#drop(key, entry)
      }
    }
  }

  #trim(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.mostBytes) return
      if (entry.users === 0) this.#drop(key, entry)
    }
  }

  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= entry.size
    entry.isDropped = true
    if (entry.users === 0) this.#unlink(entry)
  }

  /** The name goes at once; who has the file open reads on. */
  #unlink({ path }: Entry): void {
    unlink(path).catch(() => {})
  }
}
