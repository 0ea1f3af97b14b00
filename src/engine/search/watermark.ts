import { open, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ANALYZER_VERSION } from '../../lib/text/analyze.js'
import { syncPath } from '../../local/file-system.js'
import { hasErrorCode } from '../../local/private-file.js'

/** Increased when fields or layout of a text index change; the analyser's version changes the terms as well. */
const LAYOUT_VERSION = 1
const WATERMARK_FORMAT = `${LAYOUT_VERSION}.${ANALYZER_VERSION}`
const WATERMARK_FILE = 'watermark.json'

/** A checksum that is valid for this space's directory only: the index of another space is useless here. */
function computeCheck(dir: string, seq: number): number {
  return crc32(`${WATERMARK_FORMAT} ${basename(dirname(dir))} ${seq}`)
}

/**
 * Reads the watermark of a text index's directory; `undefined` where the file is missing, or (logged) not trustworthy.
 */
export async function readWatermark(dir: string, log: (message: string) => void): Promise<number | undefined> {
  const path = join(dir, WATERMARK_FILE)
  try {
    const found: { format?: unknown; seq?: unknown; check?: unknown } = JSON.parse(await readFile(path, 'utf8'))
    const { format, seq, check } = found
    if (format === WATERMARK_FORMAT && typeof seq === 'number' && check === computeCheck(dir, seq)) return seq
    log(`${path} does not belong to this index, which is refilled`)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) log(`${path} cannot be read, its index is refilled: ${String(error)}`)
  }
  return undefined
}

/** The watermark is written and synced once per this time for several commits: a restart replays slightly more. */
export const WATERMARK_LAG_MS = 2_000

/** Writes watermarks some time after the commits that they describe; no caller waits for it. */
export class LaggedWatermark {
  readonly #lagMs: number
  readonly #store: (seq: number) => Promise<void> | void
  readonly #onError: (error: unknown) => void
  #pending: { seq: number; due: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: {
    lagMs: number
    store: (seq: number) => Promise<void> | void
    onError: (error: unknown) => void
  }) {
    this.#lagMs = options.lagMs
    this.#store = options.store
    this.#onError = options.onError
  }

  /** Records a watermark whose content is committed. */
  note(seq: number): void {
    this.#pending.push({ seq, due: performance.now() + this.#lagMs })
    if (this.#lagMs === 0) this.#storeDue()
    else this.#startTimer()
  }

  /** Stops; watermarks that are not due yet are not written. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#pending = []
    await this.#running
  }

  #startTimer(): void {
    const [first] = this.#pending
    if (this.#timer !== undefined || first === undefined) return
    // a timer may fire up to 1 ms early
    const wait = Math.max(0, Math.ceil(first.due - performance.now()) + 1)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#storeDue()
      this.#startTimer()
    }, wait)
    this.#timer.unref()
  }

  #storeDue(): void {
    const now = performance.now()
    const due = this.#pending.filter((entry) => entry.due <= now)
    if (due.length === 0) return
    this.#pending = this.#pending.filter((entry) => entry.due > now)
    const seq = Math.max(...due.map((entry) => entry.seq))
    // a watermark that was not written only causes a longer replay
    this.#running = this.#running.then(() => this.#store(seq)).catch(this.#onError)
  }
}

/** Replaces the watermark file atomically: temporary file, sync, rename, sync of the directory. */
export async function writeWatermark(dir: string, seq: number): Promise<void> {
  const path = join(dir, WATERMARK_FILE)
  const temporary = `${path}.tmp`
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile(JSON.stringify({ format: WATERMARK_FORMAT, seq, check: computeCheck(dir, seq) }))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
  await syncPath(dirname(path))
}
