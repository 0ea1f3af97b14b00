import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../lib/entry.js'

/** A result stays valid for this multiple of the check's duration: the spaces of one store are checked in a row. */
const VALID_FOR_DURATIONS = 10

/** Checks the pages of a database file, once for all concurrent callers. */
export class PageCheck {
  readonly #path: string
  #last: Promise<string[]> | undefined
  #validUntil = 0

  constructor(path: string) {
    this.#path = path
  }

  /** @returns the problems, a sentence each; only the first ones where there are many */
  run(): Promise<string[]> {
    if (this.#last === undefined || performance.now() > this.#validUntil) {
      const started = performance.now()
      this.#validUntil = Number.POSITIVE_INFINITY
      this.#last = checkPages(this.#path).finally(() => {
        const ended = performance.now()
        this.#validUntil = ended + (ended - started) * VALID_FOR_DURATIONS
      })
    }
    return this.#last
  }
}

/** Runs in a thread, since it reads every page. */
async function checkPages(path: string): Promise<string[]> {
  const worker = new Worker(resolveEntryUrl(import.meta.url, './page-check.worker.js'), {
    name: 'page-check',
    workerData: path,
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
  })
  worker.unref()
  const [problems] = await once(worker, 'message')
  return Array.isArray(problems) ? problems.map(String) : []
}
