import { setTimeout as sleep } from 'node:timers/promises'
import type { SpaceSession } from './space-session.js'

/** Vectors of 100,000 passages load in less time; an answer that is possible without vectors is not delayed longer. */
const VECTORS_GRACE_MS = 4_000

/**
 * Waits for what a session still loads (text and one vector space), at most for the grace period of its first searches.
 * A search waits longer than a status request where only vectors are missing.
 */
export type GraceWait = (vectorSpace: string | undefined, purpose: 'search' | 'status') => Promise<void>

/**
 * Creates the grace period of a session. It begins when opening the space has succeeded or failed.
 *
 * @param anyMs limit while text is missing
 * @param vectorsMs limit where the text is complete and only vectors still load, default 4 s
 */
export function createGrace(session: SpaceSession, anyMs: number, vectorsMs = VECTORS_GRACE_MS): GraceWait {
  const anyOver = waitAfterOpened(session, anyMs)
  const vectorsOver = waitAfterOpened(session, vectorsMs)
  return async (vectorSpace, purpose) => {
    if (session.isSettled(vectorSpace)) return
    const settled = session.waitForLoads(vectorSpace)
    await Promise.race([session.text.catch(() => {}), anyOver])
    await Promise.race([settled, purpose === 'search' && session.isLoading(vectorSpace) ? vectorsOver : anyOver])
  }
}

async function waitAfterOpened(session: SpaceSession, milliseconds: number): Promise<void> {
  await session.opened.catch(() => {})
  await sleep(milliseconds, undefined, { ref: false })
}
