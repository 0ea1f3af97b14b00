import { statSync } from 'node:fs'
import type { CompileListeners, CompileRequest, CompileResult, ContainedSink } from '../store/compiled.js'
import type { BatchOutcome } from './run-batch.js'
import { getFileEnding } from './sniff.js'

/** Maximum size of a text file that shares a batch. */
const MAX_SHARED_FILE_BYTES = 64 * 1024
/** Formats of larger libraries are read alone whatever their size, so that a crash has one cause. */
const UNSHARED_ENDINGS = new Set(
  'png jpg jpeg gif bmp webp tif tiff pdf docx docm dotx dotm doc xlsx xlsm xlsb xltx xls pptx pptm ppsx potx odt ott ods odp epub rtf msg zip tar gz tgz mbox'.split(
    ' ',
  ),
)
/**
 * Processes that may die while they read one file alone: the cause may be external, such as a system short of memory.
 */
const MAX_DEATHS_PER_FILE = 3

/** The files of one `compile` call and the state of their reading. */
export interface CompileJob {
  requests: CompileRequest[]
  containedSink: ContainedSink | undefined
  results: (CompileResult | undefined)[]
  /** first request that is in no batch yet */
  cursor: number
  /** indexes of requests that are read again alone because their batch failed */
  retryIndexes: number[]
  /** number of processes that died while they read a request alone, by its index */
  deaths: Map<number, number>
  /** indexes of requests that exceeded their time or memory and are read once more in a fresh process */
  overLimit: Set<number>
  onProgress: NonNullable<CompileListeners['onProgress']>
  openCount: number
  settled: boolean
  settle(error?: unknown): void
}

/** A sink that translates indexes of a batch to indexes of the job. */
export function createBatchSink({ containedSink }: CompileJob, batch: readonly number[]): ContainedSink | undefined {
  if (containedSink === undefined) return undefined
  for (const jobIndex of batch) containedSink.begin(jobIndex)
  const toJobIndex = (index: number) => batch[index] ?? -1
  return {
    begin: (index) => containedSink.begin(toJobIndex(index)),
    write: (index, bytes) => containedSink.write(toJobIndex(index), bytes),
    end: (index, kept) => containedSink.end(toJobIndex(index), kept),
  }
}

/**
 * Whether a file that was read alone is read once more; counts the attempt. Earlier files may have affected its
 * process, and the process may have died for an external reason.
 *
 * @param attempt `wasFresh`: its process had read nothing before
 */
export function shouldRetry(
  { deaths, overLimit }: CompileJob,
  index: number,
  { outcome, wasFresh }: { outcome: BatchOutcome; wasFresh: boolean },
): boolean {
  if (outcome.end !== 'died') return !wasFresh && overLimit.size < overLimit.add(index).size
  const count = (deaths.get(index) ?? 0) + 1
  deaths.set(index, count)
  return count < MAX_DEATHS_PER_FILE
}

export function hasWork(job: CompileJob): boolean {
  return !job.settled && (job.retryIndexes.length > 0 || job.cursor < job.requests.length)
}

export function recordResult(job: CompileJob, index: number | undefined, result: CompileResult): void {
  if (index === undefined || job.results[index] !== undefined) return
  job.results[index] = result
  job.openCount--
  if (job.openCount === 0) job.settle()
}

/** Size in bytes of a file that may share a batch; `undefined` for a file that is read alone. */
export function getSharedSize(request: CompileRequest): number | undefined {
  if (UNSHARED_ENDINGS.has(getFileEnding(request.filename))) return undefined
  const size = statSync(request.path, { throwIfNoEntry: false })?.size ?? 0
  return size <= MAX_SHARED_FILE_BYTES ? size : undefined
}
