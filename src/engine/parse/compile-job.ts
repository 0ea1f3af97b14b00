import { statSync } from 'node:fs'
import type { CompileListeners, CompileRequest, CompileResult, ContainedSink } from './compiled.js'
import type { BatchEnd } from './run-batch.js'
import { endingOf } from './sniff.js'

/** Small text files travel together: bytes of one at most. */
const SMALL_FILE = 64 * 1024
/** Formats that are parsed by larger libraries go alone, whatever their size, so that a crash has one cause. */
const ALONE = new Set(
  'png jpg jpeg gif bmp webp tif tiff pdf docx docm dotx dotm doc xlsx xlsm xlsb xltx xls pptx pptm ppsx potx odt ott ods odp epub rtf msg zip tar gz tgz mbox'.split(
    ' ',
  ),
)
/** of processes that read one file and no other: some may be the doing of somebody else, such as a system short of memory */
const DEATHS_OF_ONE = 3

/** Files that somebody waits for together, and how far they are. */
export interface Job {
  requests: CompileRequest[]
  inside: ContainedSink | undefined
  results: (CompileResult | undefined)[]
  /** first request that no batch holds yet */
  cursor: number
  /** requests to be tried again, each alone, because their batch went down */
  again: number[]
  /** processes that ended while they read one request alone, by its index */
  deaths: Map<number, number>
  /** requests that ran out of time or memory and are read once more, in a process that reads nothing else */
  ranOut: Set<number>
  onProgress: NonNullable<CompileListeners['onProgress']>
  open: number
  settled: boolean
  settle(error?: unknown): void
}

/** Names the files of a batch by their places in the job. */
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
 * Whether a file is read once more that was read alone: it may have met what others left in the process, and its process may
 * have died by somebody else's doing.
 *
 * @param wasFresh whether its process had read nothing else
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

/** Bytes of a file that may travel with others; nothing for one that goes alone. */
export function sharedSize(request: CompileRequest): number | undefined {
  if (ALONE.has(endingOf(request.filename))) return undefined
  const size = statSync(request.path, { throwIfNoEntry: false })?.size ?? 0
  return size <= SMALL_FILE ? size : undefined
}
