import { setTimeout as sleep } from 'node:timers/promises'
import { type EngineContext, embedNodes, isTrained, mayBePoison } from '../../library/index.js'
import { countDueJobs } from '../../store/rows/job-claims.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { markVectorsDue } from '../../store/rows/vectors-due.js'
import { publishBatch } from './publish.js'
import { smokeTest } from './smoke.js'
import { applyIndexUpdate, type IndexUpdate } from './store-versions.js'
import type { BuiltWork } from './work.js'

/** A batch whose versions are stored. */
export interface StoredBatch {
  space: SpaceRow
  built: BuiltWork[]
  /** updates that the index has not received yet */
  indexUpdates: readonly IndexUpdate[]
}

/** Batches with more passages do not share a commit: small documents shall not wait for them. */
const MAX_SHARED_NODES = 256

/** Maximum wait after a publication while more of a space is read and stored: documents, and milliseconds. */
const GATHER_LIMITS = { documents: 128, ms: 300 }
/** The same while many jobs wait, so that the delay matters to no document: fewer commits cause fewer merges. */
const GATHER_LIMITS_OF_MANY = { documents: 512, ms: 1500 }
const MANY_JOBS = 1000
const POLL_MS = 20

interface WaitingBatch {
  stored: StoredBatch
  signal: AbortSignal
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Publishes stored batches. Batches of a space that arrive during a publication wait, and are then published together:
 * a commit of the text index costs nearly the same for any content, and many small ones are merged repeatedly. A lone
 * batch does not wait; while more is being read, the next publication waits a moment for it.
 */
export class Publications {
  readonly #context: EngineContext
  readonly #isMoreComing: (spaceKey: number) => boolean
  readonly #waiting = new Map<number, WaitingBatch[]>()

  /** @param isMoreComing whether other batches of a space are being read or stored */
  constructor(context: EngineContext, isMoreComing: (spaceKey: number) => boolean = () => false) {
    this.#context = context
    this.#isMoreComing = isMoreComing
  }

  /**
   * Resolves when the batch is visible, except for jobs that ended meanwhile. It fails or succeeds independently of
   * others.
   */
  publish(stored: StoredBatch, signal: AbortSignal): Promise<void> {
    const { space } = stored
    if (!canShareCommit(stored)) return publishStored(this.#context, stored, signal)
    return new Promise((resolve, reject) => {
      const waiting = { stored, signal, resolve, reject }
      const others = this.#waiting.get(space.key)
      if (others !== undefined) {
        others.push(waiting)
        return
      }
      this.#waiting.set(space.key, [waiting])
      void this.#run(space.key)
    })
  }

  /** Publishes the waiting batches of a space until none is left. */
  async #run(spaceKey: number): Promise<void> {
    for (;;) {
      const batches = this.#waiting.get(spaceKey) ?? []
      if (batches.length === 0) break
      this.#waiting.set(spaceKey, [])
      for (const alone of await this.#publishTogether(batches)) await this.#publishTogether([alone])
      await this.#gather(spaceKey)
    }
    this.#waiting.delete(spaceKey)
  }

  /**
   * Publishes batches in the same turn, so that they share one commit of the index.
   *
   * @returns the batches if several ran and the index process died: publishing each alone shows the cause
   */
  async #publishTogether(batches: readonly WaitingBatch[]): Promise<WaitingBatch[]> {
    const suspects: WaitingBatch[] = []
    await Promise.all(
      batches.map((batch) =>
        publishStored(this.#context, batch.stored, batch.signal).then(batch.resolve, (error: unknown) => {
          if (batches.length > 1 && mayBePoison(error)) suspects.push(batch)
          else batch.reject(error)
        }),
      ),
    )
    return suspects
  }

  /** Waits for more batches while more are being read. */
  async #gather(spaceKey: number): Promise<void> {
    if (!this.#isMoreComing(spaceKey)) return
    const startedAt = performance.now()
    const waiting = await this.#context.db.read(countDueJobs(spaceKey, MANY_JOBS)).catch(() => 0)
    const { documents, ms } = waiting < MANY_JOBS ? GATHER_LIMITS : GATHER_LIMITS_OF_MANY
    while (this.#isMoreComing(spaceKey) && performance.now() < startedAt + ms && this.#documents(spaceKey) < documents)
      await sleep(POLL_MS)
  }

  #documents(spaceKey: number): number {
    const waiting = this.#waiting.get(spaceKey) ?? []
    return waiting.reduce((sum, { stored }) => sum + stored.built.length, 0)
  }
}

/** Whether a batch is small enough to stay in memory, and needs no vectors from a slow provider. */
export function canShareCommit({ space, built }: StoredBatch): boolean {
  return isTrained(space) && built.reduce((sum, item) => sum + item.nodes.length, 0) <= MAX_SHARED_NODES
}

/** Publishes a stored batch: first in the index, with the vectors of its passages, then for all readers. */
export async function publishStored(
  context: EngineContext,
  { space, built, indexUpdates }: StoredBatch,
  signal: AbortSignal,
): Promise<void> {
  // the index works while the model does
  const inIndex = Promise.all(indexUpdates.map((update) => applyIndexUpdate(context, space, update)))
  inIndex.catch(() => undefined)
  const nodes = built.flatMap((item) => item.nodes)
  for (;;) {
    // read again: the space may have got another model while its documents were parsed, or after the vectors were
    // computed
    const live = (await context.db.read(findSpaceByKey(space.key))) ?? space
    const embedded =
      built.length > 0 && isTrained(live)
        ? await embedNodes(context, live, nodes)
        : await waitForProvider(context, live, built, signal)
    await inIndex
    if (built.length === 0) return
    signal.throwIfAborted()
    await context.foregroundPriority.yieldToQueries()
    await smokeTest(context, space, built)
    if (await publishBatch(context, space, built, embedded)) return
  }
}

/**
 * Vectors of a provider are stored as they arrive; those still missing when the text is published follow automatically.
 */
async function waitForProvider(
  context: EngineContext,
  space: SpaceRow,
  built: readonly BuiltWork[],
  signal: AbortSignal,
): Promise<undefined> {
  const versions = built.flatMap(({ versionKey, nodes }) => (nodes.length === 0 ? [] : [versionKey]))
  if (versions.length === 0) return
  await context.db.write(() => markVectorsDue(space.key, versions), { lock: space.key })
  await context.vectors.waitForVectors(space.key, versions, signal)
}
