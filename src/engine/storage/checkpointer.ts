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

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#worker?.postMessage('close')
    this.#worker = undefined
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
    // Without the thread the main connection checkpoints by itself once the log is long.
    worker.on('error', () => {
      this.#worker = undefined
      this.#running = false
    })
    worker.unref()
    return worker
  }
}
