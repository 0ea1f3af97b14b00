import { readdirSync, readFileSync } from 'node:fs'

/** Stands in the environment of a converter and of all that it starts, however they leave its group. */
export const MARK = 'KS_CONVERSION'

export interface Member {
  pid: number
  residentBytes: number
}

/** The processes of one conversion. Linux only; elsewhere none is found. */
export function membersOf(mark: string): Member[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`)) return []
      const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${name}/status`, 'latin1'))?.[1]
      return [{ pid: Number(name), residentBytes: Number(kib ?? 0) * 1024 }]
    } catch {
      return [] // of somebody else, or gone
    }
  })
}
