import { readFileSync } from 'node:fs'
import { defined } from '../../lib/defined.js'

/** `/proc` counts processor time in hundredths of a second, whatever the kernel uses. */
const MS_PER_TICK = 10
/**
 * Maximum time that is counted between two samples: in a longer gap the machine slept, or this process could not run.
 */
const LONGEST_LOOK_MS = 1000
/** Fraction of the time that a process is assumed to use where neither the system nor the process reports it. */
const SILENT_SHARE = 1 / 5

const NS_PER_MS = 1e6

/** Counters of a process as the system reports them. */
interface Use {
  processorMs: number
  /** time in the run queue while other processes had the processors; absent where unknown */
  queuedMs?: number
  /** stopped by a signal or held by a debugger */
  isStopped: boolean
}

/** Usage of a process since the meter was last restarted, in milliseconds. */
interface Spent {
  processorMs: number
  /** wall time without the time in which the machine slept, or the process was stopped or waited for a processor */
  wallMs: number
}

export interface Meter {
  /** Call it at regular, short intervals. */
  look(): Spent
  /** Receives the processor time since its start that the process itself reports. */
  told(processorMs: number): void
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
export function meterOf(pid: number | undefined, use = useOf, now = () => performance.now()): Meter {
  let wallMs = 0
  let toldMs = 0
  let silentMs = 0
  let lookedAt = now()
  const used = (known: Use | undefined): number => known?.processorMs ?? toldMs + silentMs * SILENT_SHARE
  // Results arrive every few milliseconds: a restart counts from the sample before.
  const first = use(pid)
  let lookedUsed = used(first)
  let begun = lookedUsed
  let queuedMs = first?.queuedMs ?? 0
  return {
    look() {
      const known = use(pid)
      const at = now()
      const passed = Math.min(at - lookedAt, LONGEST_LOOK_MS)
      lookedAt = at
      const queued = known?.queuedMs ?? queuedMs
      if (known?.isStopped !== true) wallMs += Math.max(0, passed - (queued - queuedMs))
      queuedMs = queued
      silentMs += passed
      lookedUsed = used(known)
      return { processorMs: lookedUsed - begun, wallMs }
    },
    told(processorMs) {
      toldMs = Math.max(toldMs, processorMs)
      silentMs = 0
      lookedUsed = Math.max(lookedUsed, toldMs)
    },
    restart() {
      begun = lookedUsed
      wallMs = 0
    },
  }
}

/** Counters of a process since its start. Linux only; `undefined` elsewhere, or when the process is gone. */
function useOf(pid: number | undefined): Use | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined
  try {
    // The name may contain anything; after it, the state is field 3, user and system time are fields 14 and 15.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    const isStopped = fields[0] === 'T' || fields[0] === 't'
    return { processorMs: ticks * MS_PER_TICK, isStopped, ...defined({ queuedMs: queuedMsOf(pid) }) }
  } catch {
    return undefined
  }
}

/** Time that the main thread of a process, which does the reading, has waited for a processor. */
function queuedMsOf(pid: number): number | undefined {
  try {
    // nanoseconds on a processor, nanoseconds in the run queue, time slices
    const queued = Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1])
    return Number.isFinite(queued) ? queued / NS_PER_MS : undefined
  } catch {
    // The kernel does not keep these statistics.
    return undefined
  }
}
