import type { CompileFailure, ReadingProgress } from './compiled.js'
import { bytesInWords, type ReadLimits } from './limits.js'
import type { BatchEnd, Used } from './run-batch.js'

type RanOut = Extract<BatchEnd, { end: 'timeout' | 'memory' }>

/**
 * Why a file was not read by a process that is gone: the limit it exceeded, with the progress so far, or how the
 * process ended.
 */
export function unread(filename: string, ended: BatchEnd, limits: ReadLimits): CompileFailure {
  if (ended.end === 'timeout') {
    const [ms, what] =
      ended.of === 'processor' ? [limits.processorMs, 'of processor time to read'] : [limits.wallMs, 'to read']
    return { code: 'timeout', message: `${filename} needed more than ${seconds(ms)} s ${what}${soFar(ended)}` }
  }
  if (ended.end === 'memory') {
    const limit = bytesInWords(limits.memoryBytes)
    const message = `${filename} needed more than ${limit} of memory to read${soFar(ended)}`
    return { code: 'limit-exceeded', message }
  }
  const detail = ended.end === 'died' ? ` (${ended.detail})` : ''
  return { code: 'crashed', message: `${filename} made the reading process end${detail}` }
}

/** ` (it was at page 120 of 872 after 120.1 s of processor time, with 345 MiB of memory)` */
function soFar({ reached, used }: RanOut): string {
  const place = reached === undefined ? '' : `it was at ${progressInWords(reached.progress)} after `
  return ` (${place}${usedInWords(used)})`
}

function usedInWords({ processorMs, memoryBytes }: Used): string {
  const time = `${seconds(processorMs)} s of processor time`
  // Some systems do not report memory.
  return memoryBytes === 0 ? time : `${time}, with ${bytesInWords(memoryBytes)} of memory`
}

function seconds(ms: number): string {
  return (ms / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })
}

/** `page 120 of 872` */
function progressInWords({ unit, at, total }: ReadingProgress): string {
  const of = total === undefined ? '' : ` of ${total.toLocaleString('en-US')}`
  return `${unit} ${at.toLocaleString('en-US')}${of}`
}
