import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import type { DocumentFilter } from '../../src/contract/gateway/document-filter.js'
import type { AcceptedDocument } from '../../src/contract/gateway/documents.js'
import type { AnswerDone } from '../../src/contract/gateway/queries.js'
import type { Caller, Engine, EngineOptions } from '../../src/engine/index.js'
import { openEngine } from '../../src/engine/index.js'
import { databaseOf, forgetDatabase } from './databases.js'

export const ADA: Caller = { tenant: 'tenant-a', subject: 'ada' }
export const BOB: Caller = { tenant: 'tenant-b', subject: 'bob' }

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export function engineOptions(dataDir: string, changes: Partial<EngineOptions> = {}): EngineOptions {
  const database = 'database' in changes || dataDir === '' ? undefined : databaseOf(dataDir)
  return {
    dataDir,
    ...(database === undefined ? {} : { database }),
    compilation: 'durable',
    providers: [],
    defaultEmbedding: { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' },
    defaultGenerator: { pluginId: 'builtin', provider: 'extractive', model: 'extractive' },
    limits: {
      uploadBytes: 64 * 1024 * 1024,
      bulkFiles: 1000,
      bulkBytes: 256 * 1024 * 1024,
      concurrentQueries: 8,
      waitingQueries: 256,
      spacesPerTenant: 1000,
    },
    quotas: {},
    // Only tests of the clean-up run it.
    retention: { intervalMs: 24 * 60 * 60 * 1000, batchRows: 200 },
    log: silent,
    ...changes,
  }
}

export interface TestEngine {
  engine: Engine
  dataDir: string
  /** closes the engine and opens it again on the same data */
  reopen(): Promise<void>
  end(): Promise<void>
}

export async function startEngine(changes: Partial<EngineOptions> = {}): Promise<TestEngine> {
  const dataDir = changes.dataDir ?? mkdtempSync(join(tmpdir(), 'ks-engine-'))
  const test: TestEngine = {
    engine: await openEngine(engineOptions(dataDir, changes)),
    dataDir,
    async reopen() {
      await test.engine.close()
      test.engine = await openEngine(engineOptions(dataDir, changes))
    },
    async end() {
      await test.engine.close()
      forgetDatabase(dataDir)
      removeFolder(dataDir)
    },
  }
  return test
}

/** Uploads files by name and waits until each is published or failed. */
export async function ingest(
  engine: Engine,
  caller: Caller,
  spaceId: string,
  files: Record<string, string | Uint8Array>,
): Promise<AcceptedDocument[]> {
  const upload = await engine.documents.upload(caller, spaceId, { many: true })
  for (const [filename, content] of Object.entries(files))
    await upload.add({ filename, content: Readable.from([Buffer.from(content)]) })
  const accepted = await upload.commit({})
  for (const item of accepted) await engine.documents.settled(caller, spaceId, item)
  return accepted
}

/** A question's run, read to its end. */
export interface AskResult {
  traceId: string
  sessionId: string
  answer: string
  done: AnswerDone
  error?: string
}

/** Uploads one file and does not wait for its job. */
export async function uploadOne(
  engine: Engine,
  caller: Caller,
  spaceId: string,
  { filename, text }: { filename: string; text: string },
): Promise<AcceptedDocument> {
  const upload = await engine.documents.upload(caller, spaceId, { many: false })
  await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
  const [accepted] = await upload.commit({})
  if (accepted === undefined) throw new Error('nothing was accepted')
  return accepted
}

/** Sends a question and reads the stream to its end. */
export async function ask(
  engine: Engine,
  caller: Caller,
  knowledgeSpaceId: string,
  query: string,
  extra: {
    mode?: 'fast' | 'deep' | 'research' | 'auto'
    sessionId?: string
    activeDocumentIds?: string[]
    activeEntityIds?: string[]
    filter?: DocumentFilter
  } = {},
): Promise<AskResult> {
  const run = await engine.queries.start(
    caller,
    { knowledgeSpaceId, query, activeDocumentIds: [], activeEntityIds: [], ...extra },
    new AbortController().signal,
  )
  const result: AskResult = {
    traceId: run.traceId,
    sessionId: run.sessionId,
    answer: '',
    done: { finishReason: 'no-retrieval-evidence', traceId: run.traceId },
  }
  for await (const frame of run.frames()) {
    if (frame.event === 'answer.delta') result.answer += frame.data.delta
    else if (frame.event === 'answer.done') result.done = frame.data
    else result.error = frame.data.error
  }
  return result
}
