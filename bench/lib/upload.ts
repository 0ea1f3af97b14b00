import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

export interface UploadFile {
  filename: string
  text: string
}

const BULK_FILES = 200
const CONCURRENCY = 4
/** pause after the space refused a request because too many jobs wait */
const BUSY_RETRY_MS = 200
const POLL_MS = 200
const WAIT_TIMEOUT_MS = 600_000

/**
 * Creates a space, uploads files over HTTP, and waits until all are published or failed.
 *
 * @returns the document id of each file name, and how many failed (empty entries of a set do)
 */
export async function fillSpace(
  client: Client,
  slug: string,
  files: Iterable<UploadFile>,
): Promise<{ spaceId: string; documents: Map<string, string>; failed: number }> {
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
  const documents = new Map<string, string>()
  const bulks = splitBulks(files)
  const worker = async (): Promise<void> => {
    for (const bulk of bulks)
      for (const { asset } of await uploadBulk(client, id, bulk)) documents.set(asset.filename, asset.id)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  await waitUntilIdle(client)
  const { commits } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id } })
  return { spaceId: id, documents, failed: commits.failedTerminal }
}

function* splitBulks(files: Iterable<UploadFile>): Generator<UploadFile[]> {
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
  const reply = await retryWhileBusy(() =>
    client.upload('POST /knowledge-spaces/{id}/documents/bulk', { path: { id }, field: 'files', files }),
  )
  return reply.items
}

async function retryWhileBusy<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof Error && 'status' in error && error.status === 429)) throw error
      await sleep(BUSY_RETRY_MS)
    }
  }
}

/** Uploads one file in a separate request. @returns the document's id */
export async function uploadOne(
  client: Client,
  id: string,
  { filename, mimeType, bytes }: { filename: string; mimeType: string; bytes: Buffer },
): Promise<string> {
  const accepted = await retryWhileBusy(() =>
    client.upload('POST /knowledge-spaces/{id}/documents', {
      path: { id },
      field: 'file',
      files: [{ filename, mimeType, content: { bytes } }],
    }),
  )
  return 'asset' in accepted ? accepted.asset.id : accepted.id
}

export async function waitUntilPublished(
  client: Client,
  id: string,
  documentId: string,
  pollMs = POLL_MS,
): Promise<void> {
  for (const deadline = performance.now() + WAIT_TIMEOUT_MS; performance.now() < deadline; await sleep(pollMs)) {
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    if (document.parserStatus === 'parsed') return
    if (document.parserStatus === 'failed') throw new Error(`a document failed: ${JSON.stringify(document)}`)
  }
  throw new Error('a document was not published in time')
}

/** Uploads a note with a unique word. @returns milliseconds until a search for that word returned the note */
export async function measureUploadToSearchable(client: Client, id: string, word: string, pollMs = 5): Promise<number> {
  const started = performance.now()
  const bytes = Buffer.from(`# Note\n\nA small note that holds the word ${word}, and little else.\n`)
  const documentId = await uploadOne(client, id, { filename: `${word}.md`, mimeType: 'text/markdown', bytes })
  await waitUntilPublished(client, id, documentId, pollMs)
  for (const deadline = performance.now() + WAIT_TIMEOUT_MS; performance.now() < deadline; await sleep(pollMs)) {
    const { items } = await client.request('POST /knowledge-spaces/{id}/queries/search', {
      path: { id },
      body: { query: word, mode: 'fast', limit: 1 },
    })
    if (items.some(({ text }) => text.includes(word))) return performance.now() - started
  }
  throw new Error(`the note with ${word} was not found in time`)
}

/** Uploads notes in separate requests, a few at a time, and waits until all are published. */
export async function uploadOneByOne(client: Client, id: string, files: readonly UploadFile[]): Promise<void> {
  const pending = files.values()
  const worker = async (): Promise<void> => {
    for (const { filename, text } of pending)
      await uploadOne(client, id, { filename, mimeType: 'text/markdown', bytes: Buffer.from(text) })
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  await waitUntilIdle(client)
}

export async function waitUntilIdle(client: Client): Promise<void> {
  for (;;) {
    const { activity } = await client.request('GET /daemon/status', {})
    if (activity.activeJobs === 0 && activity.waitingJobs === 0) return
    await sleep(POLL_MS)
  }
}
