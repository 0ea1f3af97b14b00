/** With so many jobs of a space that wait for their publication none is begun. */
const WAITING_AT_ONCE = 640

/** A batch on its way. */
export interface Running {
  spaceKey: number
  jobs: number
  isAlone: boolean
  /** its jobs are not read and stored any more */
  isStored: boolean
  /** … and wait for their publication: others are compiled beside it */
  isWaiting: boolean
}

/** Batches that are read and stored, or that still have work of their own. */
export function compiling(running: Iterable<Running>): Running[] {
  return [...running].filter(({ isWaiting }) => !isWaiting)
}

/**
 * Jobs that count beside those whose rows say that they are compiled, by their spaces' keys: of batches that are stored and
 * still have work of their own. A space of which enough waits for publication is as full as it can be.
 */
export function besideCompiling(running: Iterable<Running>): Map<number, number> {
  const beside = new Map<number, number>()
  const waiting = new Map<number, number>()
  for (const { spaceKey, jobs, isStored, isWaiting } of running) {
    if (!isStored) continue
    const some = isWaiting ? waiting : beside
    some.set(spaceKey, (some.get(spaceKey) ?? 0) + jobs)
  }
  for (const [key, jobs] of waiting) if (jobs >= WAITING_AT_ONCE) beside.set(key, Number.POSITIVE_INFINITY)
  return beside
}
