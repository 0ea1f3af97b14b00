import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'
import { BULK, ingest, type Ledger, listDocuments, makeNote } from '../crash/ledger.js'

/** Uploads, deletions, workspace files and questions, without a pause until stopped. */
export interface Load {
  /** workspace files whose write was acknowledged, by path */
  files: Map<string, string>
  /** refused or interrupted calls, by error */
  failures: Map<string, number>
  answered: { questions: number; degraded: number }
  stop(): Promise<void>
}

const PAUSE_MS = 150

export function startLoad(client: Client, ledger: Ledger, from = 0): Load {
  const load: Load = {
    files: new Map(),
    failures: new Map(),
    answered: { questions: 0, degraded: 0 },
    stop: async () => {},
  }
  let isOver = false
  let next = from
  const path = { id: ledger.spaceId }
  const failed = (error: unknown) => {
    const what = error instanceof Error ? error.message.slice(0, 80) : String(error)
    load.failures.set(what, (load.failures.get(what) ?? 0) + 1)
  }
  const forEver = async (work: () => Promise<void>) => {
    while (!isOver) {
      await work().catch(failed)
      await sleep(PAUSE_MS)
    }
  }
  const upload = async () => {
    const notes = Array.from({ length: BULK }, () => makeNote(`note-${next}`, next++))
    await ingest(client, ledger, notes)
  }
  const write = async () => {
    const number = next++
    const [file, content] = [`/workspaces/notes/file-${number}.txt`, `file ${number}`]
    await client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body: { path: file, content } })
    load.files.set(file, content)
  }
  const ask = async () => {
    const body = { knowledgeSpaceId: ledger.spaceId, query: 'What is described here?', mode: 'fast' as const }
    const { events } = await client.stream('POST /queries', { body })
    for await (const { event, data } of events) {
      if (event !== 'answer.done') continue
      load.answered.questions++
      if (data.includes('"degraded":true')) load.answered.degraded++
    }
  }
  const working = [upload, write, ask].map(forEver)
  load.stop = async () => {
    isOver = true
    await Promise.all(working)
  }
  return load
}

/**
 * Waits until no document is pending. @returns those that still are after the time that takeover from dead gateways may
 * take
 */
export async function stuck(client: Client, spaceId: string, withinMs = 90_000): Promise<string[]> {
  const end = Date.now() + withinMs
  for (;;) {
    const documents = await listDocuments(client, spaceId).catch(() => undefined)
    const waiting = documents?.filter(({ parserStatus }) => parserStatus === 'pending').map(({ filename }) => filename)
    if (waiting?.length === 0 || Date.now() > end) return waiting ?? ['no list of documents']
    await sleep(300)
  }
}
