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

/**
 * Creates a space and uploads files through the API, and waits until all are published or failed.
 *
 * @returns the space's id, the document id of each file name, and how many failed (empty entries of a set do)
 */
export async function fillSpace(
  client: Client,
  slug: string,
  files: readonly UploadFile[],
): Promise<{ spaceId: string; documents: Map<string, string>; failed: number }> {
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
  const documents = new Map<string, string>()
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < files.length) {
      const batch = files.slice(next, next + BULK_FILES)
      next += BULK_FILES
      for (const { asset } of await uploadBulk(client, id, batch)) documents.set(asset.filename, asset.id)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  await waitUntilIdle(client)
  const { commits } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id } })
  return { spaceId: id, documents, failed: commits.failedTerminal }
}

async function uploadBulk(client: Client, id: string, batch: readonly UploadFile[]) {
  const files = batch.map(({ filename, text }) => ({
    filename,
    mimeType: 'text/markdown',
    content: { bytes: Buffer.from(text) },
  }))
  for (;;) {
    try {
      const answer = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
        path: { id },
        field: 'files',
        files,
      })
      return answer.items
    } catch (error) {
      if (!(error instanceof Error && 'status' in error && error.status === 429)) throw error
      await sleep(BUSY_PAUSE_MS)
    }
  }
}

/** Waits until no job runs or waits anywhere in the daemon. */
export async function waitUntilIdle(client: Client): Promise<void> {
  for (;;) {
    const { activity } = await client.request('GET /daemon/status', {})
    if (activity.activeJobs === 0 && activity.waitingJobs === 0) return
    await sleep(POLL_MS)
  }
}
