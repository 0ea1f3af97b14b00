import { readFileSync } from 'node:fs'

/** Resident memory of a process, in bytes. On systems other than Linux the result is 0, so that no limit applies. */
export function readResidentBytes(pid: number | undefined): number {
  if (process.platform !== 'linux' || pid === undefined) return 0
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return Number(kib ?? 0) * 1024
  } catch {
    return 0
  }
}
