import { open, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ANALYZER_VERSION } from '../../lib/text/analyze.js'
import { syncPath } from '../../local/file-system.js'
import { isCode } from '../../local/private-file.js'

/** Raised when fields or layout of a text index change; with another analyser the terms differ as well. */
const LAYOUT_VERSION = 1
const FORMAT = `${LAYOUT_VERSION}.${ANALYZER_VERSION}`
const FILE = 'watermark.json'

/** A checksum that holds for this space's folder only: the index of another one says nothing of this one. */
function checkOf(dir: string, seq: number): number {
  return crc32(`${FORMAT} ${basename(dirname(dir))} ${seq}`)
}

/**
 * What a text index's directory says of itself; `undefined` when it says nothing, or, which is logged, nothing that can
 * be trusted.
 */
export async function readWatermark(dir: string, log: (message: string) => void): Promise<number | undefined> {
  const path = join(dir, FILE)
  try {
    const found: { format?: unknown; seq?: unknown; check?: unknown } = JSON.parse(await readFile(path, 'utf8'))
    const { format, seq, check } = found
    if (format === FORMAT && typeof seq === 'number' && check === checkOf(dir, seq)) return seq
    log(`${path} is not of this index, which is filled anew`)
  } catch (error) {
    if (!isCode(error, 'ENOENT')) log(`${path} cannot be read, its index is filled anew: ${String(error)}`)
  }
  return undefined
}

/** A watermark is written, and synced, for the commits of so long together: a restart replays a little more. */
export const WATERMARK_LAG_MS = 2_000

/** Writes watermarks some time behind the commits they describe, without making anybody wait. */
export class LaggedWatermark {
  readonly #lagMs: number
  readonly #store: (seq: number) => Promise<void> | void
  readonly #failed: (error: unknown) => void
  #waiting: { seq: number; due: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: {
    lagMs: number
    store: (seq: number) => Promise<void> | void
    failed: (error: unknown) => void
  }) {
    this.#lagMs = options.lagMs
    this.#store = options.store
    this.#failed = options.failed
  }

  /** Notes a watermark whose content is committed. */
  note(seq: number): void {
    this.#waiting.push({ seq, due: performance.now() + this.#lagMs })
    if (this.#lagMs === 0) this.#storeDue()
    else this.#arm()
  }

  /** Stops; what is not due yet is not written. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#waiting = []
    await this.#running
  }

  #arm(): void {
    const [first] = this.#waiting
    if (this.#timer !== undefined || first === undefined) return
    // A timer may fire up to a millisecond before its time.
    const wait = Math.max(0, Math.ceil(first.due - performance.now()) + 1)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#storeDue()
      this.#arm()
    }, wait)
    this.#timer.unref()
  }

  #storeDue(): void {
    const now = performance.now()
    const due = this.#waiting.filter((entry) => entry.due <= now)
    if (due.length === 0) return
    this.#waiting = this.#waiting.filter((entry) => entry.due > now)
    const seq = Math.max(...due.map((entry) => entry.seq))
    // One that could not be written is only behind.
    this.#running = this.#running.then(() => this.#store(seq)).catch(this.#failed)
  }
}

/** Replaces the watermark file whole: temporary file, sync, rename, sync of the directory. */
export async function writeWatermark(dir: string, seq: number): Promise<void> {
  const path = join(dir, FILE)
  const temporary = `${path}.tmp`
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile(JSON.stringify({ format: FORMAT, seq, check: checkOf(dir, seq) }))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
  await syncPath(dirname(path))
}
