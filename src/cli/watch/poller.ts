import { realpathSync, type Stats } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { IGNORE_FILES } from '../ingest/ignore-rules.js'
import { rulesOfFolder, type WalkOptions } from '../ingest/walk.js'
import type { PollPlan } from './poll-plan.js'

/** Variables for other programs: they would disable polling or change its interval. */
const VARIABLES = ['CHOKIDAR_USEPOLLING', 'CHOKIDAR_INTERVAL']

/**
 * Polls files for changes and reports hints. Polls only paths that the watch's rules include. Loaded, with its package,
 * only if a folder is polled.
 */
export class Poller {
  /** Whether an ignore file changed, so that polling must be arranged again. */
  isOutdated = false
  readonly #folder: string
  readonly #walk: WalkOptions
  readonly #onHint: (path: string) => void
  #watcher: FSWatcher | undefined
  #arranged = ''

  /** @param onHint called with paths relative to the folder with `/` */
  constructor(folder: string, walk: WalkOptions, onHint: (path: string) => void) {
    this.#folder = folder
    this.#walk = walk
    this.#onHint = onHint
  }

  /** Polls according to the plan; an equivalent plan changes nothing. */
  async arrange(plan: PollPlan | undefined): Promise<void> {
    const wanted = plan?.isSingle === true ? JSON.stringify([plan.everyMs, plan.roots]) : ''
    if (wanted === this.#arranged && !this.isOutdated) return
    this.close()
    this.isOutdated = false
    if (plan === undefined || wanted === '') return
    const { watch } = await import('chokidar')
    for (const name of VARIABLES) delete process.env[name]
    const folder = this.#open()
    if (folder === undefined) return
    const { root, isOut } = folder
    const watcher = watch(
      plan.roots.map((path) => join(root, path)),
      {
        usePolling: true,
        interval: plan.everyMs,
        binaryInterval: plan.everyMs,
        persistent: false,
        ignoreInitial: true,
        followSymlinks: false,
        ignorePermissionErrors: true,
        atomic: false,
        ignored: (path, stats) => this.#isIgnored(inside(root, path), stats, isOut),
      },
    )
    watcher.on('all', (_event, path) => this.#hint(inside(root, path)))
    // Also without a change of size and times, such as after `mv` of an older file.
    watcher.on('raw', (_event, path, details) => {
      if (!isFolder(details)) this.#hint(inside(root, path))
    })
    // Scans report unreadable paths.
    watcher.on('error', () => undefined)
    this.#watcher = watcher
    this.#arranged = wanted
  }

  /** Undefined for a missing folder: the next scan reports it, and the scan after its return arranges polling again. */
  #open(): { root: string; isOut: ReturnType<typeof rulesOfFolder> } | undefined {
    try {
      return { root: realpathSync(this.#folder), isOut: rulesOfFolder(this.#folder, this.#walk) }
    } catch {
      return undefined
    }
  }

  close(): void {
    void this.#watcher?.close()
    this.#watcher = undefined
    this.#arranged = ''
  }

  #isIgnored(path: string, stats: Stats | undefined, isOut: (path: string, isFolder: boolean) => boolean): boolean {
    if (path === '' || path.startsWith('..')) return false
    if (this.#walk.ignoreFiles && IGNORE_FILES.includes(posix.basename(path))) return false
    // chokidar asks first without stats.
    if (stats === undefined) return isOut(path, true) && isOut(path, false)
    return isOut(path, stats.isDirectory())
  }

  #hint(path: string): void {
    if (IGNORE_FILES.includes(posix.basename(path))) this.isOutdated = true
    this.#onHint(path)
  }
}

function inside(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}

function isFolder(details: unknown): boolean {
  if (typeof details !== 'object' || details === null || !('curr' in details)) return false
  const { curr } = details
  return typeof curr === 'object' && curr !== null && 'mode' in curr && (Number(curr.mode) & 0o170000) === 0o040000
}
