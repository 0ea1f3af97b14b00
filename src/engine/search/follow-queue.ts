import type { KsError } from '../../contract/errors.js'
import { ProcessGoneError } from './index-process.js'
import { type FreshBatch, IndexProcessDied } from './ports.js'

/**
 * Nodes that one commit takes at most, as far as batches can be parted: who waits for a change of another space waits for
 * it, too. Up to some 2,000 a commit takes the same time whatever is in it.
 */
const GROUP_NODES = 2_000
/** Faults of the process under one group before its callers are told; ends from outside do not count. */
const MAX_FAULTS = 3
/** A group is not tried for longer: the source has it, and the next start replays it. */
const MAX_RETRY_MS = 60_000

/** An entry of the projection log that somebody waits for. */
export interface Wanted {
  seq: number
  fresh?: FreshBatch
}

interface Pending {
  /** what is waited for, or work that runs while nothing is applied */
  work: Wanted | (() => Promise<void>)
  resolve: () => void
  reject: (error: unknown) => void
}

/** What is waited for in the log of one space: whatever waits together is committed together. */
export class FollowQueue {
  readonly #commit: (wanted: Wanted[]) => Promise<void>
  #pending: Pending[] = []
  #running: Promise<void> | undefined

  /** @param commit resolves when all that is wanted can be seen */
  constructor(commit: (wanted: Wanted[]) => Promise<void>) {
    this.#commit = commit
  }

  push(wanted: Wanted): Promise<void> {
    return this.#enqueue(wanted)
  }

  /** Runs an action after the changes that wait and before those that come. */
  alone(action: () => Promise<void>): Promise<void> {
    return this.#enqueue(action)
  }

  #enqueue(work: Pending['work']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ work, resolve, reject })
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined
      })
    })
  }

  /** Refuses what waits and resolves when nothing runs any more. */
  async clear(error: KsError): Promise<void> {
    for (const { reject } of this.#pending.splice(0)) reject(error)
    await this.#running
  }

  async #run(): Promise<void> {
    // Callers of the same turn come into the same group.
    await Promise.resolve()
    while (this.#pending.length > 0) {
      const group = this.#takeGroup()
      try {
        const [first] = group
        if (typeof first?.work === 'function') await first.work()
        else await this.#commitTried(group.flatMap(({ work }) => (typeof work === 'function' ? [] : [work])))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
  }

  #takeGroup(): Pending[] {
    let nodes = 0
    let end = 0
    for (const { work } of this.#pending) {
      if (typeof work === 'function') {
        if (end === 0) end = 1
        break
      }
      nodes += (work.fresh?.add.length ?? 0) + (work.fresh?.remove.length ?? 0)
      if (end > 0 && nodes > GROUP_NODES) break
      end++
    }
    return this.#pending.splice(0, end)
  }

  async #commitTried(wanted: Wanted[]): Promise<void> {
    const deadline = performance.now() + MAX_RETRY_MS
    let faults = 0
    for (;;) {
      try {
        return await this.#commit(wanted)
      } catch (error) {
        if (!(error instanceof ProcessGoneError)) throw error
        if (error.faulted) faults++
        if (faults >= MAX_FAULTS || performance.now() > deadline) throw new IndexProcessDied(error)
      }
    }
  }
}
