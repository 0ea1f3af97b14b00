import type { Client } from '../../client/client.js'
import { defined } from '../../lib/defined.js'
import { type Awaited, followJobs, type Outcome } from '../ingest/follow.js'
import type { Change } from './sync.js'

/** Tells what became of uploads, a few requests at a time however many there are. */
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
        .catch(() => undefined) // a service that does not answer is told of by the watch itself
        .finally(() => {
          this.#isRunning = false
        })
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const changes = this.#waiting
      this.#waiting = []
      const awaited = changes.flatMap(({ documentId, jobId, bulkJobId }, index): Awaited[] => {
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
