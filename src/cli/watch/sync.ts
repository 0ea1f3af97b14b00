import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { hashFile } from '../ingest/hash-cache.js'
import { EMPTY_FILE_REASON, type FileToSend } from '../ingest/known-files.js'
import { type FileUploadResult, sendBatch, splitIntoBatches } from '../ingest/upload.js'
import { describeFileFailure, type ReportedFile, type WalkOptions } from '../ingest/walk.js'
import { describeOverLimit, getUploadLimit } from '../upload-limit.js'
import { ChangeDebouncer, SETTLE_MS } from './change-debouncer.js'
import { FailedFiles } from './failed-files.js'
import { checkDocuments, type LedgerEntry, splitIntoChunks, type WatchLedger } from './ledger.js'
import {
  type FolderScan,
  findDeviceAbove,
  getFolderIdentity,
  inspectMissingPath,
  listAncestors,
  readPlainFingerprint,
  type ScannedFile,
  scanFolder,
} from './scan.js'

export interface FileChange {
  filename: string
  status: 'added' | 'changed' | 'removed' | 'failed'
  reason?: string
  documentId?: string
  jobId?: string
  bulkJobId?: string
}

export interface FolderSyncOptions {
  folder: string
  spaceId: string
  walk: WalkOptions
  onDelete: 'remove' | 'keep'
  ledger: WatchLedger
  signal: AbortSignal
  onFolder: (path: string) => void
  onChange: (change: FileChange) => void
  /** Called repeatedly during long work. */
  onProgress: () => void
}

export interface FolderSyncResult {
  /** Paths to scan again, and the delay in milliseconds. */
  retryPaths: string[]
  retryAfterMs: number
  skipped: ReportedFile[]
}

const CONCURRENT_UPLOADS = 4
/** Delay before unreadable paths are scanned again. */
const UNREAD_RETRY_MS = 2000
/** Missing files are treated as deleted for this time after `acceptMissing`. */
const ACCEPTANCE_MS = 30_000
/** Number of files that are hashed, claimed and sent before the next ones are read. */
const CHUNK_FILES = 256
/** From this number of files on, checking which ones the space has saves time. */
const MIN_FILES_TO_CHECK = 16

/** Synchronizes a space with a folder. `sync` must not be called again before its promise has settled. */
export class FolderSync {
  readonly #options: FolderSyncOptions
  readonly #debouncer = new ChangeDebouncer()
  readonly #failed: FailedFiles
  /** Device numbers that changed, for example after a restart of the machine. */
  readonly #deviceAliases = new Map<string, Set<string>>()
  #entries = new Map<string, LedgerEntry>()
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

  constructor(options: FolderSyncOptions) {
    this.#options = options
    this.#failed = new FailedFiles(options)
  }

  /** Number of claimed files. */
  get fileCount(): number {
    return this.#entries.size
  }

  /** Reloads the claimed files and the state of their documents. */
  async reload(client: Client): Promise<void> {
    const entries = await this.#options.ledger.load(client)
    this.#entries = new Map(entries.map((entry) => [entry.path, entry]))
    this.#failed.clear()
    this.#withheld.clear()
  }

