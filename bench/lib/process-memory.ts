import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

/** Units of processor time in /proc (USER_HZ, fixed by the kernel's interface). */
const TICKS_PER_SECOND = 100
/** Processes that read documents live for seconds. */
const SAMPLE_MS = 200

/** Memory of a process in bytes: what it holds now, or the most that it ever held. 0 when it is gone. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(procFile(pid, 'status'))?.[1] ?? 0) * 1024
}

/** The same with each shared page divided by the number of processes that share it. */
export function sharedMemoryOf(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(procFile(pid, 'smaps_rollup'))?.[1] ?? 0) * 1024
}

/** Processor time so far of a process and all below it, in milliseconds. */
export function processorMs(pid: number): number {
  const fields = statOf(pid)
  const own = ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1000) / TICKS_PER_SECOND
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(Number(name))[1] === String(pid))
  return children.reduce((sum, child) => sum + processorMs(Number(child)), own)
}

/** Fields of a process's `stat` after its name: state, parent …; none when it is gone. */
function statOf(pid: number): string[] {
  return procFile(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** Does something, and tells the most that a daemon's processes of each kind held meanwhile, together, in bytes. */
export async function withPeaks<T>(client: Client, work: () => Promise<T>): Promise<[T, Peaks]> {
  const peaks: Peaks = { daemon: 0, index: 0, parser: 0, watcher: 0 }
  const over = new AbortController()
  const sampling = (async () => {
    while (!over.signal.aborted) {
      const { processes = [] } = await client.request('GET /daemon/status', {})
      const now: Peaks = { daemon: 0, index: 0, parser: 0, watcher: 0 }
      for (const { role, peakRss } of processes) now[role] += peakRss
      for (const { role } of processes) peaks[role] = Math.max(peaks[role], now[role])
      await sleep(SAMPLE_MS, undefined, { signal: over.signal }).catch(() => undefined)
    }
  })()
  try {
    return [await work(), peaks]
  } finally {
    over.abort()
    await sampling
  }
}

export type Peaks = Record<'daemon' | 'index' | 'parser' | 'watcher', number>

/** Addresses at which glibc lays out an arena of a thread. */
const ARENA_ALIGNMENT = 64n * 1024n * 1024n
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) *(.*)$/

/**
 * Resident memory of the C library's allocator in a process, in bytes: of its main heap and of the arenas of threads.
 * What lies in mappings of their own (128 KB and more) is not in it. Undefined where the kernel does not tell.
 */
export function mallocResident(pid: number): { main: number; arenas: number } | undefined {
  try {
    const found = { main: 0, arenas: 0 }
    let part: keyof typeof found | undefined
    let arenaEnd = 0n
    for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
      const mapping = MAPPING.exec(line)
      if (mapping !== null) {
        const [, start = '0', end = '0', inode, name] = mapping
        const from = BigInt(`0x${start}`)
        // the used part of an arena begins at its alignment, the rest of it follows without rights
        const isArena = inode === '0' && name === '' && (from % ARENA_ALIGNMENT === 0n || from === arenaEnd)
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
