import { readFileSync } from 'node:fs'
import { defined } from '../../lib/defined.js'

/** `/proc` counts processor time in hundredths of a second, whatever the kernel does. */
const MS_PER_TICK = 10
/** Between two looks that are further apart the whole machine slept, or this process could not run. */
const LONGEST_LOOK_MS = 1000
/** Where the system does not tell what a process uses, a silent one is taken to use this share of the time. */
const SILENT_SHARE = 1 / 5

const NS_PER_MS = 1e6

/** What the system tells of a process. */
interface Use {
  processorMs: number
  /** how long it has stood ready while others had the processors; absent where nobody tells */
  queuedMs?: number
  /** it was stopped by a signal, or is held by a debugger */
  isStopped: boolean
}

/** What a process has used since it was last asked to begin anew, in milliseconds. */
interface Spent {
  processorMs: number
  /** on the clock, without the time in which the machine slept, the process was stopped or others had the processors */
  wallMs: number
}

export interface Meter {
  /** To be called at regular, short intervals. */
  look(): Spent
  /** What the process itself said that it has used since its start. */
  told(processorMs: number): void
  /** Counts from the last look on. */
  restart(): void
}

/**
 * Counts what a process uses: its processor time, all threads together, and the time in which it could have run.
 *
 * Linux tells both: on a machine with ten others that want its processors, and this one polite to them, minutes pass in which it
 * does nothing. Elsewhere the process tells the first while it works, and the clock stands for what it did not tell.
 *
 * @param use and now in place of the system's, for tests
 */
export function meterOf(pid: number | undefined, use = useOf, now = () => performance.now()): Meter {
  let wallMs = 0
  let toldMs = 0
  let silentMs = 0
  let lookedAt = now()
  const used = (known: Use | undefined): number => known?.processorMs ?? toldMs + silentMs * SILENT_SHARE
  // a result comes every few milliseconds: what counts from there on is told by the look before it
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

/** What a process has used since its start. Linux only; nothing elsewhere, or when it is gone. */
function useOf(pid: number | undefined): Use | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined
  try {
    // behind the name, which may hold anything: the state is field 3, the times in user and system mode are 14 and 15
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    const isStopped = fields[0] === 'T' || fields[0] === 't'
    return { processorMs: ticks * MS_PER_TICK, isStopped, ...defined({ queuedMs: queuedMsOf(pid) }) }
  } catch {
    return undefined
  }
}

/** How long the first thread of a process, which is the one that reads, has waited for a processor. */
function queuedMsOf(pid: number): number | undefined {
  try {
    // nanoseconds on a processor, nanoseconds in the queue for one, turns
    const queued = Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1])
    return Number.isFinite(queued) ? queued / NS_PER_MS : undefined
  } catch {
    // a kernel that keeps no such account
    return undefined
  }
}
