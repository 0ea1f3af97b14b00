import { BackgroundService } from '../../base/background-service.js'
import { type EngineContext, isTrained } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { findSpaceByKey, listSpaceKeys, type SpaceRow } from '../../store/rows/spaces.js'
import { countMissingVectors, getActiveVectorSpace, type VectorSpace } from '../../store/rows/vector-spaces.js'
import { fillVectors } from './training.js'

/** Interval between two audits of a space. An audit without missing vectors costs three look-ups. */
const AUDIT_MILLISECONDS = 10 * 60 * 1000

/** Passages of a space that can have no vector, as an audit found: the model knows none of their terms. */
interface AcceptedGaps {
  vectorSpace: number
  passages: number
}

/**
 * Finds live passages that lack a vector of their space's own model, at the start and every ten minutes, and computes
 * it. A crash between the switch to a newly trained model and its second filling leaves some, and so does a lost row.
 * Vectors of providers are not audited: missing ones are recorded in `vectors_due`.
 */
export class VectorAudits extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'missing vectors could not be counted'
  readonly #requestCheck: (spaceKey: number) => void
  readonly #unaudited = new Set<number>()
  readonly #accepted = new Map<number, AcceptedGaps>()

  /** @param requestCheck soon checks, when a space is idle, whether it `isDue` */
  constructor(context: EngineContext, requestCheck: (spaceKey: number) => void) {
    super(context)
    this.#requestCheck = requestCheck
  }

  protected override intervalMs(): number {
    return this.context.options.vectorAuditMs ?? AUDIT_MILLISECONDS
  }

  /** Audits every space. */
  protected override async tick(): Promise<void> {
    for (const key of await this.context.db.read(listSpaceKeys())) {
      this.#unaudited.add(key)
      this.#requestCheck(key)
    }
  }

  /** Whether an audit of the space is pending and passages lack a vector. */
  *isDue(space: SpaceRow): Read<boolean> {
    if (!this.#unaudited.has(space.key)) return false
    const active = isTrained(space) ? yield* getActiveVectorSpace(space) : undefined
    if (active === undefined) return false
    const accepted = this.#accepted.get(space.key)
    const acceptedPassages = accepted?.vectorSpace === active.key ? accepted.passages : 0
    return (yield* countMissingVectors(space.key, active.key)) > acceptedPassages
  }

  /** Ends the audit of a space without missing vectors. */
  ended(spaceKey: number): void {
    this.#unaudited.delete(spaceKey)
  }

  /** Computes missing vectors. A failure is logged, and retried at the next audit. */
  readonly fill = async (context: EngineContext, spaceKey: number, signal: AbortSignal): Promise<void> => {
    const { db, log } = context
    this.#unaudited.delete(spaceKey)
    const before = await db.read(readAuditState(spaceKey))
    if (before === undefined) return
    const { space, active } = before
    try {
      await fillVectors(context, space, active, { signal })
      const after = await db.read(readAuditState(spaceKey))
      if (after?.active.id !== active.id) return
      const passages = before.lacking - after.lacking
      this.#accepted.set(space.key, { vectorSpace: active.key, passages: Math.max(0, after.lacking) })
      if (passages > 0) log.warn({ space: space.id, passages }, 'passages without a vector got one')
    } catch (error) {
      if (!signal.aborted) log.warn({ space: space.id, error: String(error) }, 'missing vectors could not be computed')
    }
  }
}

/** A space with the model in use, and the count of its passages that lack a vector. */
function* readAuditState(
  spaceKey: number,
): Read<{ space: SpaceRow; active: VectorSpace; lacking: number } | undefined> {
  const space = yield* findSpaceByKey(spaceKey)
  const active = space === undefined ? undefined : yield* getActiveVectorSpace(space)
  if (space === undefined || active === undefined) return undefined
  return { space, active, lacking: yield* countMissingVectors(spaceKey, active.key) }
}
