import { cpSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import type { AcceptedDocument } from '../../src/contract/gateway/documents.js'
import type { Caller } from '../../src/engine/base/caller.js'
import { ChangedSpaces } from '../../src/engine/base/changed-spaces.js'
import { Leases } from '../../src/engine/base/leases.js'
import { EngineMetrics } from '../../src/engine/base/metrics.js'
import type { ModelReference } from '../../src/engine/base/model-reference.js'
import type { EngineOptions } from '../../src/engine/base/options.js'
import type { CompileWork } from '../../src/engine/ingest/compile/work.js'
import type { EngineContext } from '../../src/engine/library/context.js'
import { beginUpload } from '../../src/engine/library/documents/upload.js'
import { DEFAULT_POLICIES, type Policies } from '../../src/engine/library/spaces/manifest.js'
import { prepareDocument } from '../../src/engine/readers/prepare.js'
import type { CompileFailure, CompileResult, PreparedDocument } from '../../src/engine/store/compiled.js'
import type { Database } from '../../src/engine/store/database.js'
import { openStore } from '../../src/engine/store/open-store.js'
import { type Bindable, sql, type Write } from '../../src/engine/store/program.js'
import { recordHeartbeat } from '../../src/engine/store/rows/gateways.js'
import { claimJobs } from '../../src/engine/store/rows/job-claims.js'
import { findJobDocument } from '../../src/engine/store/rows/job-documents.js'
import { findLatestJob, insertJobs, type JobRow } from '../../src/engine/store/rows/jobs.js'
import { insertSpace } from '../../src/engine/store/rows/space-changes.js'
import { findSpace, type SpaceRow } from '../../src/engine/store/rows/spaces.js'
import { newId } from '../../src/lib/ids.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { ADA, engineOptions } from './engine.js'
import { FakeIndexes } from './fake-indexes.js'

const BUILTIN: ModelReference = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
export const PROVIDED: ModelReference = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }

interface StoreLogEntry {
  level: 'debug' | 'info' | 'warn' | 'error'
  fields: Record<string, unknown>
  message: string
}

/** A store on a real database with real objects, and fakes of all other parts: no process, no thread, no timer. */
export interface SmallStore {
  dataDir: string
  db: Database
  context: EngineContext
  indexes: FakeIndexes
  /** log entries */
  logged: StoreLogEntry[]
  /** every call of `context.wake`, with its space */
  wokenSpaces: (number | undefined)[]
  /** called when work yields to queries, between two transactions */
  betweenSteps: () => void | Promise<void>
  /** the vector of a text by a provider or a trained model; by default it depends on the length */
  embed: (texts: string[]) => (Float32Array | undefined)[] | Promise<(Float32Array | undefined)[]>
  /** texts of each call of a model */
  embedded: string[][]
  createSpace(changes?: { model?: ModelReference; policies?: Partial<Policies>; caller?: Caller }): SpaceRow
  /** the current row of a space */
  reload(space: SpaceRow): SpaceRow
  upload(space: SpaceRow, files: Record<string, string>, caller?: Caller): Promise<AcceptedDocument[]>
  /** uploads files and claims their jobs for this gateway */
  uploadAndClaim(space: SpaceRow, files: Record<string, string>): Promise<CompileWork[]>
  /** creates another job of a document */
  addJob(space: SpaceRow, docKey: number): void
  /** claims the newest job of a document */
  claimJob(docKey: number, gateway?: string): CompileWork
  job(id: number | string): JobRow
  rows<T = Record<string, unknown>>(text: string, ...values: Bindable[]): T[]
  write<T>(program: () => Write<T>): T
  run(text: string, ...values: Bindable[]): void
  end(): Promise<void>
}

/** Data directory with an empty store, migrated once for each worker: each test gets a copy. */
let emptyStore: Promise<string> | undefined

async function createEmptyStore(): Promise<string> {
  const dataDir = mkdtempSync(join(process.env.KS_TEST_RUN_DIR ?? tmpdir(), 'ks-empty-'))
  const { log } = engineOptions('')
  const { db, identity } = await openStore(resolveDataLayout(dataDir), log, { clock: Date.now, onDiskFailure: noop })
  await db.close(() => identity.markClosed())
  return dataDir
}

