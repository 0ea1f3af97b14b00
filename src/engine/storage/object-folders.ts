import { lstatSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncPath } from '../../local/file-system.js'
import { isCode } from '../../local/private-file.js'
import { makeDirectories } from './durable-files.js'

/** Folders that are synced concurrently: each takes a file descriptor. */
const SYNCED_AT_ONCE = 64

interface Syncing {
  running: Promise<void>
  /** for callers during the run: their names may have come too late for it */
  next: Promise<void> | undefined
}

/** The folders of a file store. Each is created once, and synced once for all names added at the same time. */
export class ObjectFolders {
  /** known to exist, unless an operator removes them */
  readonly #made = new Set<string>()
  readonly #syncing = new Map<string, Syncing>()

  /** Creates a missing folder, durably. */
  async make(folder: string): Promise<void> {
    if (this.#made.has(folder)) return
    // also where another process has just created it, which may not have synced it yet
    await this.sync([...(await makeDirectories(folder)), dirname(folder)])
    this.#made.add(folder)
  }

  /** Moves a file into a folder that was created. */
  async name(from: string, to: string): Promise<void> {
    try {
      await rename(from, to)
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw error
      // an operator may have removed the folder
      this.#made.delete(dirname(to))
      await this.make(dirname(to))
      await rename(from, to)
    }
  }

  /** Makes the names durable that the folders contain when this is called. */
  async sync(folders: Iterable<string>): Promise<void> {
    const each = [...new Set(folders)]
    for (let from = 0; from < each.length; from += SYNCED_AT_ONCE)
      await Promise.all(each.slice(from, from + SYNCED_AT_ONCE).map((folder) => this.#sync(folder)))
  }

  #sync(folder: string): Promise<void> {
    const known = this.#syncing.get(folder)
    if (known === undefined) return this.#begin(folder)
    known.next ??= known.running.then(
      () => this.#begin(folder),
      () => this.#begin(folder),
    )
    return known.next
  }

  #begin(folder: string): Promise<void> {
    const syncing: Syncing = {
      running: syncPath(folder).finally(() => {
        if (syncing.next === undefined) this.#syncing.delete(folder)
      }),
      next: undefined,
    }
    this.#syncing.set(folder, syncing)
    return syncing.running
  }
}

/** Size of a file in bytes; nothing where there is none. Synchronous: a rejected `lstat` costs more than the call. */
export function sizeOfFile(path: string): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.size : undefined
}
