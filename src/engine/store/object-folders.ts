import { lstatSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncPath } from '../../local/file-system.js'
import { hasErrorCode } from '../../local/private-file.js'
import { makeDirectories } from './durable-files.js'

/** Folders that are synced concurrently: each takes a file descriptor. */
const MAX_CONCURRENT_SYNCS = 64

interface FolderSyncState {
  running: Promise<void>
  /** for callers during the run: their names may have come too late for it */
  next: Promise<void> | undefined
}

/** The folders of a file store. Each is created once, and synced once for all names added at the same time. */
export class ObjectFolders {
  /** known to exist, unless an operator removes them */
  readonly #created = new Set<string>()
  readonly #syncing = new Map<string, FolderSyncState>()

  /** Creates a missing folder, durably. */
  async make(folder: string): Promise<void> {
    if (this.#created.has(folder)) return
    // also where another process has just created it, which may not have synced it yet
    await this.sync([...(await makeDirectories(folder)), dirname(folder)])
    this.#created.add(folder)
  }

  /** Moves a file into a folder that was created. */
  async moveInto(source: string, target: string): Promise<void> {
    try {
      await rename(source, target)
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error
      // an operator may have removed the folder
      this.#created.delete(dirname(target))
      await this.make(dirname(target))
      await rename(source, target)
    }
  }

  /** Makes the names durable that the folders contain when this is called. */
  async sync(folders: Iterable<string>): Promise<void> {
    const each = [...new Set(folders)]
    for (let start = 0; start < each.length; start += MAX_CONCURRENT_SYNCS)
      await Promise.all(each.slice(start, start + MAX_CONCURRENT_SYNCS).map((folder) => this.#sync(folder)))
  }

  #sync(folder: string): Promise<void> {
    const running = this.#syncing.get(folder)
    if (running === undefined) return this.#begin(folder)
    running.next ??= running.running.then(
      () => this.#begin(folder),
      () => this.#begin(folder),
    )
    return running.next
  }

  #begin(folder: string): Promise<void> {
    const syncing: FolderSyncState = {
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
export function getObjectFileSize(path: string): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.size : undefined
}
