import { Runs } from '../../base/runs.js'
import { untilWritten } from '../../base/until-written.js'
import { pauseAfter } from '../../compile/vector-filler.js'
import type { EngineContext } from '../../context.js'
import { troubleOf } from '../../models/trouble.js'
import { visionKey } from '../../models/vision.js'
import { BEGINNING, type Place } from '../../rows/derivations.js'
import { hurryPictures, picturedAfter, pictureWait, pictureWaits, putOffPictures } from '../../rows/pictures.js'
import { type SpaceRow, spaceByKey, spaceKeys } from '../../rows/spaces.js'
import { inSpace } from '../../spaces/in-space.js'
import type { Read } from '../../storage/program.js'
import { isWriteStopped } from '../../storage/write-stop.js'
import { describeVersion } from './describe-version.js'

/** Versions looked up at a time, most of which have no pictures: some milliseconds. */
const LOOKED_UP = 250

/**
 * Describes the pictures of published documents with a vision model, in the background, and reindexes the documents
 * with the descriptions. Does nothing without a configured model. The database knows what is missing, so a restart
 * continues; a failing model is retried with growing delays.
 */
export class PictureDescriber {
  #runs: Runs<{ key: number; next_at: number }> | undefined
  /** spaces with versions that may have pictures without a description */
  readonly #due = new Set<number>()
  readonly #places = new Map<number, Place>()

  /** Starts with what earlier processes left. */
  async start(context: EngineContext): Promise<void> {
    if (context.options.visionModel === undefined) return
    this.#runs = new Runs(context.log, {
      name: 'description of pictures',
      isStopped: () => isWriteStopped(context),
      open: () => this.#open(context),
      work: ({ key }, signal) => inSpace(context.db, key, () => this.#lookOn(context, key, signal)),
      failed: ({ key }, error, signal) => inSpace(context.db, key, () => this.#putOff(context, key, error, signal)),
    })
    context.db.recover(() => hurryPictures(context.instance))
    for (const key of await context.db.read(spaceKeys())) this.#due.add(key)
    this.wake()
  }

  /** Checks for work soon. */
  wake(): void {
    this.#runs?.wake()
  }

  /** Notes a publication of a space. */
  published(spaceKey: number): void {
    if (this.#runs === undefined) return
    this.#due.add(spaceKey)
    this.wake()
  }

  /** number of spaces whose pictures are being described */
  get active(): number {
    return this.#runs?.size ?? 0
  }

  async close(): Promise<void> {
    await this.#runs?.close()
  }

  async #open({ db }: EngineContext): Promise<{ key: number; next_at: number }[]> {
    if (this.#due.size === 0) return []
    const waits = new Map((await db.read(pictureWaits())).map((wait) => [wait.space_key, wait.next_at]))
    return [...this.#due].map((key) => ({ key, next_at: waits.get(key) ?? 0 }))
  }

  /** Processes the remaining versions of a space. */
  async #lookOn(context: EngineContext, spaceKey: number, signal: AbortSignal): Promise<void> {
    const { db, options } = context
    const reference = options.visionModel
    if (reference === undefined) return
    // a publication meanwhile adds it again
    this.#due.delete(spaceKey)
    try {
      for (;;) {
        signal.throwIfAborted()
        const place = this.#places.get(spaceKey) ?? BEGINNING
        const { space, versions } = await db.read(versionsAfter(spaceKey, place, visionKey(reference)))
        if (space === undefined) {
          this.#places.delete(spaceKey)
          return
        }
        for (const { meets, revision, nodes, key } of versions) {
          if (Number(meets) === 1) await describeVersion(context, space, key, reference, signal)
          this.#places.set(spaceKey, { revision, nodes, key })
        }
        if (versions.length < LOOKED_UP) return
        await context.rightOfWay.giveWay()
      }
    } catch (error) {
      this.#due.add(spaceKey)
      throw error
    }
  }

  async #putOff(context: EngineContext, spaceKey: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log, now, options } = context
    const wait = await db.read(pictureWait(spaceKey))
    const trouble = troubleOf(error, options.visionModel?.model ?? '')
    const attempts = wait?.attempts ?? 0
    const waitMs = pauseAfter(trouble, attempts)
    const row = { space: spaceKey, class: trouble.class, error: trouble.message, retryInMs: waitMs }
    if (attempts === 0) log.warn(row, 'pictures wait for the vision model; their documents can be found without descriptions')
    await untilWritten(context, 'when a vision model is asked again', signal, () =>
      db.write(() => putOffPictures(spaceKey, trouble, now(), Date.now() + waitMs)),
    )
  }
}

function* versionsAfter(
  spaceKey: number,
  place: Place,
  model: string,
): Read<{ space: SpaceRow | undefined; versions: (Place & { meets: number })[] }> {
  const space = yield* spaceByKey(spaceKey)
  return { space, versions: space === undefined ? [] : yield* picturedAfter(spaceKey, place, model, LOOKED_UP) }
}
