import type { Work } from '../compile/work.js'
import type { EngineContext } from '../context.js'
import { MAX_RETRY_MILLISECONDS } from '../queue/retry-policy.js'
import { claimJobs, compiledOf, compiledOfSpaces, type DueAt, jobsDue, spaceDueAfter } from '../rows/job-claims.js'
import { documentsOf } from '../rows/job-documents.js'
import type { JobRow } from '../rows/jobs.js'
import { spaceByKey } from '../rows/spaces.js'
import { quotasOf } from '../spaces/quota.js'
import type { Read, Write } from '../storage/program.js'

const BATCH_JOBS = 32 // two compiling batches are the maxActiveJobCount of a new space
const BATCH_BYTES = 8 * 1024 * 1024
/** larger files are compiled alone: a slow file then blocks no other */
const ALONE_BYTES = 1024 * 1024
/** jobs with this many crashes, or failures in a batch with others, are suspects */
const ALONE_AFTER_FAILURES = 2

/** Whether a job may crash processes: then it is compiled alone, so that no other job is blamed. */
export function isSuspect(job: JobRow): boolean {
  return Math.max(job.unclean_ends, job.attempts) >= ALONE_AFTER_FAILURES
}

/** Due jobs of a space, the longest due first, at most `maxJobs`; a large file or a suspect is alone in its batch. */
function* selectBatch(spaceKey: number, due: DueAt, most: number): Read<Work[]> {
  const work: Work[] = []
  let bytes = 0
  const jobs = yield* jobsDue(spaceKey, due, most)
  const documents = yield* documentsOf(jobs)
  for (const [place, job] of jobs.entries()) {
    const document = documents[place]
    if (document === undefined) continue
    const alone = document.size_bytes > ALONE_BYTES || isSuspect(job)
    if (work.length > 0 && (alone || bytes + document.size_bytes > BATCH_BYTES)) break
    work.push({ job, document })
    bytes += document.size_bytes
    if (alone) break
  }
  return work
}

/**
 * The next batch, of the next space in turn.
 *
 * @param lastSpace key of the space with the previous batch
 * @param extraJobs additional jobs of spaces that run here after their compilation, by space key
 */
export function* nextBatch(
  context: EngineContext,
  last: number,
  beside: ReadonlyMap<number, number> = new Map(),
): Read<{ spaceKey: number; work: Work[] } | undefined> {
  const now = Date.now()
  const due = { now, latest: now + MAX_RETRY_MILLISECONDS }
  const full: number[] = []
  const running = yield* compiledOfSpaces()
  for (const [key, jobs] of beside) running.set(key, (running.get(key) ?? 0) + jobs)
  for (const [key, jobs] of running) if ((yield* mostJobs(context, key)) <= jobs) full.push(key)
  for (;;) {
    const spaceKey = (yield* spaceDueAfter(last, due, full)) ?? (yield* spaceDueAfter(0, due, full))
    if (spaceKey === undefined) return undefined
    const room = (yield* mostJobs(context, spaceKey)) - (running.get(spaceKey) ?? 0)
    const work = yield* selectBatch(spaceKey, due, Math.min(BATCH_JOBS, room))
    if (work.length > 0) return { spaceKey, work }
    // documents that a damaged database has lost: the other spaces do not wait for them
    full.push(spaceKey)
  }
}

/** Maximum number of parallel jobs of a space, by its quota. */
function* mostJobs(context: EngineContext, spaceKey: number): Read<number> {
  const space = yield* spaceByKey(spaceKey)
  return space === undefined ? BATCH_JOBS : quotasOf(context, space).maxActiveJobCount
}

/**
 * Claims a batch of a space, as far as its quota permits. @returns the claimed jobs: others may have been canceled
 * since they were read
 */
export function* claim(
  context: EngineContext,
  spaceKey: number,
  work: readonly Work[],
  beside: ReadonlyMap<number, number> = new Map(),
): Write<Work[]> {
  const busy = (yield* compiledOf(spaceKey)) + (beside.get(spaceKey) ?? 0)
  const room = Math.max(0, (yield* mostJobs(context, spaceKey)) - busy)
  const wanted = work.slice(0, room)
  const claimed = yield* claimJobs(
    wanted.map(({ job }) => job),
    context.instance,
  )
  const byKey = new Map(claimed.map((job) => [job.key, job]))
  return wanted.flatMap(({ job, document }) => {
    const held = byKey.get(job.key)
    return held === undefined ? [] : [{ job: held, document }]
  })
}
