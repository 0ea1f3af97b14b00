import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../lib/entry.js'
import { JOURNAL_SIZE_LIMIT } from './pragmas.js'

const INTERVAL_MILLISECONDS = 200
/** interval while a reader blocks the log, which may take minutes */
const BLOCKED_INTERVAL_MILLISECONDS = 1000

/** State of the write-ahead log after a checkpoint. */
export interface WalState {
  /** size of the file before it was truncated */
  bytes: number
  /** a reader still needs frames of the log, or pages that they would overwrite: not all of it could be moved */
  isBlocked: boolean
}

/**
 * Keeps the write-ahead log short from another thread: checkpoints after writes, and again while readers block the log.
 */
export class Checkpointer {
  readonly #path: string
  #reportAboveBytes = JOURNAL_SIZE_LIMIT
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #running = false
  #closed = false

  /** Called with the size of a log that readers block, when it is long and each time it has doubled. */
  onBlockedLog: (bytes: number) => void = () => undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Schedules a checkpoint; to be called after every commit. */
  scheduleAfterWrite(): void {
    this.#runAfter(INTERVAL_MILLISECONDS)
  }

  /** Ends the thread. @returns once it has closed its files */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    await new Promise<void>((resolve) => {
      worker.once('exit', () => resolve())
      worker.ref()
      worker.postMessage('close')
    })
  }

  #runAfter(milliseconds: number): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#checkpoint()
    }, milliseconds)
    this.#timer.unref()
  }

  #handleState({ bytes, isBlocked }: WalState): void {
    if (!isBlocked) {
      this.#reportAboveBytes = JOURNAL_SIZE_LIMIT
      return
    }
    this.#runAfter(BLOCKED_INTERVAL_MILLISECONDS)
    if (bytes <= this.#reportAboveBytes) return
    this.#reportAboveBytes = bytes * 2
    this.onBlockedLog(bytes)
  }

  #checkpoint(): void {
    if (this.#running || this.#closed) return
    this.#worker ??= this.#start()
    this.#running = true
    this.#worker.postMessage('checkpoint')
  }

  #start(): Worker {
    const worker = new Worker(resolveEntryUrl(import.meta.url, './checkpoint.worker.js'), {
      name: 'checkpoint',
      workerData: this.#path,
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    })
    worker.on('message', (state: WalState | undefined) => {
      this.#running = false
      if (state !== undefined) this.#handleState(state)
    })
    worker.on('error', () => {}) // the exit event handles it
    // Without the thread the main connection checkpoints on its own once the log is long.
    worker.once('exit', () => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#running = false
    })
    worker.unref()
    return worker
  }
}
