/** no job of a space starts while this many of its jobs wait for their publication */
const WAITING_AT_ONCE = 640

/** A running batch. */
export interface Running {
  spaceKey: number
  jobs: number
  isAlone: boolean
  /** its jobs are parsed and stored */
  isStored: boolean
  /** its jobs wait for their publication: other batches are compiled meanwhile */
  isWaiting: boolean
}

/** Batches that are being compiled and stored, or that have further work to do. */
export function compiling(running: Iterable<Running>): Running[] {
  return [...running].filter(({ isWaiting }) => !isWaiting)
}

/**
 * Number of jobs by space that count in addition to those with compiling rows: of stored batches with further work. A
 * space with enough jobs that wait for publication counts as full.
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
