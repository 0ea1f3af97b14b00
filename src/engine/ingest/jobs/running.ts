/** no job of a space starts while this many of its jobs wait for their publication */
const MAX_WAITING_JOBS = 640

/** A running batch. */
export interface RunningBatch {
  spaceKey: number
  jobs: number
  isAlone: boolean
  /** its jobs are parsed and stored */
  isStored: boolean
  /** its jobs wait for their publication: other batches are compiled meanwhile */
  isWaiting: boolean
}

/** Batches that are being compiled and stored, or that have further work to do. */
export function filterCompiling(running: Iterable<RunningBatch>): RunningBatch[] {
  return [...running].filter(({ isWaiting }) => !isWaiting)
}

/**
 * Number of jobs by space that count in addition to those with compiling rows: of stored batches with further work. A
 * space with enough jobs that wait for publication counts as full.
 */
export function countExtraJobs(running: Iterable<RunningBatch>): Map<number, number> {
  const extraJobs = new Map<number, number>()
  const waiting = new Map<number, number>()
  for (const { spaceKey, jobs, isStored, isWaiting } of running) {
    if (!isStored) continue
    const counts = isWaiting ? waiting : extraJobs
    counts.set(spaceKey, (counts.get(spaceKey) ?? 0) + jobs)
  }
  for (const [key, jobs] of waiting) if (jobs >= MAX_WAITING_JOBS) extraJobs.set(key, Number.POSITIVE_INFINITY)
  return extraJobs
}
