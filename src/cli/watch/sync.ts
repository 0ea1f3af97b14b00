import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { hashFile } from '../ingest/hash-cache.js'
import type { FileToSend } from '../ingest/known-files.js'
import { batches, type Sent, sendBatch } from '../ingest/upload.js'
import { type PassedFile, readFailure, type WalkOptions } from '../ingest/walk.js'
import { overLimit, uploadLimit } from '../upload-limit.js'
import { chunks, type Entry, heldOf, type Ledger } from './ledger.js'
import {
  deviceAbove,
  type FolderScan,
  folderIdentity,
  plainFingerprintOf,
  type ScannedFile,
  scanFolder,
  whatIsAt,
} from './scan.js'
import { SETTLE_MS, Settling } from './settling.js'

/** The result of one file. */
export interface Change {
  filename: string
  status: 'added' | 'changed' | 'removed' | 'failed'
  reason?: string
  documentId?: string
  jobId?: string
  bulkJobId?: string
}

export interface SyncOptions {
  folder: string
  spaceId: string
  walk: WalkOptions
  onDelete: 'remove' | 'keep'
  ledger: Ledger
  signal: AbortSignal
  onFolder: (path: string) => void
  onChange: (change: Change) => void
  /** Called repeatedly during long work. */
  onProgress: () => void
}

export interface SyncResult {
  /** Paths to scan again, and the delay in milliseconds. */
  again: string[]
  afterMs: number
  skipped: PassedFile[]
}

const UPLOADS_AT_ONCE = 4
/** Retry delay for unreadable paths. */
const UNREAD_MS = 2000
/** Validity of the permission to remove missing files. */
const ACCEPTED_MS = 30_000
/** Number of files that are hashed, claimed and sent before the next ones are read. */
const CHUNK = 256
/** From this number of files on, asking the space before sending saves time. */
const ASK_FROM = 16

/** Synchronizes a space with a folder. `sync` must not be called again before its promise has settled. */
export class FolderSync {
  readonly #options: SyncOptions
  readonly #settling = new Settling()
  /** Fingerprints of files that could not be ingested. */
  readonly #failed = new Map<string, string>()
  /** Device numbers that changed, for example after a restart of the machine. */
  readonly #renumbered = new Map<string, Set<string>>()
  #entries = new Map<string, Entry>()
  /** Device and inode of the last trusted folder. */
  #identity: string | undefined
  /** Device and inode at the last full scan. */
  #scannedIdentity: string | undefined
  /** Whether an empty folder has replaced the watched one. */
  #isSuspect = false
  /** Missing files that are not treated as deleted. */
  readonly #withheld = new Set<string>()
  #acceptedUntil = 0
  #scanMs = 0

