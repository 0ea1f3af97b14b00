import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import type { Client } from '../../client/client.js'
import { recordSkipped } from '../ingest/skipped-files.js'
import type { ReportedFile, WalkOptions } from '../ingest/walk.js'
import type { FolderScan, ScannedFile } from './scan.js'

interface FailedFilesOptions {
  folder: string
  spaceId: string
  walk: WalkOptions
}

/** Files of a watched folder that could not be ingested: they are sent again when they change. */
export class FailedFiles {
  readonly #options: FailedFilesOptions
  readonly #files = new Map<string, ReportedFile & { fingerprint: string }>()
  /** The skipped files of the last complete scan as JSON. */
  #recorded: string | undefined

  constructor(options: FailedFilesOptions) {
    this.#options = options
  }

  /** Whether a file failed and has not changed since. */
  has({ path, plainFingerprint }: ScannedFile): boolean {
    return this.#files.get(path)?.fingerprint === plainFingerprint
  }

  add(file: { path: string; filename: string }, reason: string, fingerprint: string): void {
    this.#files.set(file.path, { filename: file.filename, reason, fingerprint })
  }

  delete(path: string): void {
    this.#files.delete(path)
  }

  clear(): void {
    this.#files.clear()
    this.#recorded = undefined
  }

  /**
   * Records the skipped files of a scan in the space, and those that failed.
   *
   * @param isComplete whether the entire folder was scanned: then others of the folder are no longer skipped
   */
  async record(client: Client, { files, skipped }: FolderScan, isComplete: boolean): Promise<void> {
    for (const path of this.#files.keys()) if (isComplete && !files.has(path)) this.#files.delete(path)
    const reported = [...skipped, ...this.#files.values()].map(({ filename, reason }) => ({ filename, reason }))
    const json = JSON.stringify(reported)
    if (json === this.#recorded || (reported.length === 0 && !isComplete)) return
    const { folder, spaceId, walk } = this.#options
    const folders = isComplete ? [walk.nameOf?.(realpathSync(folder)) ?? basename(folder)] : []
    await recordSkipped(client, spaceId, { skipped: reported, inspected: new Set(), folders })
    if (isComplete) this.#recorded = json
  }
}
