import type { Work } from '../compile/work.js'
import type { EngineContext } from '../context.js'
import { MAX_RETRY_MILLISECONDS } from '../queue/retry-policy.js'
import { claimJobs, compiledOf, compiledOfSpaces, type DueAt, jobsDue, spaceDueAfter } from '../rows/job-claims.js'
import { documentsOf } from '../rows/job-documents.js'
import type { JobRow } from '../rows/jobs.js'
import { spaceByKey } from '../rows/spaces.js'
import { quotasOf } from '../spaces/quota.js'
import type { Read, Write } from '../storage/program.js'

const BATCH_JOBS = 32 // two batches that are compiled are the maxActiveJobCount of a new space
const BATCH_BYTES = 8 * 1024 * 1024
/** files over this are compiled alone: one slow file then holds nobody else up */
const ALONE_BYTES = 1024 * 1024
/** jobs that were running this often when the process died, or failed this often in company, are suspects */
const ALONE_AFTER_FAILURES = 2

/** Whether a job may be what ends processes: then nothing else is compiled beside it, so that nobody else is blamed. */
export function isSuspect(job: JobRow): boolean {
  return Math.max(job.unclean_ends, job.attempts) >= ALONE_AFTER_FAILURES
}

/** Jobs of a space that are due, the longest due first: at most `most`, and what is large or was in trouble alone. */
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
 * The next batch of the space whose turn it is.
 *
 * @param last key of the space that had the turn before
 * @param beside jobs that spaces are busy with here beside those that are read and stored, by their keys
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

/** How many jobs of a space may run at once, by its quota. */
function* mostJobs(context: EngineContext, spaceKey: number): Read<number> {
  const space = yield* spaceByKey(spaceKey)
  return space === undefined ? BATCH_JOBS : quotasOf(context, space).maxActiveJobCount
}

/** Claims a batch of a space, as far as there is room yet. @returns what is claimed by this: a job may have been canceled since it was looked up */
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
