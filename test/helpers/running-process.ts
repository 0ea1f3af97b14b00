import { readdirSync, readFileSync } from 'node:fs'

/** Whether a process runs with this text in its command line. A zombie has no command line. */
export function isRunning(text: string): boolean {
  return readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)
    } catch {
      return false // It has ended.
    }
  })
}
