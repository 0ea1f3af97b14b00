import type { EngineContext } from '../../library/index.js'
import { findLastPublishedSpace } from '../../store/rows/warm-up.js'

/** Opens the indexes of the most recently published space, so that the first query after a start is not slow. */
export async function warmUp({ db, indexes, log }: EngineContext): Promise<void> {
  const space = await db.read(findLastPublishedSpace())
  if (space === undefined) return
  indexes.status(space.id).catch((error: unknown) => log.warn({ error: String(error) }, 'warming up failed'))
}
