import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readIfExists } from '../local/private-file.js'

/** Ids that were shown as `#tail`, one a line, newest last: a cache that may be deleted at any time. */

const MAX_RECENT_IDS = 2000

function getPath(cacheDir: string): string {
  return join(cacheDir, 'recent-ids')
}

/** Appends ids; ignores failures. */
export function saveRecentIds(cacheDir: string, ids: Iterable<string>): void {
  const lines = [...ids].map((id) => `${id}\n`)
  if (lines.length === 0) return
  try {
    const path = getPath(cacheDir)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    appendFileSync(path, lines.join(''), { mode: 0o600 })
    const all = readFileSync(path, 'utf8').split('\n').filter(Boolean)
    if (all.length > 2 * MAX_RECENT_IDS) writeFileSync(path, `${[...new Set(all.slice(-MAX_RECENT_IDS))].join('\n')}\n`)
  } catch {
    // The next command then needs the full id.
  }
}

/** Recent ids that end in these hex digits. */
export function findRecentIds(cacheDir: string, tail: string): string[] {
  const ids = (readIfExists(getPath(cacheDir)) ?? '').split('\n').filter((id) => hasIdTail(id, tail))
  return [...new Set(ids)]
}

export function hasIdTail(id: string, tail: string): boolean {
  return id !== '' && id.replaceAll('-', '').endsWith(tail)
}
