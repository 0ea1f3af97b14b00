import { readFileSync } from 'node:fs'
import { omitUndefined } from '../../lib/omit-undefined.js'

/** `/proc` counts processor time in hundredths of a second, whatever the kernel uses. */
const MS_PER_TICK = 10
/**
 * Maximum time that is counted between two samples: in a longer gap the machine slept, or this process could not run.
 */
const MAX_SAMPLE_GAP_MS = 1000
/** Fraction of the time that a process is assumed to use where neither the system nor the process reports it. */
const UNREPORTED_USE_FRACTION = 1 / 5

const NS_PER_MS = 1e6

/** Counters of a process as the system reports them. */
interface ProcessCounters {
  processorMs: number
  /** time in the run queue while other processes had the processors; absent where unknown */
  queuedMs?: number
  /** stopped by a signal or held by a debugger */
  isStopped: boolean
}

/** Usage of a process since the meter was last restarted, in milliseconds. */
interface MeteredUsage {
  processorMs: number
  /** wall time without the time in which the machine slept, or the process was stopped or waited for a processor */
  wallMs: number
}

export interface ProcessMeter {
  /** Call it at regular, short intervals. */
  sample(): MeteredUsage
  /** Receives the processor time since its start that the process itself reports. */
  reportProcessorMs(processorMs: number): void
  /** Restarts counting at the last sample. */
  restart(): void
}

/**
 * Measures what a process uses: its processor time, all threads together, and the wall time in which it could run.
 *
 * Linux reports both: on a machine with ten other busy processes and this one at low priority, minutes pass in which it
 * does nothing. Elsewhere the process reports its processor time while it works, and the time since then is estimated
 * from the clock.
 *
 * @param readCounters replaces the counters of the system in tests, as `now` replaces the clock
 */
export function createMeter(
  pid: number | undefined,
  readCounters = readProcessCounters,
  now = () => performance.now(),
): ProcessMeter {
  let wallMs = 0
  let reportedMs = 0
  let unreportedMs = 0
  let sampledAt = now()
  const computeProcessorMs = (counters: ProcessCounters | undefined): number =>
    counters?.processorMs ?? reportedMs + unreportedMs * UNREPORTED_USE_FRACTION
  // Results arrive every few milliseconds: a restart counts from the sample before.
  const initial = readCounters(pid)
  let sampledProcessorMs = computeProcessorMs(initial)
  let startProcessorMs = sampledProcessorMs
  let queuedMs = initial?.queuedMs ?? 0
  return {
    sample() {
      const counters = readCounters(pid)
      const sampleTime = now()
      const elapsedMs = Math.min(sampleTime - sampledAt, MAX_SAMPLE_GAP_MS)
      sampledAt = sampleTime
      const queued = counters?.queuedMs ?? queuedMs
      if (counters?.isStopped !== true) wallMs += Math.max(0, elapsedMs - (queued - queuedMs))
      queuedMs = queued
      unreportedMs += elapsedMs
      sampledProcessorMs = computeProcessorMs(counters)
      return { processorMs: sampledProcessorMs - startProcessorMs, wallMs }
    },
    reportProcessorMs(processorMs) {
      reportedMs = Math.max(reportedMs, processorMs)
      unreportedMs = 0
      sampledProcessorMs = Math.max(sampledProcessorMs, reportedMs)
    },
    restart() {
      startProcessorMs = sampledProcessorMs
      wallMs = 0
    },
  }
}

/** Counters of a process since its start. Linux only; `undefined` elsewhere, or when the process is gone. */
function readProcessCounters(pid: number | undefined): ProcessCounters | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined
  try {
    // The name may contain anything; after it, the state is field 3, user and system time are fields 14 and 15.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    const isStopped = fields[0] === 'T' || fields[0] === 't'
    return { processorMs: ticks * MS_PER_TICK, isStopped, ...omitUndefined({ queuedMs: readQueuedMs(pid) }) }
  } catch {
    return undefined
  }
}

/** Time that the main thread of a process, which does the reading, has waited for a processor. */
function readQueuedMs(pid: number): number | undefined {
  try {
    // nanoseconds on a processor, nanoseconds in the run queue, time slices
    const queued = Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1])
    return Number.isFinite(queued) ? queued / NS_PER_MS : undefined
  } catch {
    // The kernel does not keep these statistics.
    return undefined
  }
}
