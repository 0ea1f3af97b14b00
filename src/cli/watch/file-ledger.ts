import { createHash } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { parseRecord, toNonEmptyString } from '../../lib/json/values.js'
import { checkDocuments, type LedgerEntry, splitIntoChunks, type WatchLedger } from './ledger.js'

/** Path without extension of the files with the state of one watch: `.jsonl` for its ledger, `.lock` for its lock. */
export function getWatchFile(stateDir: string, serviceKey: string, spaceId: string, folder: string): string {
  const key = createHash('sha256').update(`${serviceKey}\n${spaceId}\n${folder}`).digest('hex').slice(0, 16)
  return join(stateDir, 'watch', key)
}

/**
 * A ledger in a local file, for services without knowledge of local files: one line for each claim, applied in order.
 */
export function createFileLedger(file: string, spaceId: string): WatchLedger {
  return {
    async load(client) {
      const entries = readLines(file)
      rewriteFile(file, entries)
      for (const chunk of splitIntoChunks(entries, LIMITS.checkItems)) await loadDocumentStates(client, spaceId, chunk)
      return entries
    },
    async claim(_client, entries) {
      writeLines(file, 'a', entries.map(toLine))
    },
    announce: async () => undefined,
    async forget(_client, entries) {
      const lines = entries.map(({ path }) => JSON.stringify({ gone: path }))
      writeLines(file, 'a', lines)
    },
  }
}

function toLine({ path, filename, fingerprint, device, size, sha256 }: LedgerEntry): string {
  return JSON.stringify({ path, filename, fingerprint, device, size, sha256 })
}

/** Reads the entries. A line truncated by a crash is skipped: its file is read again. */
function readLines(file: string): LedgerEntry[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  const entries = new Map<string, LedgerEntry>()
  for (const line of text.split('\n')) {
    const value = parseRecord(line)
    const removedPath = toNonEmptyString(value?.gone)
    if (removedPath !== undefined) entries.delete(removedPath)
    const entry = value === undefined ? undefined : toEntry(value)
    if (entry !== undefined) entries.set(entry.path, entry)
  }
  return [...entries.values()]
}

function toEntry(value: Record<string, unknown>): LedgerEntry | undefined {
  const [path, filename, fingerprint = '', device = '', sha256] = [
    value.path,
    value.filename,
    value.fingerprint,
    value.device,
    value.sha256,
  ].map(toNonEmptyString)
  const { size } = value
  if (path === undefined || filename === undefined || sha256 === undefined || typeof size !== 'number') return undefined
  return { path, filename, sha256, size, fingerprint, device, documentSha: undefined, documentIds: [] }
}

/** Rewrites the file without superseded lines. */
function rewriteFile(file: string, entries: readonly LedgerEntry[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeLines(`${file}.tmp`, 'w', entries.map(toLine))
  renameSync(`${file}.tmp`, file)
}

/** Appends lines to the file, or replaces its content by them, and syncs it. */
function writeLines(file: string, flags: 'a' | 'w', lines: readonly string[]): void {
  const handle = openSync(file, flags, 0o600)
  try {
    // Not writeSync(): on an almost full disk it may write a part without an error.
    if (lines.length > 0) writeFileSync(handle, `${lines.join('\n')}\n`)
    fdatasyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

async function loadDocumentStates(client: Client, spaceId: string, entries: readonly LedgerEntry[]): Promise<void> {
  const documents = await checkDocuments(client, spaceId, entries)
  for (const [index, entry] of entries.entries()) {
    const document = documents[index]
    if (document?.documentId === undefined) continue
    entry.documentIds = [document.documentId]
    if (document.status === 'changed') entry.documentSha = 'another'
    else if (document.status !== 'failed') entry.documentSha = entry.sha256
  }
}
