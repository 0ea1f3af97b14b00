import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { SpaceIndex, type SpaceIndexOptions } from './space-index.js'

/** Each open space has the threads of a writer, mapped files and its vectors in memory. */
const MAX_OPEN_SPACES = 32

interface PoolEntry {
  index: Promise<SpaceIndex>
  /** changes of a space run in sequence; searches do not wait for them */
  tail: Promise<unknown>
  busy: number
}

export interface SpacePoolOptions extends Omit<SpaceIndexOptions, 'dir' | 'onBuild'> {
  dir: string
  maxOpen?: number
  onClosed: (space: string) => void
  onBuild: (space: string, running: boolean) => void
}

/**
 * The space was closed to free capacity. Its staged changes and vectors are lost, so the caller must open it again and
 * find out what is missing.
 */
export class SpaceClosedError extends Error {
  constructor(space: string) {
    super(`the indexes of space ${space} are not open`)
  }
}

/** The open spaces of the index process; the least recently used one is closed for a new one. */
export class SpacePool {
  readonly #options: SpacePoolOptions
  readonly #open = new Map<string, PoolEntry>()
  readonly #closing = new Map<string, Promise<void>>()

  constructor(options: SpacePoolOptions) {
    this.#options = options
  }

  /** Runs a search, which may overtake changes. */
  async read<T>(space: string, action: (index: SpaceIndex) => Promise<T> | T): Promise<T> {
    const entry = this.#getOpen(space)
    entry.busy++
    try {
      return await action(await entry.index)
    } finally {
      entry.busy--
    }
  }

  /** Runs a change after all earlier changes of the space. */
  async change<T>(space: string, action: (index: SpaceIndex) => Promise<T> | T): Promise<T> {
    return this.#change(this.#getOpen(space), action)
  }

  /** The same for a space that may not be open yet. */
  async open<T>(space: string, action: (index: SpaceIndex) => Promise<T> | T): Promise<T> {
    return this.#change(this.#getOrOpen(space), action)
  }

  #change<T>(entry: PoolEntry, action: (index: SpaceIndex) => Promise<T> | T): Promise<T> {
    entry.busy++
    const run = async () => {
      try {
        return await action(await entry.index)
      } finally {
        entry.busy--
      }
    }
    const result = entry.tail.then(run, run)
    entry.tail = result.catch(() => {})
    return result
  }

  async drop(space: string): Promise<void> {
    await this.open(space, async (index) => {
      this.#open.delete(space)
      await index.drop()
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((space) => this.#close(space)))
    await Promise.all(this.#closing.values())
  }

  #getOpen(space: string): PoolEntry {
    const known = this.#open.get(space)
    if (known === undefined) throw new SpaceClosedError(space)
    this.#open.delete(space)
    this.#open.set(space, known)
    return known
  }

  #getOrOpen(space: string): PoolEntry {
    if (this.#open.has(space)) return this.#getOpen(space)
    this.#evictLeastRecent()
    const index = (this.#closing.get(space) ?? Promise.resolve()).then(() => this.#openSpace(space))
    const entry: PoolEntry = { index, tail: index.catch(() => {}), busy: 0 }
    index.catch(() => {
      if (this.#open.get(space) === entry) this.#open.delete(space)
    })
    this.#open.set(space, entry)
    return entry
  }

  #openSpace(space: string): Promise<SpaceIndex> {
    const onBuild = (running: boolean) => this.#options.onBuild(space, running)
    return SpaceIndex.open({ ...this.#options, dir: join(this.#options.dir, spaceDirectoryName(space)), onBuild })
  }

  #evictLeastRecent(): void {
    if (this.#open.size < (this.#options.maxOpen ?? MAX_OPEN_SPACES)) return
    for (const [space, entry] of this.#open) {
      if (entry.busy > 0) continue
      this.#close(space).catch((error: unknown) => this.#options.log(`a space did not close: ${String(error)}`))
      this.#options.onClosed(space)
      return
    }
  }

  #close(space: string): Promise<void> {
    const entry = this.#open.get(space)
    if (entry === undefined) return Promise.resolve()
    this.#open.delete(space)
    const done = entry.tail
      .then(() => entry.index)
      .then((index) => index.close())
      .catch((error: unknown) => this.#options.log(`a space did not close: ${String(error)}`))
      .finally(() => this.#closing.delete(space))
    this.#closing.set(space, done)
    return done
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Only ids and hashes become names in the file system. */
export function spaceDirectoryName(space: string): string {
  return UUID.test(space) ? space : createHash('sha256').update(space).digest('hex')
}
