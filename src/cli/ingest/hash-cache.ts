import { createHash } from 'node:crypto'
import { type BigIntStats, createReadStream, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRecord } from '../../lib/json/values.js'
import { openInside, readInside } from '../../local/open-inside.js'

/** File metadata at the time of hashing: size in bytes, times in nanoseconds as text, SHA-256 in hex. */
type HashCacheEntry = [size: number, mtimeNs: string, ctimeNs: string, sha256: string]

const CACHE_VERSION = 1
/** A change within the same tick of the file system's clock does not change the times: such entries are not stored. */
const CLOCK_TICK_MS = 100
/** Larger files are hashed in chunks, so that the terminal stays responsive. */
const MAX_SINGLE_READ_BYTES = 1024 * 1024

/**
 * Hashes of ingested files, so that a second run does not read unchanged files. Only a cache: the service decides by
 * hash what is unchanged.
 */
export class HashCache {
  readonly path: string
  private readonly entries: Map<string, HashCacheEntry>
  private readonly newEntries = new Map<string, HashCacheEntry>()

  constructor(stateDir: string, key: string) {
    this.path = join(stateDir, 'ingest', `${createHash('sha256').update(key).digest('hex').slice(0, 16)}.json`)
    this.entries = readEntries(this.path)
  }

  /** The file's SHA-256, if it has not changed since it was hashed. */
  find(path: string, stats: BigIntStats): string | undefined {
    const entry = this.entries.get(path)
    if (entry === undefined) return undefined
    const [size, mtimeNs, ctimeNs, sha256] = entry
    const isSame = size === Number(stats.size) && mtimeNs === String(stats.mtimeNs) && ctimeNs === String(stats.ctimeNs)
    return isSame ? sha256 : undefined
  }

  /** Stores a hash computed at `hashedAt` (milliseconds since the epoch). */
  add(path: string, stats: BigIntStats, sha256: string, hashedAt: number): void {
    if (hashedAt - Number(stats.mtimeMs) < CLOCK_TICK_MS || hashedAt - Number(stats.ctimeMs) < CLOCK_TICK_MS) return
    this.newEntries.set(path, [Number(stats.size), String(stats.mtimeNs), String(stats.ctimeNs), sha256])
  }

  /** Writes the cache if it changed; ignores failures, since the cache only saves time. */
  save(): void {
    if (this.newEntries.size === 0) return
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      const files = Object.fromEntries([...this.entries, ...this.newEntries])
      const temporary = `${this.path}.${process.pid}.tmp`
      writeFileSync(temporary, JSON.stringify({ version: CACHE_VERSION, files }), { mode: 0o600 })
      renameSync(temporary, this.path)
    } catch {
      // The next run computes the hashes again.
    }
  }
}

function readEntries(path: string): Map<string, HashCacheEntry> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isRecord(value) || value.version !== CACHE_VERSION || !isRecord(value.files)) return new Map()
    return new Map(Object.entries(value.files).flatMap(([name, entry]) => (isEntry(entry) ? [[name, entry]] : [])))
  } catch {
    return new Map()
  }
}

function isEntry(value: unknown): value is HashCacheEntry {
  if (!Array.isArray(value) || value.length !== 4 || typeof value[0] !== 'number') return false
  return value.slice(1).every((part) => typeof part === 'string')
}

/**
 * Computes the SHA-256 of the first `size` bytes of a file, in hex: a file may grow meanwhile.
 *
 * @param root real path of the folder that must contain the file; undefined for a file that was given directly
 * @throws the system's error if it cannot be read; RefusedFile if it is not a regular file or is outside `root`
 */
export async function hashFile(path: string, size: number, root: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  if (size <= MAX_SINGLE_READ_BYTES) return hash.update(readInside(path, root, size)).digest('hex')
  const fd = openInside(path, root)
  for await (const chunk of createReadStream('', { fd, highWaterMark: MAX_SINGLE_READ_BYTES, end: size - 1 }))
    hash.update(chunk)
  return hash.digest('hex')
}
