import { defined } from '../lib/defined.js'
import { newId } from '../lib/ids.js'
import { type DataLayout, dataLayout } from '../local/layout.js'
import type { Engine } from './api.js'
import { ChangedSpaces } from './base/changed-spaces.js'
import { confinementOf } from './base/confinement.js'
import { Leases } from './base/leases.js'
import { Measures } from './base/measures.js'
import { ofCallers } from './base/of-callers.js'
import type { EngineOptions } from './base/options.js'
import { RightOfWay } from './base/right-of-way.js'
import { asDeployment, asTenant } from './base/tenant-scope.js'
import { createBundles } from './bundles/operations.js'
import { createChat } from './chat/operations.js'
import { EmbeddingMigrations } from './compile/embedding-migrations.js'
import { Listener } from './compile/listener.js'
import { cancelMigration, getMigration, startMigration } from './compile/migration-operations.js'
import { createReplaySource } from './compile/replay.js'
import { VectorFiller } from './compile/vector-filler.js'
import { ConflictFinder } from './conflicts/finder.js'
import type { EngineContext } from './context.js'
import { Derivations } from './derived/derivation.js'
import { PageIndexer } from './derived/page-index/indexer.js'
import { PassageCache } from './derived/passage.js'
import { PictureDescriber } from './derived/pictures/describer.js'
import { deleteDocuments } from './documents/delete.js'
import { getMultimodal, getOutline, getParseArtifact } from './documents/derived.js'
import { checkDocuments, getDocument, listDocuments } from './documents/documents.js'
import { getItemAsset } from './documents/item-assets.js'
import { reindexDocuments } from './documents/reindex.js'
import { beginUpload } from './documents/upload.js'
import { explainQuery } from './explain/explain.js'
import { Gateway } from './gateways/gateway.js'
import { createIdempotency } from './idempotency/idempotency.js'
import { createIntegrity } from './integrity/integrity.js'
import { cancelJob, getJob } from './jobs/jobs.js'
import { retryFailed, retryJob } from './jobs/retry.js'
import { JobRunner } from './jobs/runner.js'
import { createLocalFiles } from './local-files/operations.js'
import { LsaEmbedding } from './models/builtin/lsa-embedder.js'
import { createModelRegistry } from './models/registry.js'
import { createCompiler } from './parse/compiler.js'
import { withConverters } from './parse/convert/converting.js'
import { createDrawer } from './parse/draw/drawer.js'
import { FailedQueryClustering } from './quality/clustering.js'
import { createQuality } from './quality/operations.js'
import { QueryGate } from './query/gate.js'
import { startQuery } from './query/run.js'
import { searchSpace } from './query/search.js'
import type { QueryShared } from './query/stages.js'
import { warmUp } from './query/warm-up.js'
import { getBulkJob } from './queue/bulk.js'
import { listJobs } from './queue/list.js'
import { createResearch } from './research/operations.js'
import { RetentionSweeper } from './retention/sweeper.js'
import { insertBulkJob } from './rows/bulk-jobs.js'
import { findSpace, toSpace } from './rows/spaces.js'
import { giveUpExpiredUploads } from './rows/staged-commits.js'
import { tenantJobs } from './rows/tenant-jobs.js'
import { checkSearchPlace, openSearchIndexes } from './search/open-indexes.js'
import { createSnapshots } from './snapshots/operations.js'
import { createSources } from './sources/operations.js'
import { followChanges } from './spaces/changes.js'
import { setRetrievalProfile, spaceProfile } from './spaces/profile.js'
import { retentionPolicies } from './spaces/retention-policy.js'
import {
  createSpace,
  deleteSpace,
  listSpaces,
  setEmbeddingProfile,
  spaceManifest,
  updateSpace,
} from './spaces/spaces.js'
import { createBudgetStore } from './spaces/stored-budget.js'
import { tokenOperations } from './spaces/tokens.js'
import { health } from './status/health.js'
import { measured } from './status/measured.js'
import { modelOperations } from './status/models-in-use.js'
import { spaceStats, spaceStatus } from './status/status.js'
import { explainDamage, type OpenStore, openServerStore, openStore } from './storage/open-store.js'
import { tellOf } from './storage/tell-of.js'
import { writeAnswer } from './storage/write-answer.js'
import { getTrace, listConflicts, listEvidence, listMissing } from './traces/traces.js'
import { publishedDocuments } from './vfs/published-documents.js'
import { createFileSystem } from './vfs/vfs.js'
import { createGraph } from './views/graph-operations.js'
import { SemanticViews } from './views/views.js'
import { moveFiles, removeFiles, writeFile } from './workspaces/files.js'

