import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readIfExists } from '../local/private-file.js'

/** Ids that were shown as `#tail`, one a line, newest last: a cache that may be deleted at any time. */

const KEPT = 2000

function pathOf(cacheDir: string): string {
  return join(cacheDir, 'recent-ids')
}

/** Appends ids; ignores failures. */
export function rememberIds(cacheDir: string, ids: Iterable<string>): void {
  const lines = [...ids].map((id) => `${id}\n`)
  if (lines.length === 0) return
  try {
    const path = pathOf(cacheDir)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    appendFileSync(path, lines.join(''), { mode: 0o600 })
    const all = readFileSync(path, 'utf8').split('\n').filter(Boolean)
    if (all.length > 2 * KEPT) writeFileSync(path, `${[...new Set(all.slice(-KEPT))].join('\n')}\n`)
  } catch {
    // The next command then needs the full id.
  }
}

/** Recent ids that end in these hex digits. */
export function recallIds(cacheDir: string, tail: string): string[] {
  const ids = (readIfExists(pathOf(cacheDir)) ?? '').split('\n').filter((id) => endsIn(id, tail))
  return [...new Set(ids)]
}

export function endsIn(id: string, tail: string): boolean {
  return id !== '' && id.replaceAll('-', '').endsWith(tail)
}
