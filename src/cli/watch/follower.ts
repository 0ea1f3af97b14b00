import type { Client } from '../../client/client.js'
import { defined } from '../../lib/defined.js'
import { followJobs, type Outcome, type PendingDocument } from '../ingest/follow.js'
import type { Change } from './sync.js'

/** Reports the outcomes of uploads, with few requests at a time. */
export class Follower {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #tell: (change: Change, outcome: Outcome) => void
  #waiting: Change[] = []
  #isRunning = false

  constructor(client: Client, signal: AbortSignal, tell: (change: Change, outcome: Outcome) => void) {
    this.#client = client
    this.#signal = signal
    this.#tell = tell
  }

  add(change: Change): void {
    this.#waiting.push(change)
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(() => {
      this.#run()
        .catch(() => undefined) // The watch itself reports a service that does not respond.
        .finally(() => {
          this.#isRunning = false
        })
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const changes = this.#waiting
      this.#waiting = []
      const awaited = changes.flatMap(({ documentId, jobId, bulkJobId }, index): PendingDocument[] => {
        if (documentId === undefined || jobId === undefined) return []
        return [{ index, documentId, jobId, ...defined({ bulkJobId }) }]
      })
      await followJobs(awaited, {
        client: this.#client,
        signal: this.#signal,
        onProgress: () => undefined,
        onEnded: (index, outcome) => {
          const change = changes[index]
          if (change !== undefined) this.#tell(change, outcome)
        },
      })
    }
  }
}
