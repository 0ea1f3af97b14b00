import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, listRankedDocuments } from '../../bench/lib/ask.js'
import type { Client } from '../../src/client/client.js'
import { paginate } from '../../src/client/pages.js'
import type { DocumentAsset } from '../../src/contract/gateway/documents.js'

/** A document with a unique text: its word finds this document only. */
export interface Note {
  filename: string
  word: string
  bytes: Buffer
  sha256: string
}

/** What the service acknowledged: uploads and deletions. */
export class Ledger {
  readonly spaceId: string
  readonly acknowledged = new Map<string, Note>()
  readonly deleted = new Set<string>()
  /** requested, but not acknowledged: may have happened or not */
  readonly deleting = new Set<string>()
  /** sent, perhaps not acknowledged */
  readonly sent = new Set<string>()

  constructor(spaceId: string) {
    this.spaceId = spaceId
  }
}

export interface Findings {
  acknowledged: number
  /** acknowledged, but missing or with other bytes */
  lost: string[]
  /** present, but incomplete: no artifact, no outline, not found by its word, or twice */
  half: string[]
  /** deleted, but present again */
  risen: string[]
  /** not finished after the time that a restart may take */
  stuck: string[]
}

export const BULK = 10
const SETTLE_MS = 60_000

const SYLLABLES = ['ba', 'ko', 'mi', 'tu', 're', 'so', 'va', 'ne', 'po', 'du', 'li', 'ga', 'fe', 'zu', 'hy', 'wo']

/** A unique word per number, of syllables, so that no stemmer or number rule changes it. */
export function wordOf(number: number): string {
  let word = ''
  for (let rest = number + 1; rest > 0; rest = Math.floor(rest / 16)) word += SYLLABLES[rest % 16]
  return `qx${word}k`
}

export function makeNote(name: string, number: number): Note {
  const word = wordOf(number)
  const filler = Array.from({ length: 12 }, (_, line) => `Line ${line} of ${name} speaks about the ${word} once more.`)
  const bytes = Buffer.from(`# Note about ${word}\n\nThe ${word} is described here.\n\n${filler.join('\n')}\n`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { filename: `notes/${name}.md`, word, bytes, sha256 }
}

/** Uploads notes in concurrent bulks, deletes a few, and records the acknowledgements in the ledger. */
export async function ingest(client: Client, ledger: Ledger, notes: Note[]): Promise<void> {
  const waiting: Note[][] = []
  for (let start = 0; start < notes.length; start += BULK) waiting.push(notes.slice(start, start + BULK))
  const worker = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      await uploadBatch(client, ledger, batch)
    }
  }
  const results = await Promise.allSettled([worker(), worker(), worker(), worker()])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function uploadBatch(client: Client, ledger: Ledger, batch: Note[]): Promise<void> {
  for (const note of batch) ledger.sent.add(note.filename)
  const files = batch.map((note) => ({
    filename: note.filename,
    mimeType: 'text/markdown',
    content: { bytes: note.bytes },
  }))
  const path = { id: ledger.spaceId }
  const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', { path, field: 'files', files })
  for (const { asset } of items) {
    const note = batch.find((one) => one.filename === asset.filename)
    if (note !== undefined) ledger.acknowledged.set(asset.id, note)
  }
  const [victim] = items
  if (victim === undefined || ledger.deleted.size >= 3) return
  ledger.deleting.add(victim.asset.id)
  await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', {
    path,
    body: { documentIds: [victim.asset.id] },
  })
  ledger.deleted.add(victim.asset.id)
}

/** Compares the state with the ledger, after all work has had time to end. */
export async function verify(client: Client, ledger: Ledger): Promise<Findings> {
  const documents = await settled(client, ledger)
  const there = new Map(documents.map((document) => [document.id, document]))
  const findings: Findings = { acknowledged: ledger.acknowledged.size, lost: [], half: [], risen: [], stuck: [] }
  for (const document of documents) {
    if (document.parserStatus === 'pending') findings.stuck.push(document.filename)
    if (ledger.deleted.has(document.id)) findings.risen.push(document.filename)
  }
  for (const [id, note] of ledger.acknowledged) {
    if (ledger.deleting.has(id)) continue
    if (there.get(id)?.sha256 !== note.sha256) findings.lost.push(note.filename)
  }
  const names = documents.map((document) => document.filename)
  findings.half.push(...names.filter((name, place) => names.indexOf(name) !== place || !ledger.sent.has(name)))
  const ended = documents.filter((document) => document.parserStatus !== 'pending')
  findings.half.push(...(await remainingHalves(client, ledger.spaceId, ended)))
  return findings
}

/** Names of documents that are incomplete and remain so while the indexes catch up after a restart. */
async function remainingHalves(client: Client, spaceId: string, documents: DocumentAsset[]): Promise<string[]> {
  // Counted from the end of the first pass, whose duration grows with the number of documents.
  let deadline: number | undefined
  let suspects = documents
  for (;;) {
    const still: DocumentAsset[] = []
    const waiting = [...suspects]
    const worker = async (): Promise<void> => {
      for (let document = waiting.pop(); document !== undefined; document = waiting.pop()) {
        if (!(await isWhole(client, spaceId, document))) still.push(document)
      }
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    deadline ??= Date.now() + SETTLE_MS
    if (still.length === 0 || Date.now() > deadline) return still.map((document) => document.filename)
    suspects = still
    await sleep(500)
  }
}

export async function listDocuments(client: Client, spaceId: string): Promise<DocumentAsset[]> {
  const fetchPage = (query: { limit: number; cursor?: string }) =>
    client.request('GET /knowledge-spaces/{id}/documents', { path: { id: spaceId }, query })
  const documents: DocumentAsset[] = []
  for await (const document of paginate(fetchPage, { pageSize: 100 })) documents.push(document)
  return documents
}

/** Waits until every document is finished, for as long as a restart may take. */
export async function settled(client: Client, ledger: Ledger): Promise<DocumentAsset[]> {
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const documents = await listDocuments(client, ledger.spaceId)
    if (documents.every((document) => document.parserStatus !== 'pending') || Date.now() > deadline) return documents
    await sleep(200)
  }
}

/** Whether a document has everything that compilation creates, and is the first hit for its word. */
async function isWhole(client: Client, spaceId: string, document: DocumentAsset): Promise<boolean> {
  if (document.parserStatus !== 'parsed') return false
  const path = { id: spaceId, documentId: document.id }
  try {
    const artifact = await client.request(
      'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
      {
        path: { ...path, version: String(document.version) },
      },
    )
    const outline = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', { path })
    const word = /Note about (\w+)/.exec(artifact.elements.map((element) => element.text ?? '').join('\n'))?.[1]
    if (word === undefined || outline.nodes.length === 0) return false
    const { bundle } = await ask(client, spaceId, word)
    return listRankedDocuments(bundle)[0] === document.id
  } catch {
    return false
  }
}
