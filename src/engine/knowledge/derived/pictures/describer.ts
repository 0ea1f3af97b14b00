import { computeRetryDelayMs } from '../../../base/provider-problem.js'
import { retryUntilWritten } from '../../../base/retry-until-written.js'
import { RowRunner } from '../../../base/runs.js'
import { type EngineContext, runInSpace } from '../../../library/index.js'
import { toDescriptionKey, toProviderProblem } from '../../../models/index.js'
import type { Read } from '../../../store/program.js'
import { FIRST_VERSION_POSITION, type VersionPosition } from '../../../store/rows/derivations.js'
import {
  deferPictures,
  findPictureWait,
  listPictureVersions,
  listPictureWaits,
  retryPicturesNow,
} from '../../../store/rows/pictures.js'
import { findSpaceByKey, listSpaceKeys, type SpaceRow } from '../../../store/rows/spaces.js'
import { isWriteStopped } from '../../../store/write-stop.js'
import { describeVersion } from './describe-version.js'

/** Versions looked up at a time, most of which have no pictures: some milliseconds. */
const MAX_BATCH_VERSIONS = 250

interface DueSpace {
  key: number
  next_at: number
}

/**
 * Describes the pictures of published documents with a vision model, in the background, and reindexes the documents
 * with the descriptions. Does nothing without a configured model. The database knows what is missing, so a restart
 * continues; a failing model is retried with growing delays.
 */
export class PictureDescriber extends RowRunner<EngineContext, DueSpace> {
  protected override readonly rowKind = 'description of pictures'
  /** spaces with versions that may have pictures without a description */
  readonly #due = new Set<number>()
  readonly #positions = new Map<number, VersionPosition>()

  /** Starts with what earlier processes left. */
  override async start(context: EngineContext): Promise<void> {
    if (context.options.visionModel === undefined) return
    context.db.recover(() => retryPicturesNow(context.instance))
    super.start(context)
    for (const key of await context.db.read(listSpaceKeys())) this.notePublication(key)
  }

  /** Notes a publication of a space. */
  notePublication(spaceKey: number): void {
    if (!this.isStarted) return
    this.#due.add(spaceKey)
    this.wake()
  }

  /** number of spaces whose pictures are being described */
  override get active(): number {
    return this.size
  }

  protected override isPaused(): boolean {
    return isWriteStopped(this.context)
  }

  protected override async listOpen(): Promise<DueSpace[]> {
    if (this.#due.size === 0) return []
    const waits = new Map(
      (await this.context.db.read(listPictureWaits())).map((wait) => [wait.space_key, wait.next_at]),
    )
    return [...this.#due].map((key) => ({ key, next_at: waits.get(key) ?? 0 }))
  }

  protected override work({ key }: DueSpace, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, key, () => this.#processSpace(key, signal))
  }

  protected override onFailure({ key }: DueSpace, error: unknown, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, key, () => this.#delay(key, error, signal))
  }

  /** Processes the remaining versions of a space. */
  async #processSpace(spaceKey: number, signal: AbortSignal): Promise<void> {
    const { context } = this
    const { db, options } = context
    const reference = options.visionModel
    if (reference === undefined) return
    // a publication meanwhile adds it again
    this.#due.delete(spaceKey)
    try {
      for (;;) {
        signal.throwIfAborted()
        const position = this.#positions.get(spaceKey) ?? FIRST_VERSION_POSITION
        const { space, versions } = await db.read(listVersionsAfter(spaceKey, position, toDescriptionKey(reference)))
        if (space === undefined) {
          this.#positions.delete(spaceKey)
          return
        }
        for (const { meets, revision, nodes, key } of versions) {
          if (Number(meets) === 1) await describeVersion(context, { space, key }, reference, signal)
          this.#positions.set(spaceKey, { revision, nodes, key })
        }
        if (versions.length < MAX_BATCH_VERSIONS) return
        await context.foregroundPriority.yieldToQueries()
      }
    } catch (error) {
      this.#due.add(spaceKey)
      throw error
    }
  }

  async #delay(spaceKey: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log, now, options } = this.context
    const wait = await db.read(findPictureWait(spaceKey))
    const problem = toProviderProblem(error, options.visionModel?.model ?? '')
    const attempts = wait?.attempts ?? 0
    const waitMs = computeRetryDelayMs(problem, attempts)
    const row = { space: spaceKey, class: problem.class, error: problem.message, retryInMs: waitMs }
    if (attempts === 0)
      log.warn(row, 'pictures wait for the vision model; their documents can be found without descriptions')
    await retryUntilWritten(this.context, 'when a vision model is asked again', signal, () =>
      db.write(() => deferPictures(spaceKey, problem, now(), now() + waitMs)),
    )
  }
}

function* listVersionsAfter(
  spaceKey: number,
  position: VersionPosition,
  model: string,
): Read<{ space: SpaceRow | undefined; versions: (VersionPosition & { meets: number })[] }> {
  const space = yield* findSpaceByKey(spaceKey)
  return {
    space,
    versions: space === undefined ? [] : yield* listPictureVersions(spaceKey, position, model, MAX_BATCH_VERSIONS),
  }
}
