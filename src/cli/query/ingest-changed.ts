import { relative, sep } from 'node:path'
import type { Client } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { createIngestCounts } from '../ingest/counts.js'
import { HashCache } from '../ingest/hash-cache.js'
import { FileRecorder } from '../ingest/recorder.js'
import { RecordPrinter } from '../ingest/records.js'
import { ingest } from '../ingest/run.js'
import type { FoundFile } from '../ingest/walk.js'
import type { QueryAnswer } from './ask.js'

export interface IngestChangedOptions {
  client: Client
  spaceId: string
  stateDir: string
  signal: AbortSignal
}

/**
 * Ingests the changed files of an answer's evidence and waits until they are published.
 *
 * @returns whether any file was ingested, so that asking again may help
 */
export async function ingestChanged(answer: QueryAnswer, options: IngestChangedOptions): Promise<boolean> {
  const { client, spaceId, stateDir, signal } = options
  const names = new Set(answer.evidence.flatMap((item) => (item.file === 'changed' ? [item.filename] : [])))
  const files: FoundFile[] = []
  for (const filename of names) files.push(...(await loadFiles(client, spaceId, filename)))
  if (files.length === 0) return false
  await ingest(files, {
    client,
    spaceId,
    signal,
    concurrency: 4,
    wait: true,
    failFast: false,
    dryRun: false,
    cache: new HashCache(stateDir, `fresh\n${spaceId}`),
    recorder: new FileRecorder(client, spaceId),
    printer: new RecordPrinter(undefined),
    counts: createIngestCounts(files.length),
  })
  return true
}

async function loadFiles(client: Client, spaceId: string, filename: string): Promise<FoundFile[]> {
  try {
    const { items } = await client.request('GET /knowledge-spaces/{id}/local-files', {
      path: { id: spaceId },
      query: { filename },
    })
    return items.map(({ path, root }) => ({
      path,
      filename,
      ...(root === undefined ? {} : { folder: root, relativePath: relative(root, path).split(sep).join('/') }),
    }))
  } catch (error) {
    // A caller without access to local files cannot ingest them either.
    if (error instanceof ApiError && (error.status === 403 || error.status === 501)) return []
    throw error
  }
}