  /** Number of claimed files below some folders, `` for all. */
  countFilesBelow(folders: readonly string[]): number {
    return [...this.#entries.keys()].filter((path) => isUnder(path, folders)).length
  }

  /** Duration of the last full scan in milliseconds. */
  get scanMs(): number {
    return this.#scanMs
  }

  /** Number of missing files that are not treated as deleted. */
  get withheldCount(): number {
    return this.#withheld.size
  }

  /** Treats currently missing files as deleted, even on another disk. */
  acceptMissing(): void {
    this.#acceptedUntil = Date.now() + ACCEPTANCE_MS
  }

  /** Whether the folder was replaced by another one. @throws FolderMissingError */
  isReplaced(): boolean {
    const identity = getFolderIdentity(this.#options.folder)
    return this.#scannedIdentity !== undefined && identity !== this.#scannedIdentity
  }

  /**
   * Compares paths (`` for the folder) with the known state, uploads changed files, removes documents of deleted files.
   * @throws FolderMissingError; ApiError, ConnectionError, after which `reload` is required
   */
  async sync(client: Client, paths: ReadonlySet<string>): Promise<FolderSyncResult> {
    const { folder, walk, onFolder, signal } = this.#options
    const identity = getFolderIdentity(folder)
    const startedAt = performance.now()
    const scan = scanFolder(paths.has('') ? [''] : paths, { folder, walk, onFolder })
    if (paths.has('')) this.#scanMs = performance.now() - startedAt
    const result: FolderSyncResult = { retryPaths: [], retryAfterMs: 0, skipped: scan.skipped }
    for (const path of scan.unread) postpone(result, path, UNREAD_RETRY_MS)
    if (paths.has('')) this.#checkFolder(identity, scan)
    const { changed, moved } = this.#compare(scan, result)
    if (changed.length === 0 && scan.files.size > 0 && result.retryPaths.length > 0)
      await this.#options.ledger.announce(client)
    await this.#claim(client, moved)
    for (const chunk of splitIntoChunks(changed, CHUNK_FILES)) {
      signal.throwIfAborted()
      await this.#send(client, chunk, result)
    }
    await this.#remove(client, this.#findMissing(scan, paths, result), result)
    await this.#failed.record(client, scan, paths.has(''))
    return result
  }

  /** An empty folder with a new identity may be an unmounted mount point: its files are not treated as deleted. */
  #checkFolder(identity: string, { files }: FolderScan): void {
    this.#scannedIdentity = identity
    this.#isSuspect = identity !== this.#identity && this.#entries.size > 0 && files.size === 0
    if (!this.#isSuspect) this.#identity = identity
  }

  /** @returns files to read, and entries of unchanged files with a new device number */
  #compare({ files }: FolderScan, result: FolderSyncResult): { changed: ScannedFile[]; moved: LedgerEntry[] } {
    const changed: ScannedFile[] = []
    const moved: LedgerEntry[] = []
    for (const file of files.values()) {
      const entry = this.#entries.get(file.path)
      const isPublished = entry !== undefined && entry.documentSha === entry.sha256
      this.#withheld.delete(file.path)
      if (isPublished && entry.fingerprint !== '' && entry.fingerprint === file.plainFingerprint) {
        this.#debouncer.forget(file.path)
        if (entry.device !== file.device) {
          this.#recordDeviceAlias(entry.device, file.device)
          moved.push({ ...entry, device: file.device })
        }
        continue
      }
      if (this.#failed.has(file)) continue
      const delayMs = this.#debouncer.getPresentDelay(file.path, file.plainFingerprint, file.changedAt, Date.now())
      if (delayMs === 0) changed.push(file)
      else postpone(result, file.path, delayMs)
    }
    return { changed, moved }
  }

  #recordDeviceAlias(previous: string, current: string): void {
    const numbers = this.#deviceAliases.get(previous) ?? new Set()
    this.#deviceAliases.set(previous, numbers.add(current))
  }

  async #claim(client: Client, entries: readonly LedgerEntry[]): Promise<void> {
    if (entries.length === 0) return
    await this.#options.ledger.claim(client, entries)
    for (const entry of entries) this.#entries.set(entry.path, entry)
  }

  /** Hashes, claims and uploads files whose content may be new to the space. */
  async #send(client: Client, files: readonly ScannedFile[], result: FolderSyncResult): Promise<void> {
    const { folder, onProgress } = this.#options
    const claims: LedgerEntry[] = []
    const maxBytes = files.length === 0 ? 0 : await getUploadLimit(client)
    for (const file of files) {
      // An empty file replaces the text of the document that it was, and makes no document.
      const isSkipped = file.size === 0 && !this.#entries.has(file.path)
      if (isSkipped) this.#failed.add(file, EMPTY_FILE_REASON, file.plainFingerprint)
      const tooLarge = describeOverLimit(file.size, maxBytes)
      if (tooLarge !== undefined) this.#recordFailure(file, tooLarge)
      if (isSkipped || tooLarge !== undefined) continue
      try {
        const sha256 = await hashFile(join(folder, file.path), file.size, file.root)
        const { path, filename, fingerprint, device, size } = file
        const existing = this.#entries.get(path)
        const { documentSha, documentIds } = existing ?? { documentSha: undefined, documentIds: [] }
        claims.push({ path, filename, fingerprint, device, size, sha256, documentSha, documentIds })
      } catch (error) {
        this.#recordFailure(file, describeFileFailure(error))
      }
    }
    await this.#claim(client, claims)
    onProgress()
    const unpublished = claims.filter((entry) => entry.documentSha !== entry.sha256)
    const missing =
      unpublished.length < MIN_FILES_TO_CHECK ? unpublished : await this.#selectMissing(client, unpublished)
    const fingerprints = new Map(files.map(({ path, plainFingerprint }) => [path, plainFingerprint]))
    // All files are of one scan with one root.
    const root = omitUndefined({ root: files[0]?.root })
    const filesToSend = missing.map(
      ({ path, filename, size }, index): FileToSend => ({ path: join(folder, path), filename, size, index, ...root }),
    )
    const limit = pLimit(CONCURRENT_UPLOADS)
    const results = await Promise.all(
      splitIntoBatches(filesToSend).map((batch) => limit(() => this.#upload(client, batch))),
    )
    for (const upload of results.flat()) {
      const entry = missing[upload.file.index]
      if (entry === undefined) continue
      this.#recordUpload(entry, fingerprints.get(entry.path) ?? '', upload)
      if (readPlainFingerprint(join(folder, entry.path)) === fingerprints.get(entry.path)) continue
      // The uploaded content may be newer than the hash.
      entry.documentSha = undefined
      postpone(result, entry.path, SETTLE_MS)
    }
    onProgress()
  }

  /** Excludes entries that the space already has; failed ones are sent again. */
  async #selectMissing(client: Client, entries: LedgerEntry[]): Promise<LedgerEntry[]> {
    const documents = await checkDocuments(client, this.#options.spaceId, entries)
    return entries.filter((entry, index) => {
      const document = documents[index]
      if (document?.documentId === undefined || document.status !== 'unchanged') return true
      entry.documentSha = entry.sha256
      entry.documentIds = [document.documentId]
      return false
    })
  }

  #upload(client: Client, batch: FileToSend[]): Promise<FileUploadResult[]> {
    const { spaceId, signal } = this.#options
    return sendBatch(batch, { client, spaceId, sourceId: undefined, signal, onBytes: () => undefined })
  }

