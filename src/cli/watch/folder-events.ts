import { type FSWatcher, statSync, watch } from 'node:fs'
import { join, sep } from 'node:path'
import { errnoOf } from '../../client/errors.js'

interface Watched {
  handle: FSWatcher
  inode: bigint
}

/** Platforms that tell of everything below a folder by one handle. */
const HAS_TREE_EVENTS = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Hints that something below a folder may have changed. One handle a folder, none a file: on Linux a file would cost an
 * inotify watch each, of which a user has few. What is missed here is found by the next full scan.
 */
export class FolderEvents {
  /** the system has no more handles: there are folders nobody tells about */
  isLimited = false
  readonly #root: string
  readonly #onHint: (path: string) => void
  readonly #watched = new Map<string, Watched>()

  /** @param onHint told paths from the root with `/`, `` when anything may have changed */
  constructor(root: string, onHint: (path: string) => void) {
    this.#root = root
    this.#onHint = onHint
  }

  /** Begins to watch a folder, before its entries are read. One that was replaced is watched anew. */
  add(path: string): void {
    if (HAS_TREE_EVENTS && path !== '') return
    const absolute = path === '' ? this.#root : join(this.#root, path)
    try {
      const inode = statSync(absolute, { bigint: true }).ino
      const known = this.#watched.get(path)
      if (known?.inode === inode) return
      known?.handle.close()
      const handle = watch(absolute, { recursive: HAS_TREE_EVENTS }, (_event, name) => this.#hint(path, name))
      handle.on('error', () => {
        this.drop(path)
        this.#onHint(path)
      })
      this.#watched.set(path, { handle, inode })
    } catch (error) {
      const errno = errnoOf(error)
      // gone meanwhile is not worth a word: its parent tells
      if (errno === 'ENOSPC' || errno === 'EMFILE') this.isLimited = true
    }
  }

  /** Lets go of a folder and those below it. */
  drop(path: string): void {
    if (!this.#watched.has(path)) return
    for (const [known, { handle }] of this.#watched) {
      if (path !== '' && known !== path && !known.startsWith(`${path}/`)) continue
      handle.close()
      this.#watched.delete(known)
    }
  }

  close(): void {
    for (const { handle } of this.#watched.values()) handle.close()
    this.#watched.clear()
    this.isLimited = false
  }

  #hint(folder: string, name: string | null): void {
    const inside = name?.split(sep).join('/') ?? ''
    this.#onHint([folder, inside].filter((part) => part !== '').join('/'))
  }
}