export async function openSmallStore(changes: Partial<EngineOptions> = {}): Promise<SmallStore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ks-store-'))
  emptyStore ??= createEmptyStore()
  cpSync(await emptyStore, dataDir, { recursive: true })
  const logged: StoreLogEntry[] = []
  const logTo = (level: StoreLogEntry['level']) => (fields: Record<string, unknown>, message: string) =>
    void logged.push({ level, fields, message })
  const log = { debug: logTo('debug'), info: logTo('info'), warn: logTo('warn'), error: logTo('error') }
  const options = engineOptions(dataDir, { log, database: undefined, ...changes })
  const { now = () => Date.now() } = options
  const opened = await openStore(resolveDataLayout(dataDir), log, {
    clock: now,
    onDiskFailure: (error) => options.diskReserve?.noteError(error),
  })
  const { db } = opened
  const instance = newId()
  db.writeNow(() => recordHeartbeat(instance, undefined))
  const indexes = new FakeIndexes(db)
  const write = <T>(program: () => Write<T>): T => db.writeNow(program)
  const rows = <T>(text: string, ...values: Bindable[]): T[] => db.now(sql.all<T>(text, values))
  const reload = (space: SpaceRow) => db.now(findSpace(space.tenant, space.id))
  const store: SmallStore = {
    dataDir,
    db,
    indexes,
    logged,
    wokenSpaces: [],
    embedded: [],
    betweenSteps: () => undefined,
    embed: (texts) => texts.map(vectorOf),
    context: {
      ...opened,
      isShared: false,
      instance,
      indexes,
      compiler: {
        compile: async (requests) => Promise.all(requests.map(compileFile)),
        warm() {},
        pids: () => [],
        close: noop,
      },
      drawer: {
        draw: () => Promise.reject(new Error('nothing is drawn here')),
        mark: () => Promise.reject(new Error('nothing is marked here')),
        pids: () => [],
        close() {},
      },
      // A model that is a function of the text, instead of a thread.
      lsa: fakeLsa(() => store) as never,
      models: fakeModels(() => store) as never,
      vectors: { wake() {}, retryNow: noop, missing: noop as never, waitForVectors: noop },
      migrations: { wake() {}, stopEnded: noop },
      pageIndexes: { notePublication() {}, countMissing: async () => 0 },
      pictures: { notePublication() {} },
      recordings: { enqueue: noop },
      conflicts: { published() {}, catchUp: async () => true, unreadable: () => 0 },
      changes: new ChangedSpaces(),
      failedClusters: { captured() {}, catchUp: noop },
      reading: new Map(),
      leases: new Leases(now),
      measures: new EngineMetrics(),
      foregroundPriority: {
        beginQuery: () => () => undefined,
        yieldToQueries: async () => store.betweenSteps(),
        backOff: noop,
      } as never,
      options,
      log,
      now,
      wake: (spaceKey) => void store.wokenSpaces.push(spaceKey),
    },
    createSpace({ model = BUILTIN, policies = {}, caller = ADA } = {}) {
      const id = newId()
      const named = { id, tenant: caller.tenant, name: id, slug: id, description: undefined }
      write(() => insertSpace({ ...named, policies: { ...DEFAULT_POLICIES, ...policies }, model }))
      return db.now(findSpace(caller.tenant, id))
    },
    reload,
    async upload(space, files, caller = ADA) {
      const upload = await beginUpload(store.context, caller, space.id, { many: true })
      for (const [filename, text] of Object.entries(files))
        await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
      return await upload.commit({})
    },
    async uploadAndClaim(space, files) {
      const accepted = await store.upload(space, files)
      return accepted.map(({ compilationJob }) => store.claimJob(store.job(compilationJob.id).doc_key))
    },
    addJob(space, docKey) {
      const document = db.now(findJobDocument({ doc_key: docKey }))
      if (document === undefined) throw new Error(`there is no document ${docKey}`)
      write(() => insertJobs(space, [document]))
    },
    claimJob(docKey, gateway = instance) {
      const latest = db.now(findLatestJob(docKey))
      const [job] = latest === undefined ? [] : write(() => claimJobs([latest], gateway))
      const document = db.now(findJobDocument({ doc_key: docKey }))
      if (job === undefined || document === undefined) throw new Error('there is no job to be claimed')
      return { job, document }
    },
    job(id) {
      const [row] = rows<JobRow>(`SELECT * FROM jobs WHERE ${typeof id === 'number' ? 'key' : 'id'} = ?`, id)
      if (row === undefined) throw new Error(`there is no job ${id}`)
      return row
    },
    rows,
    write,
    run: (text, ...values) => void write(() => sql.run(text, values)),
    async end() {
      await db.close(() => opened.identity.markClosed())
      removeFolder(dataDir)
    },
  }
  return store
}