  constructor(options: SyncOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** Reloads the claimed files and the state of their documents. */
  async reload(client: Client): Promise<void> {
    const entries = await this.#options.ledger.load(client)
    this.#entries = new Map(entries.map((entry) => [entry.path, entry]))
    this.#failed.clear()
    this.#withheld.clear()
  }

  /** Number of known files below some folders, `` for all. */
  sizeBelow(folders: readonly string[]): number {
    if (folders.includes('')) return this.size
    return [...this.#entries.keys()].filter((path) => isUnder(path, folders)).length
  }

  /** Duration of the last full scan in milliseconds. */
  get scanMs(): number {
    return this.#scanMs
  }

  get withheld(): number {
    return this.#withheld.size
  }

  /** Treats currently missing files as deleted, even on another disk. */
  accept(): void {
    this.#acceptedUntil = Date.now() + ACCEPTED_MS
  }

  /** Whether the folder was replaced by another one. @throws FolderMissingError */
  isReplaced(): boolean {
    const identity = folderIdentity(this.#options.folder)
    return this.#scannedIdentity !== undefined && identity !== this.#scannedIdentity
  }

  /**
   * Compares paths (`` for the folder) with the known state, uploads changed files, removes documents of deleted files.
   *
   * @throws FolderMissingError; ApiError, ConnectionError, after which `reload` is required
   */
  async sync(client: Client, paths: ReadonlySet<string>): Promise<SyncResult> {
    const { folder, walk, onFolder, signal } = this.#options
    const identity = folderIdentity(folder)
    const began = performance.now()
    const scan = scanFolder(paths.has('') ? [''] : paths, { folder, walk, onFolder })
    if (paths.has('')) this.#scanMs = performance.now() - began
    const pass: SyncResult = { again: [], afterMs: 0, skipped: scan.skipped }
    for (const path of scan.unread) postpone(pass, path, UNREAD_MS)
    if (paths.has('')) this.#checkFolder(identity, scan)
    const { fresh, moved } = this.#compare(scan, pass)
    if (fresh.length === 0 && scan.files.size > 0 && pass.again.length > 0) await this.#options.ledger.announce(client)
    await this.#refresh(client, moved)
    for (const chunk of chunks(fresh, CHUNK)) {
      signal.throwIfAborted()
      await this.#send(client, chunk, pass)
    }
    await this.#remove(client, this.#missing(scan, paths, pass), pass)
    return pass
  }

  /** An empty folder with a new identity may be an unmounted mount point: its files are not treated as deleted. */
  #checkFolder(identity: string, { files }: FolderScan): void {
    this.#scannedIdentity = identity
    this.#isSuspect = identity !== this.#identity && this.#entries.size > 0 && files.size === 0
    if (!this.#isSuspect) this.#identity = identity
  }

  /** @returns files to read, and entries of unchanged files with a new device number */
  #compare({ files }: FolderScan, pass: SyncResult): { fresh: ScannedFile[]; moved: Entry[] } {
    const fresh: ScannedFile[] = []
    const moved: Entry[] = []
    for (const file of files.values()) {
      const entry = this.#entries.get(file.path)
      const isHeld = entry !== undefined && entry.documentSha === entry.sha256
      this.#withheld.delete(file.path)
      if (isHeld && entry.fingerprint !== '' && entry.fingerprint === file.plainFingerprint) {
        this.#settling.forget(file.path)
        if (entry.device !== file.device) {
          this.#noteRenumbered(entry.device, file.device)
          moved.push({ ...entry, device: file.device })
        }
        continue
      }
      if (this.#failed.get(file.path) === file.plainFingerprint) continue
      const wait = this.#settling.present(file.path, file.plainFingerprint, file.changedAt, Date.now())
      if (wait === 0) fresh.push(file)
      else postpone(pass, file.path, wait)
    }
    return { fresh, moved }
  }

  #noteRenumbered(before: string, now: string): void {
    const numbers = this.#renumbered.get(before) ?? new Set()
    this.#renumbered.set(before, numbers.add(now))
  }

  async #refresh(client: Client, entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return
    await this.#options.ledger.claim(client, entries)
    for (const entry of entries) this.#entries.set(entry.path, entry)
  }

  /** Hashes, claims and uploads files whose content may be new to the space. */
  async #send(client: Client, files: readonly ScannedFile[], pass: SyncResult): Promise<void> {
    const { folder, onProgress } = this.#options
    const claims: Entry[] = []
    const most = files.length === 0 ? 0 : await uploadLimit(client)
    for (const file of files) {
      const tooLarge = overLimit(file.size, most)
      if (tooLarge !== undefined) {
        this.#fail(file, tooLarge)
        continue
      }
      try {
        const sha256 = await hashFile(join(folder, file.path), file.size, file.root)
        const { path, filename, fingerprint, device, size } = file
        const known = this.#entries.get(path)
        const { documentSha, documentIds } = known ?? { documentSha: undefined, documentIds: [] }
        claims.push({ path, filename, fingerprint, device, size, sha256, documentSha, documentIds })
      } catch (error) {
        this.#fail(file, readFailure(error))
      }
    }
    await this.#refresh(client, claims)
    onProgress()
    const unheld = claims.filter((entry) => entry.documentSha !== entry.sha256)
    const wanted = unheld.length < ASK_FROM ? unheld : await this.#leaveOutHeld(client, unheld)
    const fingerprints = new Map(files.map(({ path, plainFingerprint }) => [path, plainFingerprint]))
    // All files are of one scan with one root.
    const root = defined({ root: files[0]?.root })
    const toSend = wanted.map(
      ({ path, filename, size }, index): FileToSend => ({ path: join(folder, path), filename, size, index, ...root }),
    )
    const limit = pLimit(UPLOADS_AT_ONCE)
    const sent = await Promise.all(batches(toSend).map((batch) => limit(() => this.#upload(client, batch))))
    for (const result of sent.flat()) {
      const entry = wanted[result.file.index]
      if (entry === undefined) continue
      this.#recordUpload(entry, fingerprints.get(entry.path) ?? '', result)
      if (plainFingerprintOf(join(folder, entry.path)) === fingerprints.get(entry.path)) continue
      // The uploaded content may be newer than the hash.
      entry.documentSha = undefined
      postpone(pass, entry.path, SETTLE_MS)
    }
    onProgress()
  }

  /** Excludes entries that the space already has; failed ones are sent again. */
  async #leaveOutHeld(client: Client, entries: Entry[]): Promise<Entry[]> {
    const documents = await heldOf(client, this.#options.spaceId, entries)
    return entries.filter((entry, index) => {
      const held = documents[index]
      if (held?.documentId === undefined || held.status !== 'unchanged') return true
      entry.documentSha = entry.sha256
      entry.documentIds = [held.documentId]
      return false
    })
  }

  #upload(client: Client, batch: FileToSend[]): Promise<Sent[]> {
    const { spaceId, signal } = this.#options
    return sendBatch(batch, { client, spaceId, sourceId: undefined, signal, onBytes: () => undefined })
  }

  #recordUpload(entry: Entry, fingerprint: string, result: Sent): void {
    const { filename } = entry
    if ('failed' in result) {
      this.#failed.set(entry.path, fingerprint)
      this.#options.onChange({ filename, status: 'failed', reason: result.failed })
      return
    }
    const status = entry.documentIds.length === 0 ? 'added' : 'changed'
    entry.documentSha = entry.sha256
    entry.documentIds = [...new Set([result.documentId, ...entry.documentIds])]
    const bulk = 'bulkJobId' in result ? { bulkJobId: result.bulkJobId } : {}
    const job = 'jobId' in result ? { jobId: result.jobId, ...bulk } : {}
    this.#options.onChange({ filename, status, documentId: result.documentId, ...job })
  }

  #fail({ path, filename, plainFingerprint }: ScannedFile, reason: string): void {
    this.#failed.set(path, plainFingerprint)
    this.#options.onChange({ filename, status: 'failed', reason })
  }

