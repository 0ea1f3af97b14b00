import { setTimeout as sleep } from 'node:timers/promises'
import type { SpaceSession } from './space-session.js'

/** Vectors of 100,000 passages are loaded in less; for an answer that can be had without them nobody waits longer. */
const VECTORS_GRACE_MS = 4_000

/**
 * Waits for what a session still loads of the text and a vector space, until the grace of its first searches is over.
 *
 * @param isSearch whether vectors alone are waited for longer: who only asks how things stand does not
 */
export type Grace = (vectorSpace: string | undefined, isSearch: boolean) => Promise<void>

/**
 * The grace of a session; it begins when the space was opened, or could not be.
 *
 * @param anyMs for whatever is not there
 * @param vectorsMs where the text is whole and only vectors are still coming, default 4 s
 */
export function graceOf(session: SpaceSession, anyMs: number, vectorsMs = VECTORS_GRACE_MS): Grace {
  const late = overAfter(session, anyMs)
  const latest = overAfter(session, vectorsMs)
  return async (vectorSpace, isSearch) => {
    if (session.isSettled(vectorSpace)) return
    const settled = session.settled(vectorSpace)
    await Promise.race([session.text.catch(() => {}), late])
    await Promise.race([settled, isSearch && session.isLoading(vectorSpace) ? latest : late])
  }
}

async function overAfter(session: SpaceSession, milliseconds: number): Promise<void> {
  await session.opened.catch(() => {})
  await sleep(milliseconds, undefined, { ref: false })
}
