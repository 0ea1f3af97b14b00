import { readFileSync } from 'node:fs'

/** The version of this program, from its package.json. */
export function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : ''
  return String(version)
}
