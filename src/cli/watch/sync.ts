import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { hashFile } from '../ingest/hash-cache.js'
import type { FileToSend } from '../ingest/known-files.js'
import { batches, type Sent, sendBatch } from '../ingest/upload.js'
import { type PassedFile, readFailure, type WalkOptions } from '../ingest/walk.js'
import { overLimit, uploadLimit } from '../upload-limit.js'
import { chunks, type Entry, type Ledger } from './ledger.js'
import { deviceAbove, folderIdentity, type Looked, look, type Present, printOf, whatIsAt } from './look.js'
import { SETTLE_MS, Settling } from './settling.js'

/** What became of one file. */
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
  /** called while there is much to do */
  onProgress: () => void
}

export interface Pass {
  /** paths to look at again, and after how many milliseconds */
  again: string[]
  afterMs: number
  skipped: PassedFile[]
}

const UPLOADS_AT_ONCE = 4
/** what could not be read is tried again after this */
const UNREAD_MS = 2000
/** a word that missing files may go holds for the looks that follow it */
const ACCEPTED_MS = 30_000
/** files that are hashed, claimed and sent before the next are read */
const CHUNK = 256
/** From so many files on it pays to ask what the space holds before sending. */
const ASK_FROM = 16

/** Brings a space to what a folder holds. One call of `bring` at a time. */
export class FolderSync {
  readonly #options: SyncOptions
  readonly #settling = new Settling()
  /** how files looked that could not be ingested */
  readonly #failed = new Map<string, string>()
  /** other numbers under which devices were seen again after a restart of the machine */
  readonly #renumbered = new Map<string, Set<string>>()
  #entries = new Map<string, Entry>()
  /** device and inode of the folder that was last trusted */
  #identity: string | undefined
  /** the same of the last look at everything */
  #lookedAt: string | undefined
  /** an empty folder stands in the place of the watched one */
  #isStrange = false
  /** files that are missing, and are not taken as deleted */
  readonly #withheld = new Set<string>()
  #acceptedUntil = 0
  #lookMs = 0

