import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../lib/entry.js'

/** Result for one object: nothing where it is missing, its size and hash, or why it cannot be read. */
export type ObjectMeasureResult = { size: number; sha256: string; modifiedAt: number } | { error: string } | undefined

/** Objects to measure, as sent to the thread. */
export interface MeasureRequest {
  id: number
  /** real path that must contain them */
  realRoot: string
  paths: string[]
}

export interface MeasureReply {
  id: number
  measured: ObjectMeasureResult[]
}

/** An idle thread ends after this. */
const IDLE_MS = 5_000

interface PendingMeasure {
  resolve: (measured: ObjectMeasureResult[]) => void
  reject: (error: unknown) => void
}

/**
 * Measures many objects in a thread, where opening, reading and hashing one takes a sixth of its time in the event
 * loop.
 */
export class ObjectThread {
  #worker: Worker | undefined
  #lastId = 0
  #idleTimer: NodeJS.Timeout | undefined
  readonly #pending = new Map<number, PendingMeasure>()

  /** Measures the objects at these paths, in their order. @throws Error when the thread ended before it replied */
  measure(realRoot: string, paths: string[]): Promise<ObjectMeasureResult[]> {
    clearTimeout(this.#idleTimer)
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      // keeps the process alive only while a caller waits
      worker.ref()
      worker.postMessage({ id, realRoot, paths } satisfies MeasureRequest)
    })
  }

  #start(): Worker {
    const worker = new Worker(resolveEntryUrl(import.meta.url, './object-thread.worker.js'), {
      name: 'objects',
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
    })
    worker.on('message', ({ id, measured }: MeasureReply) => {
      this.#pending.get(id)?.resolve(measured)
      this.#pending.delete(id)
      if (this.#pending.size > 0) return
      worker.unref()
      this.#idleTimer = setTimeout(() => this.#end(worker), IDLE_MS).unref()
    })
    worker.on('error', (cause) => this.#handleExit(worker, cause))
    worker.on('exit', () => this.#handleExit(worker, undefined))
    return worker
  }

  #end(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
    worker.terminate().catch(() => {})
  }

  /** Rejects all pending requests; the next call starts another thread. */
  #handleExit(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const error = new Error('the thread that reads objects ended before it replied', { cause })
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}
