import { Worker } from 'node:worker_threads'
import { entryUrl } from '../../lib/entry.js'

const INTERVAL_MILLISECONDS = 200

/** Keeps the write-ahead log short from another thread, while there are writes. */
export class Checkpointer {
  readonly #path: string
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #running = false
  #closed = false

  constructor(path: string) {
    this.#path = path
  }

  /** Called after every commit: the log has grown. */
  wrote(): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#checkpoint()
    }, INTERVAL_MILLISECONDS)
    this.#timer.unref()
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
    worker.on('message', () => {
      this.#running = false
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
