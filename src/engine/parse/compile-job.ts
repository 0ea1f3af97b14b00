import { statSync } from 'node:fs'
import type { CompileListeners, CompileRequest, CompileResult, ContainedSink } from './compiled.js'
import type { BatchEnd } from './run-batch.js'
import { endingOf } from './sniff.js'

/** Maximum size of a text file that shares a batch. */
const SMALL_FILE = 64 * 1024
/** Formats of larger libraries are read alone whatever their size, so that a crash has one cause. */
const ALONE = new Set(
  'png jpg jpeg gif bmp webp tif tiff pdf docx docm dotx dotm doc xlsx xlsm xlsb xltx xls pptx pptm ppsx potx odt ott ods odp epub rtf msg zip tar gz tgz mbox'.split(
    ' ',
  ),
)
/**
 * Processes that may die while they read one file alone: the cause may be external, such as a system short of memory.
 */
const DEATHS_OF_ONE = 3

/** The files of one `compile` call and the state of their reading. */
export interface Job {
  requests: CompileRequest[]
  inside: ContainedSink | undefined
  results: (CompileResult | undefined)[]
  /** first request that is in no batch yet */
  cursor: number
  /** indexes of requests that are read again alone because their batch failed */
  again: number[]
  /** number of processes that died while they read a request alone, by its index */
  deaths: Map<number, number>
  /** indexes of requests that exceeded their time or memory and are read once more in a fresh process */
  ranOut: Set<number>
  onProgress: NonNullable<CompileListeners['onProgress']>
  open: number
  settled: boolean
  settle(error?: unknown): void
}

/** A sink that translates indexes of a batch to indexes of the job. */
export function sinkFor({ inside }: Job, batch: readonly number[]): ContainedSink | undefined {
  if (inside === undefined) return undefined
  for (const place of batch) inside.begin(place)
  const of = (index: number) => batch[index] ?? -1
  return {
    begin: (index) => inside.begin(of(index)),
    piece: (index, bytes) => inside.piece(of(index), bytes),
    end: (index, kept) => inside.end(of(index), kept),
  }
}

/**
 * Whether a file that was read alone is read once more; counts the attempt. Earlier files may have affected its
 * process, and the process may have died for an external reason.
 *
 * @param wasFresh whether its process had read nothing before
 */
export function mayBeReadAgain({ deaths, ranOut }: Job, index: number, ended: BatchEnd, wasFresh: boolean): boolean {
  if (ended.end !== 'died') return !wasFresh && ranOut.size < ranOut.add(index).size
  const count = (deaths.get(index) ?? 0) + 1
  deaths.set(index, count)
  return count < DEATHS_OF_ONE
}

export function hasWork(job: Job): boolean {
  return !job.settled && (job.again.length > 0 || job.cursor < job.requests.length)
}

export function record(job: Job, index: number | undefined, result: CompileResult): void {
  if (index === undefined || job.results[index] !== undefined) return
  job.results[index] = result
  job.open--
  if (job.open === 0) job.settle()
}

/** Size in bytes of a file that may share a batch; `undefined` for a file that is read alone. */
export function sharedSize(request: CompileRequest): number | undefined {
  if (ALONE.has(endingOf(request.filename))) return undefined
  const size = statSync(request.path, { throwIfNoEntry: false })?.size ?? 0
  return size <= SMALL_FILE ? size : undefined
}
