import type { KsError } from '../../contract/errors.js'
import { IndexProcessGoneError } from './index-process.js'
import { type FreshBatch, IndexProcessFailedError } from './ports.js'

/**
 * Maximal number of nodes of one commit, as far as batches can be separated: changes of other spaces wait for it. Up to
 * some 2,000 nodes, the time of a commit does not depend on their number.
 */
const MAX_GROUP_NODES = 2_000
/** Faults of the process under one group before its callers get the error; kills from outside do not count. */
const MAX_FAULTS = 3
/** Retry limit of a group. The source still has its changes, and the next start replays them. */
const MAX_RETRY_MS = 60_000

/** A request to apply the log up to an entry. */
export interface FollowRequest {
  seq: number
  fresh?: FreshBatch
}

interface PendingFollow {
  /** a request, or an action that runs while nothing is applied */
  work: FollowRequest | (() => Promise<void>)
  resolve: () => void
  reject: (error: unknown) => void
}

/** Pending requests for the log of one space. Requests that wait together are committed together. */
export class FollowQueue {
  readonly #commit: (requests: FollowRequest[]) => Promise<void>
  #pending: PendingFollow[] = []
  #running: Promise<void> | undefined

  /** @param commit resolves when all requested entries are visible to searches */
  constructor(commit: (requests: FollowRequest[]) => Promise<void>) {
    this.#commit = commit
  }

  push(request: FollowRequest): Promise<void> {
    return this.#enqueue(request)
  }

  /** Runs an action after the pending changes and before later ones. */
  runExclusive(action: () => Promise<void>): Promise<void> {
    return this.#enqueue(action)
  }

  #enqueue(work: PendingFollow['work']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ work, resolve, reject })
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined
      })
    })
  }

  /** Rejects everything pending and resolves when nothing runs any more. */
  async clear(error: KsError): Promise<void> {
    for (const { reject } of this.#pending.splice(0)) reject(error)
    await this.#running
  }

  async #run(): Promise<void> {
    // Callers of the same turn join the same group.
    await Promise.resolve()
    while (this.#pending.length > 0) {
      const group = this.#takeGroup()
      try {
        const [first] = group
        if (typeof first?.work === 'function') await first.work()
        else await this.#commitWithRetries(group.flatMap(({ work }) => (typeof work === 'function' ? [] : [work])))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
  }

  #takeGroup(): PendingFollow[] {
    let nodes = 0
    let end = 0
    for (const { work } of this.#pending) {
      if (typeof work === 'function') {
        if (end === 0) end = 1
        break
      }
      nodes += (work.fresh?.add.length ?? 0) + (work.fresh?.remove.length ?? 0)
      if (end > 0 && nodes > MAX_GROUP_NODES) break
      end++
    }
    return this.#pending.splice(0, end)
  }

  async #commitWithRetries(requests: FollowRequest[]): Promise<void> {
    const deadline = performance.now() + MAX_RETRY_MS
    let faults = 0
    for (;;) {
      try {
        return await this.#commit(requests)
      } catch (error) {
        if (!(error instanceof IndexProcessGoneError)) throw error
        if (error.isCrash) faults++
        if (faults >= MAX_FAULTS || performance.now() > deadline) throw new IndexProcessFailedError(error)
      }
    }
  }
}
