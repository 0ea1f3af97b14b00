import type { EngineContext } from '../context.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { type Read, sql } from '../storage/program.js'
import { fillVectors } from './training.js'
import { activeVectorSpace, isTrained, type VectorSpace } from './vector-spaces.js'

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
    this.#context.db.now(this.#lookAtAll())
    const ms = this.#context.options.vectorAuditMs ?? AUDIT_MILLISECONDS
    this.#timer = setInterval(() => this.#context.db.now(this.#lookAtAll()), ms).unref()
  }

  /** Whether an audit of the space is open and finds that passages lack a vector. */
  isDue(space: SpaceRow): boolean {
    if (!this.#unaudited.has(space.key)) return false
    const active = isTrained(space) ? this.#context.db.now(activeVectorSpace(space)) : undefined
    const accepted = this.#accepted.get(space.key)
    const known = accepted?.vectorSpace === active?.key ? (accepted?.passages ?? 0) : 0
    if (active !== undefined && this.#context.db.now(lacking(space, active)) > known) return true
    this.#unaudited.delete(space.key)
    return false
  }

  /** Fills what lacks. What fails is told, and tried again at the next audit. */
  readonly fill = async (context: EngineContext, spaceKey: number, signal: AbortSignal): Promise<void> => {
    const { db, log } = context
    this.#unaudited.delete(spaceKey)
    const space = db.now(spaceByKey(spaceKey))
    const active = space === undefined ? undefined : db.now(activeVectorSpace(space))
    if (space === undefined || active === undefined) return
    try {
      const before = context.db.now(lacking(space, active))
      await fillVectors(context, space, active, signal)
      const left = context.db.now(lacking(space, active))
      if (db.now(spaceByKey(space.key))?.vector_space !== active.id) return
      this.#accepted.set(space.key, { vectorSpace: active.key, passages: Math.max(0, left) })
      if (left < before) log.warn({ space: space.id, passages: before - left }, 'passages without a vector got one')
    } catch (error) {
      if (!signal.aborted) log.warn({ space: space.id, error: String(error) }, 'missing vectors could not be computed')
    }
  };

  *#lookAtAll(): Read<void> {
    for (const { key } of yield* sql.all<{ key: number }>('SELECT key FROM spaces WHERE deleted_at IS NULL')) {
      this.#unaudited.add(key)
      this.#look(key)
    }
  }
}

/** Live passages of a space without a vector, by the counters that triggers keep. */
function* lacking(space: SpaceRow, { key }: VectorSpace): Read<number> {
  const row = yield* sql.get<{ nodes: number | null; vectors: number | null }>(
    `SELECT (SELECT node_count FROM space_usage WHERE space_key = ?) nodes,
       (SELECT live FROM vector_counts WHERE vector_space = ?) vectors`,
    [space.key, key],
  )
  return (row?.nodes ?? 0) - (row?.vectors ?? 0)
}
