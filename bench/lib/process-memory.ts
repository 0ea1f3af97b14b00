import { readFileSync } from 'node:fs'

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
