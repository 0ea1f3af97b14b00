import { Worker } from 'node:worker_threads'
import { entryUrl } from '../../lib/entry.js'

/** What is found where an object should be: nothing, what its bytes are, or why they cannot be read. */
export type Measured = { size: number; sha256: string; modifiedAt: number } | { error: string } | undefined

/** Objects to be measured, as the thread is told. */
export interface MeasureRequest {
  id: number
  /** what they must lie in */
  realRoot: string
  paths: string[]
}

export interface MeasureReply {
  id: number
  measured: Measured[]
}

/** A thread that nobody asks ends after this. */
const REST_MS = 5_000

interface Waiting {
  resolve: (measured: Measured[]) => void
  reject: (error: unknown) => void
}

/** Reads many objects again in a thread, where opening, reading and hashing one takes a sixth of its time in the event loop. */
export class ObjectThread {
  #worker: Worker | undefined
  #lastId = 0
  #rest: NodeJS.Timeout | undefined
  readonly #waiting = new Map<number, Waiting>()

  /** What is found at some paths, in their order. @throws Error when the thread ended before it answered */
  measure(realRoot: string, paths: string[]): Promise<Measured[]> {
    clearTimeout(this.#rest)
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      // keeps the process alive while somebody waits, and only then
      worker.ref()
      worker.postMessage({ id, realRoot, paths } satisfies MeasureRequest)
    })
  }

  #start(): Worker {
    const worker = new Worker(entryUrl(import.meta.url, './object-thread.worker.js'), {
      name: 'objects',
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
    })
    worker.on('message', ({ id, measured }: MeasureReply) => {
      this.#waiting.get(id)?.resolve(measured)
      this.#waiting.delete(id)
      if (this.#waiting.size > 0) return
      worker.unref()
      this.#rest = setTimeout(() => this.#end(worker), REST_MS).unref()
    })
    worker.on('error', (cause) => this.#stopped(worker, cause))
    worker.on('exit', () => this.#stopped(worker, undefined))
    return worker
  }

  #end(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
    worker.terminate().catch(() => {})
  }

  /** Those who wait are told, and the next call starts another. */
  #stopped(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const error = new Error('the thread that reads objects ended before it answered', { cause })
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
