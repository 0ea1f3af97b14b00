/**
 * Takes documents in from a process of its own, as another person's machine would: what it costs to send them must not
 * show in the figures of who asks beside it. `fork`ed by `startIngester`.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '../../src/client/client.js'
import { startForked, stopForked } from './forked.js'
import { fillSpace, type UploadFile } from './upload.js'

interface Ingestion {
  url: string
  token: string
  slug: string
  files: UploadFile[]
}

export interface Ingester {
  /** Fills a new space, and waits until all is published. @throws Error when that fails */
  ingest(ingestion: Ingestion): Promise<void>
  stop(): Promise<void>
}

/** Starts the process, with a clean environment whose home is `home`. */
export async function startIngester(home: string): Promise<Ingester> {
  const child = await startForked(import.meta.url, ['ingester'], home)
  return {
    ingest: (ingestion) => ingested(child, ingestion),
    stop: () => stopForked(child),
  }
}

async function ingested(child: ChildProcess, ingestion: Ingestion): Promise<void> {
  child.send(ingestion)
  const [failure] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => ['the process ended'])])
  if (failure !== '') throw new Error(`the documents were not taken in: ${failure}`)
}

async function ingest({ url, token, slug, files }: Ingestion): Promise<void> {
  const client = new Client({ url, token })
  try {
    await fillSpace(client, slug, files)
    process.send?.('')
  } catch (error) {
    process.send?.(String(error))
  } finally {
    client.close()
  }
}

if (process.argv[2] === 'ingester') {
  process.on('message', (ingestion) => ingest(ingestion as Ingestion))
  process.on('disconnect', () => process.exit(0))
  process.send?.('ready')
}
