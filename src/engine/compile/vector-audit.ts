import type { EngineContext } from '../context.js'
import { type SpaceRow, spaceByKey, spaceKeys } from '../rows/spaces.js'
import { activeVectorSpace, lackingVectors, type VectorSpace } from '../rows/vector-spaces.js'
import type { Read } from '../storage/program.js'
import { fillVectors } from './training.js'
import { isTrained } from './vector-spaces.js'

/** Between two audits of a space. An audit where nothing lacks is three look-ups. */
const AUDIT_MILLISECONDS = 10 * 60 * 1000

/** Passages of a space without a vector that were looked at and can have none: the model knows no word of them. */
interface Accepted {
  vectorSpace: number
  passages: number
}

/**
 * Finds live passages that lack a vector of their space's own model, at the start and every ten minutes, and fills them. A
 * death between the switch to a newly trained model and its second filling leaves some, and so does a lost row. Vectors of
 * providers are not looked at: what a provider owes stands in `vectors_due`.
 */
export class VectorAudits {
  readonly #context: EngineContext
  readonly #look: (spaceKey: number) => void
  readonly #unaudited = new Set<number>()
  readonly #accepted = new Map<number, Accepted>()
  #timer: NodeJS.Timeout | undefined

  /** @param look asks soon, when a space stands still, whether it `isDue` */
  constructor(context: EngineContext, stop: AbortSignal, look: (spaceKey: number) => void) {
    this.#context = context
    stop.addEventListener('abort', () => clearInterval(this.#timer))
    this.#look = look
  }

  /** Has every space looked at, now and from time to time. */
  start(): void {
    this.#lookAtAll()
    const ms = this.#context.options.vectorAuditMs ?? AUDIT_MILLISECONDS
    this.#timer = setInterval(() => this.#lookAtAll(), ms).unref()
  }

  /** Whether an audit of the space is open and finds that passages lack a vector. */
  *isDue(space: SpaceRow): Read<boolean> {
    if (!this.#unaudited.has(space.key)) return false
    const active = isTrained(space) ? yield* activeVectorSpace(space) : undefined
    if (active === undefined) return false
    const accepted = this.#accepted.get(space.key)
    const known = accepted?.vectorSpace === active.key ? accepted.passages : 0
    return (yield* lackingVectors(space.key, active.key)) > known
  }

  /** The audit of a space is over: it found nothing. */
  ended(spaceKey: number): void {
    this.#unaudited.delete(spaceKey)
  }

  /** Fills what lacks. What fails is told, and tried again at the next audit. */
  readonly fill = async (context: EngineContext, spaceKey: number, signal: AbortSignal): Promise<void> => {
    const { db, log } = context
    this.#unaudited.delete(spaceKey)
    const found = await db.read(audited(spaceKey))
    if (found === undefined) return
    const { space, active } = found
    try {
      await fillVectors(context, space, active, signal)
      const left = await db.read(audited(spaceKey))
      if (left?.active.id !== active.id) return
      const passages = found.lacking - left.lacking
      this.#accepted.set(space.key, { vectorSpace: active.key, passages: Math.max(0, left.lacking) })
      if (passages > 0) log.warn({ space: space.id, passages }, 'passages without a vector got one')
    } catch (error) {
      if (!signal.aborted) log.warn({ space: space.id, error: String(error) }, 'missing vectors could not be computed')
    }
  }

  #lookAtAll(): void {
    const { db, log } = this.#context
    db.read(spaceKeys()).then(
      (keys) => {
        for (const key of keys) {
          this.#unaudited.add(key)
          this.#look(key)
        }
      },
      (error: unknown) => log.warn({ error: String(error) }, 'whether vectors are missing could not be looked up'),
    )
  }
}

/** A space with the model in use, and how many of its passages lack a vector. */
function* audited(spaceKey: number): Read<{ space: SpaceRow; active: VectorSpace; lacking: number } | undefined> {
  const space = yield* spaceByKey(spaceKey)
  const active = space === undefined ? undefined : yield* activeVectorSpace(space)
  if (space === undefined || active === undefined) return undefined
  return { space, active, lacking: yield* lackingVectors(spaceKey, active.key) }
}
