import { readFileSync } from 'node:fs'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import { warnOfSkew } from '../cli/version-skew.js'
import { isRecord } from '../lib/json/values.js'
import { localDirs } from '../local/dirs.js'

/** The version of this program, from its package.json. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return isRecord(manifest) ? String(manifest.version) : ''
}

/** Warns once a day if the service has another minor version. @param theirs version of the service, if known */
export function compareVersions(theirs: string | undefined): void {
  if (theirs === undefined) return
  const ours = version()
  if (minor(ours) === minor(theirs)) return
  const warn = (text: string) => void writeErr(`${tty(text)}\n`)
  warnOfSkew({ program: 'kchat', stateDir: localDirs().state, ours, theirs, warn })
}

function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}
