import { readFileSync } from 'node:fs'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import { warnAboutVersionSkew } from '../cli/version-skew.js'
import { isRecord } from '../lib/json/values.js'
import { resolveLocalDirs } from '../local/dirs.js'

/** Reads the version of this program from its package.json. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return isRecord(manifest) ? String(manifest.version) : ''
}

/** Warns once a day if the service has another minor version. @param serviceVersion undefined if unknown */
export function warnIfVersionsDiffer(serviceVersion: string | undefined): void {
  if (serviceVersion === undefined) return
  const ownVersion = readVersion()
  if (toMinorVersion(ownVersion) === toMinorVersion(serviceVersion)) return
  warnAboutVersionSkew({
    program: 'kchat',
    stateDir: resolveLocalDirs().state,
    ownVersion,
    serviceVersion,
    warn: (text) => writeErr(`${tty(text)}\n`),
  })
}

function toMinorVersion(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}
