import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineContext } from '../context.js'
import { mayBePoison } from '../queue/retry-policy.js'
import { countWaiting } from '../rows/job-claims.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { oweVectors } from '../rows/vectors-due.js'
import { embedNodes } from './embeddings.js'
import { publishBatch } from './publish.js'
import { smokeTest } from './smoke.js'
import { follow, type ToFollow } from './store-versions.js'
import { isTrained } from './vector-spaces.js'
import type { Built } from './work.js'

/** A batch whose versions are stored. */
export interface Stored {
  space: SpaceRow
  built: Built[]
  /** updates that the index has not received yet */
  toFollow: readonly ToFollow[]
}

/** Batches with more passages do not share a commit: small documents shall not wait for them. */
const TOGETHER_NODES = 256

/** Maximum wait after a publication while more of a space is read and stored: documents, and milliseconds. */
const GATHERED = { documents: 128, ms: 300 }
/** The same while many jobs wait, so that the delay matters to no document: fewer commits cause fewer merges. */
const GATHERED_OF_MANY = { documents: 512, ms: 1500 }
const MANY_JOBS = 1000
const LOOK_MS = 20

interface Waiting {
  stored: Stored
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
  readonly #waiting = new Map<number, Waiting[]>()

  /** @param isMoreComing whether other batches of a space are being read or stored */
  constructor(context: EngineContext, isMoreComing: (spaceKey: number) => boolean = () => false) {
    this.#context = context
    this.#isMoreComing = isMoreComing
  }

  /**
   * Resolves when the batch is visible, except for jobs that ended meanwhile. It fails or succeeds independently of
   * others.
   */
  publish(stored: Stored, signal: AbortSignal): Promise<void> {
    const { space } = stored
    if (!mayWait(stored)) return publishStored(this.#context, stored, signal)
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
      const together = this.#waiting.get(spaceKey) ?? []
      if (together.length === 0) break
      this.#waiting.set(spaceKey, [])
      for (const alone of await this.#publishTogether(together)) await this.#publishTogether([alone])
      await this.#gather(spaceKey)
    }
    this.#waiting.delete(spaceKey)
  }

  /**
   * Publishes batches in the same turn, so that they share one commit of the index.
   *
   * @returns the batches if several ran and the index process died: publishing each alone shows the cause
   */
  async #publishTogether(together: readonly Waiting[]): Promise<Waiting[]> {
    const suspects: Waiting[] = []
    await Promise.all(
      together.map((one) =>
        publishStored(this.#context, one.stored, one.signal).then(one.resolve, (error: unknown) => {
          if (together.length > 1 && mayBePoison(error)) suspects.push(one)
          else one.reject(error)
        }),
      ),
    )
    return suspects
  }

  /** Waits for more batches while more are being read. */
  async #gather(spaceKey: number): Promise<void> {
    if (!this.#isMoreComing(spaceKey)) return
    const began = performance.now()
    const waiting = await this.#context.db.read(countWaiting(spaceKey, MANY_JOBS)).catch(() => 0)
    const { documents, ms } = waiting < MANY_JOBS ? GATHERED : GATHERED_OF_MANY
    while (this.#isMoreComing(spaceKey) && performance.now() < began + ms && this.#documents(spaceKey) < documents)
      await sleep(LOOK_MS)
  }

  #documents(spaceKey: number): number {
    const waiting = this.#waiting.get(spaceKey) ?? []
    return waiting.reduce((sum, { stored }) => sum + stored.built.length, 0)
  }
}

/** Whether a batch is small enough to stay in memory, and needs no vectors from a slow provider. */
export function mayWait({ space, built }: Stored): boolean {
  return isTrained(space) && built.reduce((sum, one) => sum + one.nodes.length, 0) <= TOGETHER_NODES
}

/** Publishes a stored batch: first in the index, with the vectors of its passages, then for all readers. */
export async function publishStored(
  context: EngineContext,
  { space, built, toFollow }: Stored,
  signal: AbortSignal,
): Promise<void> {
  // the index works while the model does
  const inIndex = Promise.all(toFollow.map((one) => follow(context, space, one)))
  inIndex.catch(() => undefined)
  const nodes = built.flatMap((item) => item.nodes)
  for (;;) {
    // read again: the space may have got another model while its documents were parsed, or after the vectors were
    // computed
    const live = (await context.db.read(spaceByKey(space.key))) ?? space
    const embedded =
      built.length > 0 && isTrained(live)
        ? await embedNodes(context, live, nodes)
        : await askProvider(context, live, built, signal)
    await inIndex
    if (built.length === 0) return
    signal.throwIfAborted()
    await context.rightOfWay.giveWay()
    await smokeTest(context, space, built)
    if (await publishBatch(context, space, built, embedded)) return
  }
}

/**
 * Vectors of a provider are stored as they arrive; those still missing when the text is published follow automatically.
 */
async function askProvider(
  context: EngineContext,
  space: SpaceRow,
  built: readonly Built[],
  signal: AbortSignal,
): Promise<undefined> {
  const versions = built.flatMap(({ versionKey, nodes }) => (nodes.length === 0 ? [] : [versionKey]))
  if (versions.length === 0) return
  await context.db.write(() => oweVectors(space.key, versions), { lock: space.key })
  await context.vectors.patience(space.key, versions, signal)
}
