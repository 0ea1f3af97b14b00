import { lstatSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncPath } from '../../local/file-system.js'
import { isCode } from '../../local/private-file.js'
import { makeDirectories } from './durable-files.js'

/** Folders that are synced at once: each takes a file descriptor. */
const SYNCED_AT_ONCE = 64

interface Syncing {
  running: Promise<void>
  /** for those who came while it ran: their names may have come too late for it */
  next: Promise<void> | undefined
}

/** The folders of a store of files: each is made once, and synced once for all that got names in it at the same time. */
export class ObjectFolders {
  /** those that are there for good, as long as nobody removes them by hand */
  readonly #made = new Set<string>()
  readonly #syncing = new Map<string, Syncing>()

  /** Makes a folder, durably, where it is not there. */
  async make(folder: string): Promise<void> {
    if (this.#made.has(folder)) return
    // also where somebody else has made it just now, who may not have synced it yet
    await this.sync([...(await makeDirectories(folder)), dirname(folder)])
    this.#made.add(folder)
  }

  /** Gives a file a name in a folder that was made. */
  async name(from: string, to: string): Promise<void> {
    try {
      await rename(from, to)
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw error
      // somebody may have removed the folder by hand
      this.#made.delete(dirname(to))
      await this.make(dirname(to))
      await rename(from, to)
    }
  }

  /** Makes the names in folders durable that were there when this was called. */
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

/** Nothing where no file is. Not by a thread, whose error for one that is not there costs more than the look. */
export function sizeOfFile(path: string): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.size : undefined
}
