/**
 * Ingests documents from a separate process, so that the cost of sending them does not affect the figures of questions.
 * `fork`ed by `startIngester`.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '../../src/client/client.js'
import { forkModule, stopChild } from './forked.js'
import { fillSpace, type UploadFile } from './upload.js'

interface Ingestion {
  url: string
  token: string
  slug: string
  files: UploadFile[]
}

export interface Ingester {
  /** Fills a new space and waits until everything is published. */
  ingest(ingestion: Ingestion): Promise<void>
  stop(): Promise<void>
}

export async function startIngester(home: string): Promise<Ingester> {
  const child = await forkModule(import.meta.url, ['ingester'], home)
  return {
    ingest: (ingestion) => requestIngestion(child, ingestion),
    stop: () => stopChild(child),
  }
}

async function requestIngestion(child: ChildProcess, ingestion: Ingestion): Promise<void> {
  child.send(ingestion)
  const [failure] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => ['the process ended'])])
  if (failure !== '') throw new Error(`the documents were not ingested: ${failure}`)
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