  #recordUpload(entry: LedgerEntry, fingerprint: string, result: FileUploadResult): void {
    const { filename } = entry
    if ('failed' in result) {
      this.#failed.add(entry, result.failed, fingerprint)
      this.#options.onChange({ filename, status: 'failed', reason: result.failed })
      return
    }
    this.#failed.delete(entry.path)
    const status = entry.documentIds.length === 0 ? 'added' : 'changed'
    entry.documentSha = entry.sha256
    entry.documentIds = [...new Set([result.documentId, ...entry.documentIds])]
    const { documentId } = result
    const job = 'jobId' in result ? omitUndefined({ jobId: result.jobId, bulkJobId: result.bulkJobId }) : {}
    this.#options.onChange({ filename, status, documentId, ...job })
  }

  #recordFailure(file: ScannedFile, reason: string): void {
    this.#failed.add(file, reason, file.plainFingerprint)
    this.#options.onChange({ filename: file.filename, status: 'failed', reason })
  }

  /** Entries below the paths without a file, missing for long enough. */
  #findMissing({ files, unread }: FolderScan, paths: ReadonlySet<string>, result: FolderSyncResult): LedgerEntry[] {
    const candidates = paths.has('') ? [...this.#entries.values()] : this.#listEntriesBelow(paths, files)
    const missing: LedgerEntry[] = []
    for (const entry of candidates) {
      if (files.has(entry.path) || isUnder(entry.path, unread)) continue
      const delayMs = this.#debouncer.getMissingDelay(entry.path, Date.now())
      if (delayMs === 0) missing.push(entry)
      else postpone(result, entry.path, delayMs)
    }
    return missing
  }

  #listEntriesBelow(paths: ReadonlySet<string>, files: ReadonlyMap<string, ScannedFile>): LedgerEntry[] {
    const exact = [...paths].flatMap((path) => this.#entries.get(path) ?? [])
    if ([...paths].every((path) => files.has(path) || this.#entries.has(path))) return exact
    return [...this.#entries.values()].filter(
      ({ path }) => paths.has(path) || listAncestors(path).some((ancestor) => paths.has(ancestor)),
    )
  }

  async #remove(client: Client, missing: readonly LedgerEntry[], result: FolderSyncResult): Promise<void> {
    const { folder, onDelete, ledger, onChange, spaceId } = this.#options
    if (missing.length === 0 || onDelete === 'keep') return
    const confirmed = missing.filter((entry) => this.#isConfirmedDeleted(entry, result))
    getFolderIdentity(folder) // Throws if the folder was removed meanwhile.
    for (const chunk of splitIntoChunks(confirmed, LIMITS.localFiles)) {
      const documentIds = chunk.flatMap((entry) => entry.documentIds)
      for (const ids of splitIntoChunks(documentIds, LIMITS.documentIds))
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

  #isConfirmedDeleted(entry: LedgerEntry, result: FolderSyncResult): boolean {
    const content = inspectMissingPath(this.#options.folder, entry.path)
    if (content === 'unknown') postpone(result, entry.path, UNREAD_RETRY_MS)
    if (content !== 'nothing') return content === 'excluded'
    const isDoubtful = this.#isSuspect || this.#isOnOtherDisk(entry)
    if (!isDoubtful || Date.now() < this.#acceptedUntil) return true
    this.#withheld.add(entry.path)
    return false
  }

  /** Whether the path of a missing file is now on another file system. */
  #isOnOtherDisk({ path, device }: LedgerEntry): boolean {
    const currentDevice = findDeviceAbove(this.#options.folder, path)
    return device !== '' && currentDevice !== device && this.#deviceAliases.get(device)?.has(currentDevice) !== true
  }
}

function postpone(result: FolderSyncResult, path: string, ms: number): void {
  result.retryAfterMs = result.retryPaths.length === 0 ? ms : Math.min(result.retryAfterMs, ms)
  result.retryPaths.push(path)
}

function isUnder(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === '' || path === folder || path.startsWith(`${folder}/`))
}
