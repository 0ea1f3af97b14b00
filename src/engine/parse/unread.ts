import type { CompileFailure, ReadingProgress } from './compiled.js'
import { bytesInWords, type ReadLimits } from './limits.js'
import type { BatchEnd } from './run-batch.js'

/** Why a file was not read by a process that is gone: what it needed, and how far it came. */
export function unread(filename: string, ended: BatchEnd, limits: ReadLimits): CompileFailure {
  if (ended.end === 'timeout') {
    const [ms, what] =
      ended.of === 'processor' ? [limits.processorMs, 'of processor time to read'] : [limits.wallMs, 'to read']
    const seconds = (ms / 1000).toLocaleString('en-US')
    return { code: 'timeout', message: `${filename} needed more than ${seconds} s ${what}${where(ended.reached)}` }
  }
  if (ended.end === 'memory') {
    const limit = bytesInWords(limits.memoryBytes)
    const message = `${filename} needed more than ${limit} of memory to read${where(ended.reached)}`
    return { code: 'limit-exceeded', message }
  }
  const detail = ended.end === 'died' ? ` (${ended.detail})` : ''
  return { code: 'crashed', message: `${filename} made the reading process end${detail}` }
}

function where(reached: { progress: ReadingProgress } | undefined): string {
  return reached === undefined ? '' : ` (it was at ${progressInWords(reached.progress)})`
}

/** `page 120 of 872` */
function progressInWords({ unit, at, total }: ReadingProgress): string {
  const of = total === undefined ? '' : ` of ${total.toLocaleString('en-US')}`
  return `${unit} ${at.toLocaleString('en-US')}${of}`
}