/**
 * Opens the engine on a data directory that the caller has locked: recovers after a crash, starts the index process and
 * the job runner. All services that slices share are wired here.
 *
 * @throws StoreRefused if database and objects are not a complete store
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const layout = dataLayout(options.dataDir)
  try {
    return await asDeployment(() => openOn(layout, options))
  } catch (error) {
    throw explainDamage(error, layout)
  }
}

async function openOn(layout: DataLayout, options: EngineOptions): Promise<Engine> {
  const { log, room } = options
  checkSearchPlace(options.search, options.database)
  const instance = newId()
  const { db, databaseFile, objects, identity } = await (options.database === undefined
    ? openStore(layout, log, (error) => room?.note(error), options.objects)
    : openServerStore(layout, log, options.database, `ksd ${instance}`, options.objects))
  if (databaseFile !== undefined) tellOf(databaseFile, log)
  try {
    return await openWith(layout, options, instance, { db, databaseFile, objects, identity })
  } catch (error) {
    // resources opened after the database end with the process; open connections to a server would keep it alive
    if (databaseFile === undefined) await db.close()
    throw error
  }
}

async function openWith(
  layout: DataLayout,
  options: EngineOptions,
  instance: string,
  { db, databaseFile, objects, identity }: OpenStore,
): Promise<Engine> {
  const { log } = options
  db.recover(giveUpExpiredUploads)
  const rightOfWay = new RightOfWay()
  const place = { search: options.search, dir: layout.indexes, address: options.database, gateway: instance }
  const giveWay = () => rightOfWay.giveWay()
  const told = (message: string) => log.info({}, message)
  const indexes = await openSearchIndexes({ ...place, db, source: createReplaySource(db), giveWay, log: told })
  const compiler = createCompiler({ children: options.workers?.reading ?? 1, languagesFolder: options.ocr?.folder })
  const confinement = confinementOf(options)
  const budgetStore = createBudgetStore(db)
  let runner: JobRunner | undefined
  const behind: Behind = {
    vectors: new VectorFiller(),
    migrations: new EmbeddingMigrations(),
    pageIndexes: new PageIndexer(),
    pictures: new PictureDescriber(),
    recordings: new Listener(),
    conflicts: new ConflictFinder(),
    failedClusters: new FailedQueryClustering(),
  }
  const context: EngineContext = {
    ...behind,
    instance,
    db,
    databaseFile,
    isShared: databaseFile === undefined,
    objects,
    identity,
    indexes,
    compiler: withConverters(compiler, options.converters ?? [], confinement),
    drawer: createDrawer(),
    lsa: new LsaEmbedding(options.workers?.embedding),
    models: createModelRegistry(options.providers, { budgetStore, confinement, modelsFolder: layout.models }),
    reading: new Map(),
    changes: new ChangedSpaces(),
    leases: new Leases(),
    measures: new Measures(),
    rightOfWay,
    options,
    log,
    now: options.now ?? Date.now,
    wake: (spaceKey) => runner?.wake(spaceKey),
  }
  const jobs = new JobRunner(context)
  runner = jobs
  const sweeper = new RetentionSweeper(context)
  const sources = createSources(context, (jobId) => jobs.settled(jobId))
  const shared = { cache: new PassageCache(), derivations: new Derivations(context) }
  const research = createResearch(context, shared)
  const wakeAll = () => {
    for (const one of [jobs, research.runner, ...Object.values(behind)]) one.wake()
  }
  const gateway = new Gateway(context, wakeAll)
  gateway.start()
  const engine = wire(context, behind, jobs, sweeper, sources, shared, research, gateway)
  for (const one of Object.values(behind)) await one.start(context)
  runner.start()
  research.runner.wake()
  sweeper.start()
  sources.sync.start()
  // work that waited for disk space continues
  options.room?.onRoom(wakeAll)
  await warmUp(context)
  return options.database === undefined ? engine : ofCallers(engine)
}

/** Services that work in the background, in the order in which they start. */
interface Behind {
  vectors: VectorFiller
  migrations: EmbeddingMigrations
  pageIndexes: PageIndexer
  pictures: PictureDescriber
  recordings: Listener
  conflicts: ConflictFinder
  failedClusters: FailedQueryClustering
}

