import type { Client } from '../../client/client.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { type CompilationOutcome, followJobs, type PendingDocument } from '../ingest/follow.js'
import type { FileChange } from './sync.js'

/** Reports the outcomes of uploads, with few requests at a time. */
export class UploadFollower {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #onOutcome: (change: FileChange, outcome: CompilationOutcome) => void
  #queue: FileChange[] = []
  #isRunning = false

  constructor(
    client: Client,
    signal: AbortSignal,
    onOutcome: (change: FileChange, outcome: CompilationOutcome) => void,
  ) {
    this.#client = client
    this.#signal = signal
    this.#onOutcome = onOutcome
  }

  add(change: FileChange): void {
    this.#queue.push(change)
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
    while (this.#queue.length > 0) {
      const changes = this.#queue
      this.#queue = []
      const awaited = changes.flatMap(({ documentId, jobId, bulkJobId }, index): PendingDocument[] => {
        if (documentId === undefined || jobId === undefined) return []
        return [{ index, documentId, jobId, ...omitUndefined({ bulkJobId }) }]
      })
      await followJobs(awaited, {
        client: this.#client,
        signal: this.#signal,
        onProgress: () => undefined,
        onEnded: (index, outcome) => {
          const change = changes[index]
          if (change !== undefined) this.#onOutcome(change, outcome)
        },
      })
    }
  }
}
