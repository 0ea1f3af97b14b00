import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

/** Units of processor time in /proc (USER_HZ, fixed by the kernel's interface). */
const TICKS_PER_SECOND = 100
/** Reading processes live for seconds. */
const SAMPLE_MS = 200

/** Reads the resident memory of a process in bytes, current or peak; 0 if it is gone. */
export function readMemory(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readProcFile(pid, 'status'))?.[1] ?? 0) * 1024
}

/** Reads its memory with each shared page divided by the number of processes that share it. */
export function readSharedMemory(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readProcFile(pid, 'smaps_rollup'))?.[1] ?? 0) * 1024
}

/** Reads the processor time of a process and its descendants. */
export function readProcessorMs(pid: number): number {
  const fields = readStatFields(pid)
  const own = ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1000) / TICKS_PER_SECOND
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && readStatFields(Number(name))[1] === String(pid),
  )
  return children.reduce((sum, child) => sum + readProcessorMs(Number(child)), own)
}

/** Reads the fields of `stat` after the name: state, parent …; none if the process is gone. */
function readStatFields(pid: number): string[] {
  return readProcFile(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
}

function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** Measures the peak memory of the daemon's processes during some work, in bytes; processes of one kind are summed. */
export async function measurePeaks<T>(client: Client, work: () => Promise<T>): Promise<[T, Peaks]> {
  const peaks: Peaks = { daemon: 0, index: 0, parser: 0, watcher: 0 }
  const controller = new AbortController()
  const sampling = (async () => {
    while (!controller.signal.aborted) {
      const { processes = [] } = await client.request('GET /daemon/status', {})
      const current: Peaks = { daemon: 0, index: 0, parser: 0, watcher: 0 }
      for (const { role, peakRss } of processes) current[role] += peakRss
      for (const { role } of processes) peaks[role] = Math.max(peaks[role], current[role])
      await sleep(SAMPLE_MS, undefined, { signal: controller.signal }).catch(() => undefined)
    }
  })()
  try {
    return [await work(), peaks]
  } finally {
    controller.abort()
    await sampling
  }
}

export type Peaks = Record<'daemon' | 'index' | 'parser' | 'watcher', number>

/** Alignment of a thread's arena in glibc. */
const ARENA_ALIGNMENT = 64n * 1024n * 1024n
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) *(.*)$/

/**
 * Reads the resident memory of the C library's allocator in bytes, without allocations in separate mappings (128 KB and
 * more). Undefined where the kernel does not report it.
 */
export function readMallocResident(pid: number): { main: number; arenas: number } | undefined {
  try {
    const found = { main: 0, arenas: 0 }
    let part: keyof typeof found | undefined
    let arenaEnd = 0n
    for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
      const mapping = MAPPING.exec(line)
      if (mapping !== null) {
        const [, start = '0', end = '0', inode, name] = mapping
        const startAddress = BigInt(`0x${start}`)
        // the used part of an arena starts at its alignment; the rest follows, without access rights
        const isArena =
          inode === '0' && name === '' && (startAddress % ARENA_ALIGNMENT === 0n || startAddress === arenaEnd)
        if (isArena) arenaEnd = BigInt(`0x${end}`)
        part = name === '[heap]' ? 'main' : isArena ? 'arenas' : undefined
      }
      const resident = /^Rss:\s+(\d+) kB$/.exec(line)?.[1]
      if (part !== undefined && resident !== undefined) found[part] += Number(resident) * 1024
    }
    return found
  } catch {
    return undefined
  }
}