  /** Entries below the paths without a file, missing for long enough. */
  #missing({ files, unread }: FolderScan, paths: ReadonlySet<string>, pass: SyncResult): Entry[] {
    const candidates = paths.has('') ? [...this.#entries.values()] : this.#below(paths, files)
    const gone: Entry[] = []
    for (const entry of candidates) {
      if (files.has(entry.path) || isUnder(entry.path, unread)) continue
      const wait = this.#settling.gone(entry.path, Date.now())
      if (wait === 0) gone.push(entry)
      else postpone(pass, entry.path, wait)
    }
    return gone
  }

  #below(paths: ReadonlySet<string>, files: ReadonlyMap<string, ScannedFile>): Entry[] {
    const own = [...paths].flatMap((path) => this.#entries.get(path) ?? [])
    const areFiles = [...paths].every((path) => files.has(path) || this.#entries.has(path))
    if (areFiles) return own
    return [...this.#entries.values()].filter(
      ({ path }) => paths.has(path) || ancestors(path).some((one) => paths.has(one)),
    )
  }

  async #remove(client: Client, gone: readonly Entry[], pass: SyncResult): Promise<void> {
    const { folder, onDelete, ledger, onChange, spaceId } = this.#options
    if (gone.length === 0 || onDelete === 'keep') return
    const sure = gone.filter((entry) => this.#isSurelyGone(entry, pass))
    folderIdentity(folder) // Throws if the folder was removed meanwhile.
    for (const chunk of chunks(sure, LIMITS.localFiles)) {
      const documentIds = chunk.flatMap((entry) => entry.documentIds)
      for (const ids of chunks(documentIds, LIMITS.documentIds))
        await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', {
          path: { id: spaceId },
          body: { documentIds: ids },
        })
      await ledger.forget(client, chunk)
      for (const { path, filename } of chunk) {
        this.#entries.delete(path)
        this.#failed.delete(path)
        this.#withheld.delete(path)
        onChange({ filename, status: 'removed' })
      }
    }
  }

  #isSurelyGone(entry: Entry, pass: SyncResult): boolean {
    const what = whatIsAt(this.#options.folder, entry.path)
    if (what === 'unknown') postpone(pass, entry.path, UNREAD_MS)
    if (what !== 'nothing') return what === 'left-out'
    const isDoubtful = this.#isSuspect || this.#isOnOtherDisk(entry)
    if (!isDoubtful || Date.now() < this.#acceptedUntil) return true
    this.#withheld.add(entry.path)
    return false
  }

  /** Whether the path of a missing file is now on another file system. */
  #isOnOtherDisk({ path, device }: Entry): boolean {
    const now = deviceAbove(this.#options.folder, path)
    return device !== '' && now !== device && this.#renumbered.get(device)?.has(now) !== true
  }
}

function postpone(pass: SyncResult, path: string, ms: number): void {
  pass.afterMs = pass.again.length === 0 ? ms : Math.min(pass.afterMs, ms)
  pass.again.push(path)
}

function isUnder(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === '' || path === folder || path.startsWith(`${folder}/`))
}

function ancestors(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'))
}
