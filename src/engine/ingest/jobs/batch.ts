import { readClock } from '../../base/statements.js'
import { type EngineContext, getQuotas, MAX_JOB_RETRY_DELAY_MS } from '../../library/index.js'
import type { Read, Write } from '../../store/program.js'
import {
  claimJobs,
  countCompilingJobs,
  countCompilingJobsBySpace,
  type DueWindow,
  findDueSpaceAfter,
  listDueJobs,
} from '../../store/rows/job-claims.js'
import { listJobDocuments } from '../../store/rows/job-documents.js'
import type { JobRow } from '../../store/rows/jobs.js'
import { findSpaceByKey } from '../../store/rows/spaces.js'
import type { CompileWork } from '../compile/work.js'

const MAX_BATCH_JOBS = 32 // two compiling batches are the maxActiveJobCount of a new space
const MAX_BATCH_BYTES = 8 * 1024 * 1024
/** larger files are compiled alone: a slow file then blocks no other */
const LARGE_FILE_BYTES = 1024 * 1024
/** jobs with this many crashes, or failures in a batch with others, are suspects */
const SUSPECT_AFTER_FAILURES = 2

/** Whether a job may crash processes: then it is compiled alone, so that no other job is blamed. */
export function isSuspect(job: JobRow): boolean {
  return Math.max(job.unclean_ends, job.attempts) >= SUSPECT_AFTER_FAILURES
}

/** Due jobs of a space, the longest due first, at most `maxJobs`; a large file or a suspect is alone in its batch. */
function* selectBatch(spaceKey: number, due: DueWindow, maxJobs: number): Read<CompileWork[]> {
  const work: CompileWork[] = []
  let bytes = 0
  const jobs = yield* listDueJobs(spaceKey, due, maxJobs)
  const documents = yield* listJobDocuments(jobs)
  for (const [index, job] of jobs.entries()) {
    const document = documents[index]
    if (document === undefined) continue
    const isAlone = document.size_bytes > LARGE_FILE_BYTES || isSuspect(job)
    if (work.length > 0 && (isAlone || bytes + document.size_bytes > MAX_BATCH_BYTES)) break
    work.push({ job, document })
    bytes += document.size_bytes
    if (isAlone) break
  }
  return work
}

/**
 * The next batch, of the next space in turn.
 *
 * @param lastSpace key of the space with the previous batch
 * @param extraJobs additional jobs of spaces that run here after their compilation, by space key
 */
export function* findNextBatch(
  context: EngineContext,
  lastSpace: number,
  extraJobs: ReadonlyMap<number, number> = new Map(),
): Read<{ spaceKey: number; work: CompileWork[] } | undefined> {
  const now = yield* readClock()
  const due = { now, latest: now + MAX_JOB_RETRY_DELAY_MS }
  const fullSpaces: number[] = []
  const running = yield* countCompilingJobsBySpace()
  for (const [key, jobs] of extraJobs) running.set(key, (running.get(key) ?? 0) + jobs)
  for (const [key, jobs] of running) if ((yield* getMaxJobs(context, key)) <= jobs) fullSpaces.push(key)
  for (;;) {
    const spaceKey =
      (yield* findDueSpaceAfter(lastSpace, due, fullSpaces)) ?? (yield* findDueSpaceAfter(0, due, fullSpaces))
    if (spaceKey === undefined) return undefined
    const capacity = (yield* getMaxJobs(context, spaceKey)) - (running.get(spaceKey) ?? 0)
    const work = yield* selectBatch(spaceKey, due, Math.min(MAX_BATCH_JOBS, capacity))
    if (work.length > 0) return { spaceKey, work }
    // documents that a damaged database has lost: the other spaces do not wait for them
    fullSpaces.push(spaceKey)
  }
}

/** Maximum number of parallel jobs of a space, by its quota. */
function* getMaxJobs(context: EngineContext, spaceKey: number): Read<number> {
  const space = yield* findSpaceByKey(spaceKey)
  return space === undefined ? MAX_BATCH_JOBS : getQuotas(context, space).maxActiveJobCount
}

/**
 * Claims a batch of a space, as far as its quota permits. @returns the claimed jobs: others may have been canceled
 * since they were read
 */
export function* claimBatch(
  context: EngineContext,
  spaceKey: number,
  work: readonly CompileWork[],
  extraJobs: ReadonlyMap<number, number> = new Map(),
): Write<CompileWork[]> {
  const busy = (yield* countCompilingJobs(spaceKey)) + (extraJobs.get(spaceKey) ?? 0)
  const capacity = Math.max(0, (yield* getMaxJobs(context, spaceKey)) - busy)
  const selected = work.slice(0, capacity)
  const claimed = yield* claimJobs(
    selected.map(({ job }) => job),
    context.instance,
  )
  const byKey = new Map(claimed.map((job) => [job.key, job]))
  const jobs = selected.flatMap(({ job }) => byKey.get(job.key) ?? [])
  // a newer file may have been received since they were read
  const documents = yield* listJobDocuments(jobs)
  return jobs.flatMap((job, index) => {
    const document = documents[index]
    return document === undefined ? [] : [{ job, document }]
  })
}
