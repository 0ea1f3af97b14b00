import { open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ANALYZER_VERSION } from '../../lib/text/analyze.js'
import { syncPath } from './graph-files.js'

/** Raised when fields or layout of a text index change; with another analyser the terms differ as well. */
const LAYOUT_VERSION = 1
const FORMAT = `${LAYOUT_VERSION}.${ANALYZER_VERSION}`
const FILE = 'watermark.json'

/** What a text index's directory says of itself; `undefined` when it says nothing that can be trusted. */
export async function readWatermark(dir: string): Promise<number | undefined> {
  try {
    const found: { format?: unknown; seq?: unknown; check?: unknown } = JSON.parse(
      await readFile(join(dir, FILE), 'utf8'),
    )
    const { format, seq, check } = found
    if (format !== FORMAT || typeof seq !== 'number' || check !== crc32(`${FORMAT} ${seq}`)) return undefined
    return seq
  } catch {
    return undefined
  }
}

/** Writes watermarks behind the commits they describe, the newest only, without making anybody wait. */
export class WatermarkWriter {
  readonly #dir: string
  #wanted: number | undefined
  #running: Promise<void> | undefined
  readonly #failed: (error: unknown) => void

  constructor(dir: string, failed: (error: unknown) => void) {
    this.#dir = dir
    this.#failed = failed
  }

  /** Notes a watermark whose content is committed. */
  write(seq: number): void {
    this.#wanted = seq
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when the newest watermark is on disk. */
  async flush(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#wanted !== undefined) {
      const seq = this.#wanted
      this.#wanted = undefined
      // One that could not be written is only behind: the replay after the next start is longer.
      await writeWatermark(this.#dir, seq).catch(this.#failed)
    }
  }
}

/** Replaces the watermark file whole: temporary file, sync, rename, sync of the directory. */
export async function writeWatermark(dir: string, seq: number): Promise<void> {
  const path = join(dir, FILE)
  const temporary = `${path}.tmp`
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile(JSON.stringify({ format: FORMAT, seq, check: crc32(`${FORMAT} ${seq}`) }))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
  await syncPath(dirname(path))
}
