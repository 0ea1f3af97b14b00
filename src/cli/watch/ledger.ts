import { join, relative, sep } from 'node:path'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'

/** A file of a watched folder, as it was when it was read last, and what the space holds of it. */
export interface Entry {
  /** from the folder, with `/` */
  path: string
  filename: string
  fingerprint: string
  device: string
  /** bytes */
  size: number
  sha256: string
  /** sha256 of the newest document of the name; undefined when there is none, it failed, or it is not known */
  documentSha: string | undefined
  /** live documents of the name, newest first */
  documentIds: string[]
}

/**
 * Which documents of a space stem from the folder. A file is claimed before it is uploaded, so that no crash leaves a
 * document behind that nobody knows to remove.
 */
export interface Ledger {
  /** What is claimed, with what the space holds of it now. */
  load(client: Client): Promise<Entry[]>
  claim(client: Client, entries: readonly Entry[]): Promise<void>
  forget(client: Client, entries: readonly Entry[]): Promise<void>
  /** Files are about to come: the service may get ready for them. */
  announce(client: Client): Promise<void>
}

/** Kept by the local daemon, where `ks ingest` writes too. */
export function serviceLedger(spaceId: string, folder: string): Ledger {
  const path = { id: spaceId }
  return {
    async load(client) {
      const entries: Entry[] = []
      let after: string | undefined
      do {
        const query = {
          root: folder,
          limit: String(LIMITS.localFilesPage.max),
          ...defined({ after }),
        }
        const page = await client.request('GET /knowledge-spaces/{id}/local-files', { path, query })
        for (const { path: absolute, sizeBytes, documents, root: _, ...file } of page.items)
          entries.push({
            ...file,
            path: relative(folder, absolute).split(sep).join('/'),
            size: sizeBytes,
            // what failed is sent again
            documentSha: documents[0]?.parserStatus === 'failed' ? undefined : documents[0]?.sha256,
            documentIds: documents.map(({ id }) => id),
          })
        after = page.nextAfter
      } while (after !== undefined)
      return entries
    },
    async claim(client, entries) {
      for (const chunk of chunks(entries)) {
        const files = chunk.map(({ path: inside, filename, fingerprint, device, size, sha256 }) => ({
          filename,
          path: join(folder, inside),
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
      for (const chunk of chunks(entries)) {
        const forget = chunk.map(({ filename }) => filename)
        await client.request('POST /knowledge-spaces/{id}/local-files', { path, body: { forget } })
      }
    },
  }
}

export function* chunks<T>(items: readonly T[], size: number = LIMITS.localFiles): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
