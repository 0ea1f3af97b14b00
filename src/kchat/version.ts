import { readFileSync } from 'node:fs'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import { warnAboutVersionSkew } from '../cli/version-skew.js'
import { isRecord } from '../lib/json/values.js'
import { resolveLocalDirs } from '../local/dirs.js'

/** The version of this program, from its package.json. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return isRecord(manifest) ? String(manifest.version) : ''
}

/** Warns once a day if the service has another minor version. @param theirs version of the service, if known */
export function warnIfVersionsDiffer(serviceVersion: string | undefined): void {
  if (serviceVersion === undefined) return
  const ownVersion = readVersion()
  if (toMinorVersion(ownVersion) === toMinorVersion(serviceVersion)) return
  const warn = (text: string) => void writeErr(`${tty(text)}\n`)
  warnAboutVersionSkew({
    program: 'kchat',
    stateDir: resolveLocalDirs().state,
    ours: ownVersion,
    theirs: serviceVersion,
    warn,
  })
}

function toMinorVersion(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}
