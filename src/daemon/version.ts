import { readFileSync } from 'node:fs'
import { isRecord } from '../lib/json/values.js'

/** The version of this program, from its package.json. */
export function readProgramVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const version = isRecord(manifest) ? (manifest.version ?? '') : ''
  return String(version)
}
