import type { CompileFailure, ReadingProgress } from '../store/compiled.js'
import { formatByteCount, type ReadLimits } from './limits.js'
import type { BatchOutcome, ProcessUsage } from './run-batch.js'

type LimitOutcome = Extract<BatchOutcome, { end: 'timeout' | 'memory' }>

/**
 * Why a file was not read by a process that is gone: the limit it exceeded, with the progress so far, or how the
 * process ended.
 */
export function toReadFailure(filename: string, outcome: BatchOutcome, limits: ReadLimits): CompileFailure {
  if (outcome.end === 'timeout') {
    const [ms, time] =
      outcome.clock === 'processor' ? [limits.processorMs, 'of processor time to read'] : [limits.wallMs, 'to read']
    return {
      code: 'timeout',
      message: `${filename} needed more than ${formatSeconds(ms)} s ${time}${formatProgressSoFar(outcome)}`,
    }
  }
  if (outcome.end === 'memory') {
    const limit = formatByteCount(limits.memoryBytes)
    const message = `${filename} needed more than ${limit} of memory to read${formatProgressSoFar(outcome)}`
    return { code: 'limit-exceeded', message }
  }
  const detail = outcome.end === 'died' ? ` (${outcome.detail})` : ''
  return { code: 'crashed', message: `${filename} made the reading process end${detail}` }
}

/** ` (it was at page 120 of 872 after 120.1 s of processor time, with 345 MiB of memory)` */
function formatProgressSoFar({ reached, used }: LimitOutcome): string {
  const position = reached === undefined ? '' : `it was at ${formatProgress(reached.progress)} after `
  return ` (${position}${formatUsage(used)})`
}

function formatUsage({ processorMs, memoryBytes }: ProcessUsage): string {
  const time = `${formatSeconds(processorMs)} s of processor time`
  // Some systems do not report memory.
  return memoryBytes === 0 ? time : `${time}, with ${formatByteCount(memoryBytes)} of memory`
}

function formatSeconds(ms: number): string {
  return (ms / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })
}

/** `page 120 of 872` */
function formatProgress({ unit, at, total }: ReadingProgress): string {
  const suffix = total === undefined ? '' : ` of ${total.toLocaleString('en-US')}`
  return `${unit} ${at.toLocaleString('en-US')}${suffix}`
}
