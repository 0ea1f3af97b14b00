import { readdirSync, readFileSync } from 'node:fs'

/** Whether a process runs whose command line contains a text. A zombie has no command line. */
export function isRunning(text: string): boolean {
  return readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)
    } catch {
      return false // it has ended
    }
  })
}
