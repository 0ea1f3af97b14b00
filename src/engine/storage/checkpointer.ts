import { Worker } from 'node:worker_threads'
import { entryUrl } from '../../lib/entry.js'
import { JOURNAL_SIZE_LIMIT } from './pragmas.js'

const INTERVAL_MILLISECONDS = 200
/** while something reads what the log would overwrite, which may take minutes */
const HELD_MILLISECONDS = 1000

/** What the thread found and left. */
export interface LogState {
  /** size of the file before it was shortened */
  bytes: number
  /** somebody reads what is in the log, or what it would overwrite: not all of it could be moved */
  isHeld: boolean
}

/** Keeps the write-ahead log short from another thread, after writes and for as long as it is held. */
export class Checkpointer {
  readonly #path: string
  #tellAt = JOURNAL_SIZE_LIMIT
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #running = false
  #closed = false

  /** Is told the size of a log that is held, when it is long and each time it has doubled. */
  onHeldLog: (bytes: number) => void = () => undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Called after every commit: the log has grown. */
  wrote(): void {
    this.#runAfter(INTERVAL_MILLISECONDS)
  }

  /** Ends the thread. @returns once it has let go of the files */
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

  #found({ bytes, isHeld }: LogState): void {
    if (!isHeld) {
      this.#tellAt = JOURNAL_SIZE_LIMIT
      return
    }
    this.#runAfter(HELD_MILLISECONDS)
    if (bytes <= this.#tellAt) return
    this.#tellAt = bytes * 2
    this.onHeldLog(bytes)
  }

  #checkpoint(): void {
    if (this.#running || this.#closed) return
    this.#worker ??= this.#start()
    this.#running = true
    this.#worker.postMessage('checkpoint')
  }

  #start(): Worker {
    const worker = new Worker(entryUrl(import.meta.url, './checkpoint.worker.js'), {
      name: 'checkpoint',
      workerData: this.#path,
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    })
    worker.on('message', (state: LogState | undefined) => {
      this.#running = false
      if (state !== undefined) this.#found(state)
    })
    worker.on('error', () => {}) // its end is what counts
    // Without the thread the main connection checkpoints by itself once the log is long.
    worker.once('exit', () => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#running = false
    })
    worker.unref()
    return worker
  }
}
