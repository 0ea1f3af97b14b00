import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

export interface UploadFile {
  filename: string
  text: string
}

const BULK_FILES = 200
const IN_FLIGHT = 4
/** a space accepts this many waiting jobs; a refusal is tried again after a pause */
const BUSY_PAUSE_MS = 200
const POLL_MS = 200
const LONGEST_WAIT_MS = 600_000

/**
 * Creates a space and uploads files through the API, and waits until all are published or failed.
 *
 * @returns the space's id, the document id of each file name, and how many failed (empty entries of a set do)
 */
export async function fillSpace(
  client: Client,
  slug: string,
  files: Iterable<UploadFile>,
): Promise<{ spaceId: string; documents: Map<string, string>; failed: number }> {
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
  const documents = new Map<string, string>()
  const bulks = bulksOf(files)
  const worker = async (): Promise<void> => {
    for (const bulk of bulks)
      for (const { asset } of await uploadBulk(client, id, bulk)) documents.set(asset.filename, asset.id)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  await waitUntilIdle(client)
  const { commits } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id } })
  return { spaceId: id, documents, failed: commits.failedTerminal }
}

function* bulksOf(files: Iterable<UploadFile>): Generator<UploadFile[]> {
  let bulk: UploadFile[] = []
  for (const file of files) {
    bulk.push(file)
    if (bulk.length < BULK_FILES) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}

async function uploadBulk(client: Client, id: string, batch: readonly UploadFile[]) {
  const files = batch.map(({ filename, text }) => ({
    filename,
    mimeType: 'text/markdown',
    content: { bytes: Buffer.from(text) },
  }))
  const answer = await whenThereIsRoom(() =>
    client.upload('POST /knowledge-spaces/{id}/documents/bulk', { path: { id }, field: 'files', files }),
  )
  return answer.items
}

async function whenThereIsRoom<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof Error && 'status' in error && error.status === 429)) throw error
      await sleep(BUSY_PAUSE_MS)
    }
  }
}

/** Uploads one file, in a request of its own. @returns its document's id */
export async function uploadOne(
  client: Client,
  id: string,
  { filename, mimeType, bytes }: { filename: string; mimeType: string; bytes: Buffer },
): Promise<string> {
  const accepted = await whenThereIsRoom(() =>
    client.upload('POST /knowledge-spaces/{id}/documents', {
      path: { id },
      field: 'file',
      files: [{ filename, mimeType, content: { bytes } }],
    }),
  )
  return 'asset' in accepted ? accepted.asset.id : accepted.id
}

/** Waits until a document is published. @throws Error when it fails */
export async function untilPublished(client: Client, id: string, documentId: string, pollMs = POLL_MS): Promise<void> {
  for (const until = performance.now() + LONGEST_WAIT_MS; performance.now() < until; await sleep(pollMs)) {
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    if (document.parserStatus === 'parsed') return
    if (document.parserStatus === 'failed') throw new Error(`a document failed: ${JSON.stringify(document)}`)
  }
  throw new Error('a document was not published in time')
}

/**
 * Uploads a note that holds a word of its own. @returns milliseconds from sending it to the answer of the first search
 * for that word that names it
 */
export async function uploadToSearchable(client: Client, id: string, word: string, pollMs = 5): Promise<number> {
  const started = performance.now()
  const bytes = Buffer.from(`# Note\n\nA small note that holds the word ${word}, and little else.\n`)
  const documentId = await uploadOne(client, id, { filename: `${word}.md`, mimeType: 'text/markdown', bytes })
  await untilPublished(client, id, documentId, pollMs)
  for (const until = performance.now() + LONGEST_WAIT_MS; performance.now() < until; await sleep(pollMs)) {
    const { items } = await client.request('POST /knowledge-spaces/{id}/queries/search', {
      path: { id },
      body: { query: word, mode: 'fast', limit: 1 },
    })
    if (items.some(({ text }) => text.includes(word))) return performance.now() - started
  }
  throw new Error(`the note with ${word} was not found in time`)
}

/** Small notes in requests of their own, a few at a time, until all are published. */
export async function uploadSingly(client: Client, id: string, files: readonly UploadFile[]): Promise<void> {
  const waiting = files.values()
  const worker = async (): Promise<void> => {
    for (const { filename, text } of waiting)
      await uploadOne(client, id, { filename, mimeType: 'text/markdown', bytes: Buffer.from(text) })
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  await waitUntilIdle(client)
}

/** Waits until no job runs or waits anywhere in the daemon. */
export async function waitUntilIdle(client: Client): Promise<void> {
  for (;;) {
    const { activity } = await client.request('GET /daemon/status', {})
    if (activity.activeJobs === 0 && activity.waitingJobs === 0) return
    await sleep(POLL_MS)
  }
}
