import { readFileSync } from 'node:fs'

/** Resident memory of a process. Linux only; elsewhere this is 0, so that no limit on it holds. */
export function residentBytes(pid: number | undefined): number {
  if (process.platform !== 'linux' || pid === undefined) return 0
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return Number(kib ?? 0) * 1024
  } catch {
    return 0
  }
}