function wire(
  context: EngineContext,
  behind: Behind,
  runner: JobRunner,
  sweeper: RetentionSweeper,
  sources: ReturnType<typeof createSources>,
  { cache, derivations }: QueryShared,
  research: ReturnType<typeof createResearch>,
  gateway: Gateway,
): Engine {
  const { db, options } = context
  const gate = new QueryGate(options.limits.concurrentQueries, options.limits.waitingQueries, context.rightOfWay)
  const views = new SemanticViews(context, derivations)
  const graph = createGraph(context, derivations, views)
  // compilations, tasks and answers check their claims with each write
  for (const one of [sources.sync, behind.migrations, graph.readings]) gateway.whenLost(() => one.lost())
  const files = createFileSystem({ db, objects: context.objects, semantic: { derivations, views } })
  const bundles = createBundles(context)
  const chat = createChat(context, { gate, cache, derivations, documents: publishedDocuments(files) })
  return {
    spaces: {
      create: (caller, body) => createSpace(context, caller, body),
      list: (caller, page) => db.read(listSpaces(caller, page)),
      get: async (caller, id) => toSpace(await db.read(findSpace(caller.tenant, id))),
      update: (caller, id, body) => updateSpace(db, caller, id, body),
      delete: (caller, id) => deleteSpace(context, caller, id),
      manifest: (caller, id) => db.read(spaceManifest(context, caller, id)),
      setEmbeddingProfile: (caller, id, model) => setEmbeddingProfile(context, caller, id, model),
      startMigration: (caller, id, model) => startMigration(context, caller, id, model),
      migration: (caller, id, migrationId) => db.read(getMigration(caller, id, migrationId)),
      cancelMigration: (caller, id, migrationId) => cancelMigration(context, caller, id, migrationId),
      status: async (caller, id) => spaceStatus(context, caller, id),
      stats: async (caller, id, minutes) => spaceStats(context, caller, id, minutes),
      retrievalProfile: (caller, id) => db.read(spaceProfile(caller, id)),
      setRetrievalProfile: (caller, id, body) => setRetrievalProfile(context, caller, id, body),
    },
    documents: documentOperations(context, runner),
    jobs: {
      get: (caller, id) => db.read(getJob(caller, id)),
      cancel: (caller, id) => cancelJob(context, caller, id),
      bulk: (caller, id) => db.read(getBulkJob(caller, id)),
      list: (caller, spaceId, page) => db.read(listJobs(context, caller, spaceId, page)),
      retry: (caller, id) => retryJob(context, caller, id),
      retryFailed: (caller, spaceId) => retryFailed(context, caller, spaceId),
    },
    queries: {
      start: (caller, body, signal) => startQuery(context, { gate, cache, derivations }, caller, body, signal),
      explain: (caller, spaceId, body) => explainQuery(context, { gate, cache, derivations }, caller, spaceId, body),
      search: (caller, spaceId, body) => searchSpace(context, { gate, cache, derivations }, caller, spaceId, body),
      trace: (caller, id) => db.read(getTrace(caller, id)),
      evidence: (caller, id, page) => db.read(listEvidence(caller, id, page)),
      conflicts: (caller, id, page) => db.read(listConflicts(caller, id, page)),
      missing: (caller, id, page) => db.read(listMissing(caller, id, page)),
    },
    changes: { follow: (caller, seconds, signal) => followChanges(context, caller, seconds, signal) },
    quality: createQuality(context),
    research: research.operations,
    sources: sources.operations,
    fs: {
      ...files,
      write: (caller, id, body) => writeFile(context, caller, id, body),
      mv: (caller, id, body) => moveFiles(context, caller, id, body),
      rm: (caller, id, query) => removeFiles(context, caller, id, query),
    },
    snapshots: createSnapshots(context, { gate, cache, derivations }),
    localFiles: createLocalFiles(context),
    retention: retentionPolicies(context),
    graph: graph.operations,
    bundles,
    integrity: createIntegrity(context),
    chat: chat.operations,
    idempotency: createIdempotency(context),
    tokens: tokenOperations(db),
    health: () => health(context),
    gateways: () => gateway.count,
    durable: () => db.durable(),
    damage: () => db.damage?.message,
    activity: async () =>
      asDeployment(async () => {
        const [jobs, tasks] = [await runner.activity(), await research.runner.activity()]
        const indexPid = context.indexes.pid()
        const counts = await Promise.all([...Object.values(behind), graph.readings].map(({ active }) => active))
        return {
          activeJobs: jobs.activeJobs + tasks.active,
          waitingJobs: jobs.waitingJobs + tasks.waiting,
          runningQueries: gate.running + chat.running(),
          backgroundTasks:
            jobs.training +
            counts.reduce((sum, count) => sum + count, 0) +
            context.indexes.builds() +
            derivations.running +
            views.running +
            sources.sync.running,
          ...defined({ indexPid }),
          parserPids: [...context.compiler.pids(), ...context.drawer.pids()],
        }
      }),
    measured: () =>
      asDeployment(() => measured(context, { running: gate.running + chat.running(), waiting: gate.waiting })),
    jobsOf: (tenant) => asTenant(tenant, () => db.read(tenantJobs(tenant))),
    models: modelOperations(context),
    async close() {
      await bundles.close()
      context.indexes.hurry()
      await Promise.all([sources.sync.close(), research.runner.close()])
      await graph.close()
      await Promise.all([chat.close(), sweeper.close(), runner.close(), derivations.close(), views.close()])
      await Promise.all(Object.values(behind).map((one) => one.close()))
      context.drawer.close()
      await Promise.all([context.compiler.close(), context.lsa.close(), context.models.close()])
      await context.indexes.close()
      await gateway.close()
      context.objects.close()
      // a log that the checkpoint thread is using would look as if it were still needed
      await db.close(() => context.identity.closed())
      context.identity.released()
    },
  }
}

