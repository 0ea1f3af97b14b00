import { type FSWatcher, statSync, watch } from 'node:fs'
import { join, sep } from 'node:path'
import { errnoOf } from '../../client/errors.js'

interface WatchedFolder {
  handle: FSWatcher
  inode: bigint
}

/** Whether the platform reports events of all descendants through one handle. */
const HAS_TREE_EVENTS = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Calls a listener when the content of a folder may have changed. Uses one handle for each folder, none for files: on
 * Linux each needs an inotify watch, whose number per user is limited. The next full scan finds missed changes.
 */
export class FolderEvents {
  /** Whether the system has no more handles, so that some folders send no events. */
  isLimited = false
  readonly #root: string
  readonly #onHint: (path: string) => void
  readonly #watched = new Map<string, WatchedFolder>()

  /** @param onHint called with paths relative to the root with `/`, `` if anything may have changed */
  constructor(root: string, onHint: (path: string) => void) {
    this.#root = root
    this.#onHint = onHint
  }

  /** Starts to watch a folder, before its entries are read. A replaced folder is watched again. */
  add(path: string): void {
    if (HAS_TREE_EVENTS && path !== '') return
    const absolute = path === '' ? this.#root : join(this.#root, path)
    try {
      const inode = statSync(absolute, { bigint: true }).ino
      const existing = this.#watched.get(path)
      if (existing?.inode === inode) return
      existing?.handle.close()
      const handle = watch(absolute, { recursive: HAS_TREE_EVENTS }, (_event, name) => this.#hint(path, name))
      handle.on('error', () => {
        this.remove(path)
        this.#onHint(path)
      })
      this.#watched.set(path, { handle, inode })
    } catch (error) {
      const errno = errnoOf(error)
      // A folder that was deleted meanwhile is no error: its parent sends an event.
      if (errno === 'ENOSPC' || errno === 'EMFILE') this.isLimited = true
    }
  }

  /** Stops watching a folder and its descendants. */
  remove(path: string): void {
    if (!this.#watched.has(path)) return
    for (const [watchedPath, { handle }] of this.#watched) {
      if (path !== '' && watchedPath !== path && !watchedPath.startsWith(`${path}/`)) continue
      handle.close()
      this.#watched.delete(watchedPath)
    }
  }

  close(): void {
    for (const { handle } of this.#watched.values()) handle.close()
    this.#watched.clear()
    this.isLimited = false
  }

  #hint(folder: string, name: string | null): void {
    const relativePath = name?.split(sep).join('/') ?? ''
    this.#onHint([folder, relativePath].filter((part) => part !== '').join('/'))
  }
}