const noop = async (): Promise<undefined> => undefined

/** A unit vector that differs by the length of a text. */
export function vectorOf(text: string): Float32Array {
  const angle = text.length / 100
  return Float32Array.of(Math.cos(angle), Math.sin(angle))
}

function fakeLsa(store: () => SmallStore) {
  const loaded = new Set<string>()
  return {
    threads: 1,
    has: (id: string) => loaded.has(id),
    load: async (id: string) => void loaded.add(id),
    unload: (id: string) => void loaded.delete(id),
    async embed(id: string, texts: string[]) {
      if (!loaded.has(id)) throw new Error(`the model of ${id} is not loaded`)
      store().embedded.push(texts)
      return { vectors: await store().embed(texts) }
    },
    idf: async (_: string, terms: string[]) => new Map(terms.map((term) => [term, term.length])),
    close: noop,
  }
}

/** Maximum number of texts in one request to a provider. */
export const MAX_BATCH = 4

function fakeModels(store: () => SmallStore) {
  return {
    embedder: (reference: ModelReference) => ({
      reference,
      maxBatch: MAX_BATCH,
      async embed(texts: string[]) {
        store().embedded.push(texts)
        return await store().embed(texts)
      },
    }),
    has: () => true,
  }
}

/** Joins texts to a document in which each is a passage. */
export function passages(...texts: string[]): string {
  return texts.join('\n\n')
}

async function compileFile({ path, filename }: { path: string; filename: string }): Promise<CompileResult> {
  const text = readFileSync(path, 'utf8')
  const [, code] = /^!(\S+)/.exec(text) ?? []
  if (code !== undefined) {
    // An error code that a test wrote into the file.
    return { ok: false, failure: { code: code as CompileFailure['code'], message: `${filename} is ${code}` } }
  }
  return { ok: true, document: await preparedDocument(filename, text) }
}

/** Prepares a document with a passage for each paragraph. */
export async function preparedDocument(title: string, text: string): Promise<PreparedDocument> {
  const texts = text === '' ? [] : text.split('\n\n')
  let end = -2
  const nodes = texts.map((one, ordinal) => {
    const startOffset = end + 2
    end = startOffset + one.length
    return {
      ...{
        ordinal,
        title,
        text: one,
        sectionPath: [title],
        outlineNodeId: 's1',
        sourceElementIds: [`e${ordinal + 1}`],
      },
      ...{ startOffset, endOffset: end, kind: 'text' as const },
    }
  })
  return await prepareDocument({
    ...{ contentType: 'text', parser: 'native-markdown', title, mediaType: 'text/plain', language: 'en', text },
    elements: nodes.map((node) => ({
      ...{ id: `e${node.ordinal + 1}`, type: 'paragraph' as const, text: node.text, sectionPath: [title] },
      metadata: { startOffset: node.startOffset, endOffset: node.endOffset },
    })),
    outline: [
      {
        ...{ id: 's1', title, level: 1, tocSource: 'document', sectionPath: [title], children: [] },
        ...{ sourceElementIds: nodes.flatMap(({ sourceElementIds }) => sourceElementIds) },
        ...{ startOffset: 0, endOffset: text.length },
      },
    ],
    nodes,
    items: [],
    metadata: { pageCount: 1 },
    recognised: [],
  })
}