  constructor(options: SyncOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** Asks again what is claimed and what the space holds of it. */
  async reload(client: Client): Promise<void> {
    const entries = await this.#options.ledger.load(client)
    this.#entries = new Map(entries.map((entry) => [entry.path, entry]))
    this.#failed.clear()
    this.#withheld.clear()
  }

  /** Files known below some folders, `` for all. */
  sizeBelow(folders: readonly string[]): number {
    if (folders.includes('')) return this.size
    return [...this.#entries.keys()].filter((path) => isUnder(path, folders)).length
  }

  /** How long the last look at everything took, milliseconds. */
  get lookMs(): number {
    return this.#lookMs
  }

  get withheld(): number {
    return this.#withheld.size
  }

  /** What is missing now may be taken as deleted, whatever disk is there. */
  accept(): void {
    this.#acceptedUntil = Date.now() + ACCEPTED_MS
  }

  /** Whether the folder is another one than it was. @throws FolderMissing */
  isReplaced(): boolean {
    const identity = folderIdentity(this.#options.folder)
    return this.#lookedAt !== undefined && identity !== this.#lookedAt
  }

  /**
   * Compares paths (`` for the folder) with what is known, uploads what is new, removes what is gone.
   *
   * @throws FolderMissing; ApiError, ConnectionError, after which `reload` is due
   */
  async bring(client: Client, paths: ReadonlySet<string>): Promise<Pass> {
    const { folder, walk, onFolder, signal } = this.#options
    const identity = folderIdentity(folder)
    const began = performance.now()
    const looked = look(paths.has('') ? [''] : paths, { folder, walk, onFolder })
    if (paths.has('')) this.#lookMs = performance.now() - began
    const pass: Pass = { again: [], afterMs: 0, skipped: looked.skipped }
    for (const path of looked.unread) postpone(pass, path, UNREAD_MS)
    if (paths.has('')) this.#judgeFolder(identity, looked)
    const { fresh, moved } = this.#compare(looked, pass)
    if (fresh.length === 0 && looked.files.size > 0 && pass.again.length > 0)
      await this.#options.ledger.announce(client)
    await this.#refresh(client, moved)
    for (const chunk of chunks(fresh, CHUNK)) {
      signal.throwIfAborted()
      await this.#send(client, chunk, pass)
    }
    await this.#remove(client, this.#missing(looked, paths, pass), pass)
    return pass
  }

  /** An empty folder that was not seen before is not trusted to have lost its files: it may be a mount point. */
  #judgeFolder(identity: string, { files }: Looked): void {
    this.#lookedAt = identity
    this.#isStrange = identity !== this.#identity && this.#entries.size > 0 && files.size === 0
    if (!this.#isStrange) this.#identity = identity
  }

  /** @returns files to read, and entries whose file is unchanged but looks different */
  #compare({ files }: Looked, pass: Pass): { fresh: Present[]; moved: Entry[] } {
    const fresh: Present[] = []
    const moved: Entry[] = []
    for (const file of files.values()) {
      const entry = this.#entries.get(file.path)
      const isHeld = entry !== undefined && entry.documentSha === entry.sha256
      this.#withheld.delete(file.path)
      if (isHeld && entry.fingerprint !== '' && entry.fingerprint === file.print) {
        this.#settling.forget(file.path)
        if (entry.device !== file.device) {
          this.#noteRenumbered(entry.device, file.device)
          moved.push({ ...entry, device: file.device })
        }
        continue
      }
      if (this.#failed.get(file.path) === file.print) continue
      const wait = this.#settling.present(file.path, file.print, file.changedAt, Date.now())
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

  /** Hashes, claims and uploads files whose bytes the space may not hold. */
  async #send(client: Client, files: readonly Present[], pass: Pass): Promise<void> {
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
    const wanted = unheld.length < ASK_FROM ? unheld : await this.#ask(client, unheld)
    const prints = new Map(files.map(({ path, print }) => [path, print]))
    // all were found by one look
    const root = files[0]?.root === undefined ? {} : { root: files[0].root }
    const toSend = wanted.map(
      ({ path, filename, size }, index): FileToSend => ({ path: join(folder, path), filename, size, index, ...root }),
    )
    const limit = pLimit(UPLOADS_AT_ONCE)
    const sent = await Promise.all(batches(toSend).map((batch) => limit(() => this.#upload(client, batch))))
    for (const result of sent.flat()) {
      const entry = wanted[result.file.index]
      if (entry === undefined) continue
      this.#took(entry, prints.get(entry.path) ?? '', result)
      if (printOf(join(folder, entry.path)) === prints.get(entry.path)) continue
      // what was sent may be newer than what was hashed
      entry.documentSha = undefined
      postpone(pass, entry.path, SETTLE_MS)
    }
    onProgress()
  }

  /** Leaves out what the space holds already; what failed there is sent again. */
  async #ask(client: Client, entries: Entry[]): Promise<Entry[]> {
    const items = entries.map(({ filename, sha256 }) => ({ filename, sha256 }))
    const { spaceId } = this.#options
    const answer = await client.request('POST /knowledge-spaces/{id}/documents/check', {
      path: { id: spaceId },
      body: { items },
    })
    return entries.filter((entry, index) => {
      const held = answer.items[index]
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

  #took(entry: Entry, print: string, result: Sent): void {
    const { filename } = entry
    if ('failed' in result) {
      this.#failed.set(entry.path, print)
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

  #fail({ path, filename, print }: Present, reason: string): void {
    this.#failed.set(path, print)
    this.#options.onChange({ filename, status: 'failed', reason })
  }

  /** Entries below the paths that no file was found for, and that have been missing for long enough. */
  #missing({ files, unread }: Looked, paths: ReadonlySet<string>, pass: Pass): Entry[] {
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

  #below(paths: ReadonlySet<string>, files: ReadonlyMap<string, Present>): Entry[] {
    const own = [...paths].flatMap((path) => this.#entries.get(path) ?? [])
    const areFiles = [...paths].every((path) => files.has(path) || this.#entries.has(path))
    if (areFiles) return own
    return [...this.#entries.values()].filter(
      ({ path }) => paths.has(path) || ancestors(path).some((one) => paths.has(one)),
    )
  }

  async #remove(client: Client, gone: readonly Entry[], pass: Pass): Promise<void> {
    const { folder, onDelete, ledger, onChange, spaceId } = this.#options
    if (gone.length === 0 || onDelete === 'keep') return
    const sure = gone.filter((entry) => this.#isSurelyGone(entry, pass))
    folderIdentity(folder) // may be gone since
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

  #isSurelyGone(entry: Entry, pass: Pass): boolean {
    const what = whatIsAt(this.#options.folder, entry.path)
    if (what === 'unknown') postpone(pass, entry.path, UNREAD_MS)
    if (what !== 'nothing') return what === 'left-out'
    const isDoubtful = this.#isStrange || this.#isOnOtherDisk(entry)
    if (!isDoubtful || Date.now() < this.#acceptedUntil) return true
    this.#withheld.add(entry.path)
    return false
  }

  /** Whether the place of a missing file belongs to another file system than the file did. */
  #isOnOtherDisk({ path, device }: Entry): boolean {
    const now = deviceAbove(this.#options.folder, path)
    return device !== '' && now !== device && this.#renumbered.get(device)?.has(now) !== true
  }
}

function postpone(pass: Pass, path: string, ms: number): void {
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
