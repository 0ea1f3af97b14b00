import { join, relative, sep } from 'node:path'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

/** A file of a watched folder at its last reading, and its documents in the space. */
export interface LedgerEntry {
  /** Relative to the folder, with `/`. */
  path: string
  filename: string
  fingerprint: string
  device: string
  /** Size in bytes. */
  size: number
  sha256: string
  /** SHA-256 of the newest document with the name; undefined if there is none, it failed, or it is unknown. */
  documentSha: string | undefined
  /** Documents with the name that are not deleted, newest first. */
  documentIds: string[]
}

/**
 * Records which documents of a space come from the folder. A file is claimed before its upload, so that a crash leaves
 * no document without an owner.
 */
export interface WatchLedger {
  /** Loads the claimed files with the current state of their documents. */
  load(client: Client): Promise<LedgerEntry[]>
  claim(client: Client, entries: readonly LedgerEntry[]): Promise<void>
  /** Removes entries of deleted files. */
  forget(client: Client, entries: readonly LedgerEntry[]): Promise<void>
  /** Announces uploads, so that the service can prepare for them. */
  announce(client: Client): Promise<void>
}

/** A ledger in the local daemon, which `ks ingest` uses, too. */
export function createServiceLedger(spaceId: string, folder: string): WatchLedger {
  const path = { id: spaceId }
  return {
    async load(client) {
      const entries: LedgerEntry[] = []
      let after: string | undefined
      do {
        const query = {
          root: folder,
          limit: String(LIMITS.localFilesPage.max),
          ...omitUndefined({ after }),
        }
        const page = await client.request('GET /knowledge-spaces/{id}/local-files', { path, query })
        for (const { path: absolute, sizeBytes, documents, root: _, ...file } of page.items)
          entries.push({
            ...file,
            path: relative(folder, absolute).split(sep).join('/'),
            size: sizeBytes,
            // A failed file is sent again.
            documentSha: documents[0]?.parserStatus === 'failed' ? undefined : documents[0]?.sha256,
            documentIds: documents.map(({ id }) => id),
          })
        after = page.nextAfter
      } while (after !== undefined)
      return entries
    },
    async claim(client, entries) {
      for (const chunk of splitIntoChunks(entries)) {
        const files = chunk.map(({ path: relativePath, filename, fingerprint, device, size, sha256 }) => ({
          filename,
          path: join(folder, relativePath),
          fingerprint,
          device,
          sizeBytes: size,
          sha256,
        }))
        await client.request('POST /knowledge-spaces/{id}/local-files', { path, body: { root: folder, files } })
      }
    },
    async announce(client) {
      await client.request('POST /knowledge-spaces/{id}/local-files', { path, body: {} })
    },
    async forget(client, entries) {
      for (const chunk of splitIntoChunks(entries)) {
        const forget = chunk.map(({ filename }) => filename)
        await client.request('POST /knowledge-spaces/{id}/local-files', { path, body: { forget } })
      }
    },
  }
}

/** Requests the state of the entries' documents. @returns results in the order of the entries */
export async function checkDocuments(client: Client, spaceId: string, entries: readonly LedgerEntry[]) {
  const items = entries.map(({ filename, sha256 }) => ({ filename, sha256 }))
  const reply = await client.request('POST /knowledge-spaces/{id}/documents/check', {
    path: { id: spaceId },
    body: { items },
  })
  return reply.items
}

export function* splitIntoChunks<T>(items: readonly T[], size: number = LIMITS.localFiles): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
