import { realpathSync, type Stats } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { IGNORE_FILES } from '../ingest/ignore-rules.js'
import { createFolderFilter, type FolderFilter, type WalkOptions } from '../ingest/walk.js'
import type { PollPlan } from './poll-plan.js'

/** Variables for other programs: they would disable polling or change its interval. */
const CHOKIDAR_VARIABLES = ['CHOKIDAR_USEPOLLING', 'CHOKIDAR_INTERVAL']

/**
 * Polls files for changes and reports hints. Polls only paths that the watch's rules include. Loaded, with its package,
 * only if a folder is polled.
 */
export class FolderPoller {
  /** Whether an ignore file changed, so that polling must be arranged again. */
  isOutdated = false
  readonly #folder: string
  readonly #walk: WalkOptions
  readonly #onHint: (path: string) => void
  #watcher: FSWatcher | undefined
  #planKey = ''

  /** @param onHint called with paths relative to the folder with `/` */
  constructor(folder: string, walk: WalkOptions, onHint: (path: string) => void) {
    this.#folder = folder
    this.#walk = walk
    this.#onHint = onHint
  }

  /** Polls according to the plan; an equivalent plan changes nothing. */
  async arrange(plan: PollPlan | undefined): Promise<void> {
    const planKey = plan?.isPolledByPath === true ? JSON.stringify([plan.intervalMs, plan.roots]) : ''
    if (planKey === this.#planKey && !this.isOutdated) return
    this.close()
    this.isOutdated = false
    if (plan === undefined || planKey === '') return
    const { watch } = await import('chokidar')
    for (const name of CHOKIDAR_VARIABLES) delete process.env[name]
    const folder = this.#open()
    if (folder === undefined) return
    const { root, isExcluded } = folder
    const watcher = watch(
      plan.roots.map((path) => join(root, path)),
      {
        usePolling: true,
        interval: plan.intervalMs,
        binaryInterval: plan.intervalMs,
        persistent: false,
        ignoreInitial: true,
        followSymlinks: false,
        ignorePermissionErrors: true,
        atomic: false,
        ignored: (path, stats) => this.#isIgnored(toRelativePath(root, path), stats, isExcluded),
      },
    )
    watcher.on('all', (_event, path) => this.#hint(toRelativePath(root, path)))
    // `all` has no event for a file with equal size and times, such as after `mv` of an older file.
    watcher.on('raw', (_event, path, details) => {
      if (!isFolderEvent(details)) this.#hint(toRelativePath(root, path))
    })
    // Scans report unreadable paths.
    watcher.on('error', () => undefined)
    this.#watcher = watcher
    this.#planKey = planKey
  }

  /** Resolves the folder and reads its rules. Undefined for a missing folder: the next scan reports it. */
  #open(): { root: string; isExcluded: FolderFilter } | undefined {
    try {
      return { root: realpathSync(this.#folder), isExcluded: createFolderFilter(this.#folder, this.#walk) }
    } catch {
      return undefined
    }
  }

  close(): void {
    void this.#watcher?.close()
    this.#watcher = undefined
    this.#planKey = ''
  }

  #isIgnored(path: string, stats: Stats | undefined, isExcluded: FolderFilter): boolean {
    if (path === '' || path.startsWith('..')) return false
    if (this.#walk.ignoreFiles && IGNORE_FILES.includes(posix.basename(path))) return false
    // The first call of chokidar has no stats.
    if (stats === undefined) return isExcluded(path, 'folder') && isExcluded(path, 'file')
    return isExcluded(path, stats.isDirectory() ? 'folder' : 'file')
  }

  #hint(path: string): void {
    if (IGNORE_FILES.includes(posix.basename(path))) this.isOutdated = true
    this.#onHint(path)
  }
}

function toRelativePath(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}

function isFolderEvent(details: unknown): boolean {
  if (typeof details !== 'object' || details === null || !('curr' in details)) return false
  const { curr } = details
  return typeof curr === 'object' && curr !== null && 'mode' in curr && (Number(curr.mode) & 0o170000) === 0o040000
}
