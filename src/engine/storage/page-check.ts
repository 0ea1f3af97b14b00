import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { entryUrl } from '../../lib/entry.js'

/** What a check found holds for so many times as long as it took: the spaces of one store are checked in a row. */
const HOLDS_TIMES = 10

/** Checks the pages of a database file, once for all who ask meanwhile. */
export class PageCheck {
  readonly #path: string
  #last: Promise<string[]> | undefined
  #holdsUntil = 0

  constructor(path: string) {
    this.#path = path
  }

  /** @returns what is wrong, a sentence each, some of it where there is much */
  run(): Promise<string[]> {
    if (this.#last === undefined || performance.now() > this.#holdsUntil) {
      const started = performance.now()
      this.#holdsUntil = Number.POSITIVE_INFINITY
      this.#last = checkPages(this.#path).finally(() => {
        const ended = performance.now()
        this.#holdsUntil = ended + (ended - started) * HOLDS_TIMES
      })
    }
    return this.#last
  }
}

/** In a thread of its own: every page is read. */
async function checkPages(path: string): Promise<string[]> {
  const worker = new Worker(entryUrl(import.meta.url, './page-check.worker.js'), {
    name: 'page-check',
    workerData: path,
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
  })
  worker.unref()
  const [problems] = await once(worker, 'message')
  return Array.isArray(problems) ? problems.map(String) : []
}
