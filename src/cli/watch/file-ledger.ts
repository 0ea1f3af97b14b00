import { createHash } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { recordIn, textOf } from '../../lib/json/values.js'
import { chunks, type Entry, heldOf, type Ledger } from './ledger.js'

/** Path of the local files about one folder and space, without an extension. */
export function watchFile(stateDir: string, place: string, spaceId: string, folder: string): string {
  const key = createHash('sha256').update(`${place}\n${spaceId}\n${folder}`).digest('hex').slice(0, 16)
  return join(stateDir, 'watch', key)
}

/**
 * A ledger in a local file, for services without knowledge of local files: one line for each claim, applied in order.
 */
export function fileLedger(file: string, spaceId: string): Ledger {
  return {
    async load(client) {
      const entries = readLines(file)
      writeAnew(file, entries)
      for (const chunk of chunks(entries, LIMITS.checkItems)) await askFor(client, spaceId, chunk)
      return entries
    },
    async claim(_client, entries) {
      append(file, 'a', entries.map(lineOf))
    },
    announce: async () => undefined,
    async forget(_client, entries) {
      append(
        file,
        'a',
        entries.map(({ path }) => JSON.stringify({ gone: path })),
      )
    },
  }
}

function lineOf({ path, filename, fingerprint, device, size, sha256 }: Entry): string {
  return JSON.stringify({ path, filename, fingerprint, device, size, sha256 })
}

/** Reads the entries. A line truncated by a crash is skipped: its file is read again. */
function readLines(file: string): Entry[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  const entries = new Map<string, Entry>()
  for (const line of text.split('\n')) {
    const value = recordIn(line)
    const gone = textOf(value?.gone)
    if (gone !== undefined) entries.delete(gone)
    const entry = value === undefined ? undefined : toEntry(value)
    if (entry !== undefined) entries.set(entry.path, entry)
  }
  return [...entries.values()]
}

function toEntry(value: Record<string, unknown>): Entry | undefined {
  const [path, filename] = [textOf(value.path), textOf(value.filename)]
  const [fingerprint, device, sha256] = [textOf(value.fingerprint), textOf(value.device), textOf(value.sha256)]
  const { size } = value
  if (path === undefined || filename === undefined || sha256 === undefined || typeof size !== 'number') return undefined
  return {
    path,
    filename,
    sha256,
    size,
    fingerprint: fingerprint ?? '',
    device: device ?? '',
    documentSha: undefined,
    documentIds: [],
  }
}

/** Rewrites the file without superseded lines. */
function writeAnew(file: string, entries: readonly Entry[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  append(`${file}.tmp`, 'w', entries.map(lineOf))
  renameSync(`${file}.tmp`, file)
}

function append(file: string, flags: 'a' | 'w', lines: readonly string[]): void {
  const handle = openSync(file, flags, 0o600)
  try {
    // Not writeSync(): on an almost full disk it may write a part without an error.
    if (lines.length > 0) writeFileSync(handle, `${lines.join('\n')}\n`)
    fdatasyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

async function askFor(client: Client, spaceId: string, entries: readonly Entry[]): Promise<void> {
  const documents = await heldOf(client, spaceId, entries)
  for (const [index, entry] of entries.entries()) {
    const held = documents[index]
    if (held?.documentId === undefined) continue
    entry.documentIds = [held.documentId]
    if (held.status === 'changed') entry.documentSha = 'another'
    else if (held.status !== 'failed') entry.documentSha = entry.sha256
  }
}