function documentOperations(context: EngineContext, runner: JobRunner): Engine['documents'] {
  const { db } = context
  return {
    list: (caller, spaceId, page) => db.read(listDocuments(caller, spaceId, page)),
    get: (caller, spaceId, id) => db.read(getDocument(caller, spaceId, id)),
    parseArtifact: (caller, spaceId, id, version) => getParseArtifact(db, caller, spaceId, id, version),
    outline: (caller, spaceId, id) => getOutline(db, caller, spaceId, id),
    multimodal: (caller, spaceId, id) => getMultimodal(db, caller, spaceId, id),
    itemAsset: (caller, spaceId, id, item, variant) => getItemAsset(context, caller, spaceId, id, item, variant),
    upload: (caller, spaceId, kind) => beginUpload(context, caller, spaceId, kind),
    async bulkUpload(caller, spaceId, items) {
      const made = items.map((item) => ({ documentId: item.asset.id, jobId: item.compilationJob.id }))
      return writeAnswer(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        return { bulkJobId: yield* insertBulkJob(space, 'document_upload', made), total: items.length, items }
      })
    },
    async settled(caller, spaceId, accepted) {
      await runner.settled(accepted.compilationJob.id)
      return db.read(getDocument(caller, spaceId, accepted.asset.id))
    },
    delete: (caller, spaceId, ids) => deleteDocuments(context, caller, spaceId, ids),
    reindex: (caller, spaceId, which) => reindexDocuments(context, caller, spaceId, which),
    check: (caller, spaceId, body) => checkDocuments(context, caller, spaceId, body),
  }
}
