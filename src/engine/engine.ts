import { newId } from '../lib/ids.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { type DataLayout, resolveDataLayout } from '../local/layout.js'
import type { Engine } from './api.js'
import type { BackgroundServices } from './background-services.js'
import { bindTenantScope } from './base/bind-tenant-scope.js'
import { ChangedSpaces } from './base/changed-spaces.js'
import { createEngineConfinement } from './base/confinement.js'
import { ForegroundPriority } from './base/foreground-priority.js'
import { Leases } from './base/leases.js'
import { EngineMetrics } from './base/metrics.js'
import type { EngineOptions } from './base/options.js'
import { asDeployment, asTenant } from './base/tenant-scope.js'
import { createBundleOperations } from './bundles/operations.js'
import { createChatService } from './chat/operations.js'
import { EmbeddingMigrations } from './compile/embedding-migrations.js'
import { cancelMigration, getMigration, startMigration } from './compile/migration-operations.js'
import { createReplaySource } from './compile/replay.js'
import { TranscriptionQueue } from './compile/transcription-queue.js'
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
import { createIntegrityOperations } from './integrity/integrity.js'
import { cancelJob, getJob } from './jobs/jobs.js'
import { retryFailed, retryJob } from './jobs/retry.js'
import { JobRunner } from './jobs/runner.js'
import { createLocalFileOperations } from './local-files/operations.js'
import { LsaEmbedder } from './models/builtin/lsa-embedder.js'
import { createModelRegistry } from './models/registry.js'
import { createCompiler } from './parse/compiler.js'
import { withConverters } from './parse/convert/with-converters.js'
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
import { failExpiredUploads } from './rows/staged-commits.js'
import { countTenantJobs } from './rows/tenant-jobs.js'
import { checkSearchBackend, openSearchIndexes } from './search/open-indexes.js'
import { createSnapshots } from './snapshots/operations.js'
import { createSourceOperations } from './sources/operations.js'
import { followChanges } from './spaces/changes.js'
import { getSpaceProfile, setRetrievalProfile } from './spaces/profile.js'
import { createRetentionPolicies } from './spaces/retention-policy.js'
import {
  createSpace,
  deleteSpace,
  getSpaceManifest,
  listSpaces,
  setEmbeddingProfile,
  updateSpace,
} from './spaces/spaces.js'
import { createBudgetStore } from './spaces/stored-budget.js'
import { createTokenOperations } from './spaces/tokens.js'
import { collectMetrics } from './status/collect-metrics.js'
import { getHealth } from './status/health.js'
import { createModelOperations } from './status/models-in-use.js'
import { getSpaceStats, getSpaceStatus } from './status/status.js'
import { logDatabaseEvents } from './storage/log-database-events.js'
import { type OpenStore, openServerStore, openStore, toDamagedStoreError } from './storage/open-store.js'
import { writeReply } from './storage/write-reply.js'
import { getTrace, listConflicts, listEvidence, listMissing } from './traces/traces.js'
import { createPublishedDocumentsReader } from './vfs/published-documents.js'
import { createFileSystem } from './vfs/vfs.js'
import { createGraphServices } from './views/graph-operations.js'
import { SemanticViews } from './views/views.js'
import { moveFiles, removeFiles, writeFile } from './workspaces/files.js'

/**
 * Opens the engine on a data directory that the caller has locked, and wires the services that slices share.
 * @throws StoreRefused if database and objects are not a complete store
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const layout = resolveDataLayout(options.dataDir)
  try {
    return await asDeployment(() => openLayout(layout, options))
  } catch (error) {
    throw toDamagedStoreError(error, layout)
  }
}

async function openLayout(layout: DataLayout, options: EngineOptions): Promise<Engine> {
  const { log, room } = options
  checkSearchBackend(options.search, options.database)
  const instance = newId()
  const { db, databaseFile, objects, identity } = await (options.database === undefined
    ? openStore(layout, log, (error) => room?.noteError(error), options.objects)
    : openServerStore(layout, log, options.database, `ksd ${instance}`, options.objects))
  if (databaseFile !== undefined) logDatabaseEvents(databaseFile, log)
  try {
    return await openWith(layout, options, instance, { db, databaseFile, objects, identity })
  } catch (error) {
    // open connections to a server would keep the process alive
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
  db.recover(failExpiredUploads)
  const foregroundPriority = new ForegroundPriority()
  const location = { search: options.search, dir: layout.indexes, address: options.database, gateway: instance }
  const yieldToQueries = () => foregroundPriority.yieldToQueries()
  const info = (message: string) => log.info({}, message)
  const indexes = await openSearchIndexes({
    ...location,
    db,
    source: createReplaySource(db),
    yieldToQueries,
    log: info,
  })
  const compiler = createCompiler({ children: options.workers?.reading ?? 1, languagesFolder: options.ocr?.folder })
  const confinement = createEngineConfinement(options)
  const budgetStore = createBudgetStore(db)
  let runner: JobRunner | undefined
  const services: BackgroundServices = {
    vectors: new VectorFiller(),
    migrations: new EmbeddingMigrations(),
    pageIndexes: new PageIndexer(),
    pictures: new PictureDescriber(),
    recordings: new TranscriptionQueue(),
    conflicts: new ConflictFinder(),
    failedClusters: new FailedQueryClustering(),
  }
  const context: EngineContext = {
    ...services,
    instance,
    db,
    databaseFile,
    isShared: databaseFile === undefined,
    objects,
    identity,
    indexes,
    compiler: withConverters(compiler, options.converters ?? [], confinement),
    drawer: createDrawer(),
    lsa: new LsaEmbedder(options.workers?.embedding),
    models: createModelRegistry(options.providers, { budgetStore, confinement, modelsFolder: layout.models }),
    reading: new Map(),
    changes: new ChangedSpaces(),
    leases: new Leases(),
    measures: new EngineMetrics(),
    foregroundPriority,
    options,
    log,
    now: options.now ?? Date.now,
    wake: (spaceKey) => runner?.wake(spaceKey),
  }
  const jobs = new JobRunner(context)
  runner = jobs
  const sweeper = new RetentionSweeper(context)
  const sources = createSourceOperations(context, (jobId) => jobs.waitUntilSettled(jobId))
  const shared = { cache: new PassageCache(), derivations: new Derivations(context) }
  const research = createResearch(context, shared)
  const wakeServices = () => {
    for (const service of [jobs, research.runner, ...Object.values(services)]) service.wake()
  }
  const gateway = new Gateway(context, wakeServices)
  gateway.start()
  const engine = wireEngine(context, services, jobs, sweeper, sources, shared, research, gateway)
  for (const service of Object.values(services)) await service.start(context)
  runner.start()
  research.runner.wake()
  sweeper.start()
  sources.sync.start()
  // work that waited for disk space continues
  options.room?.onSpaceAvailable(wakeServices)
  await warmUp(context)
  return options.database === undefined ? engine : bindTenantScope(engine)
}

function wireEngine(
  context: EngineContext,
  services: BackgroundServices,
  runner: JobRunner,
  sweeper: RetentionSweeper,
  sources: ReturnType<typeof createSourceOperations>,
  { cache, derivations }: QueryShared,
  research: ReturnType<typeof createResearch>,
  gateway: Gateway,
): Engine {
  const { db, options, foregroundPriority } = context
  const gate = new QueryGate(options.limits.concurrentQueries, options.limits.waitingQueries, foregroundPriority)
  const views = new SemanticViews(context, derivations)
  const graph = createGraphServices(context, derivations, views)
  // compilations, tasks and answers check their claims with each write
  for (const service of [sources.sync, services.migrations, graph.readings]) gateway.onLost(() => service.lost())
  const files = createFileSystem({ db, objects: context.objects, semantic: { derivations, views } })
  const bundles = createBundleOperations(context)
  const chat = createChatService(context, {
    gate,
    cache,
    derivations,
    documents: createPublishedDocumentsReader(files),
  })
  return {
    spaces: {
      create: (caller, body) => createSpace(context, caller, body),
      list: (caller, page) => db.read(listSpaces(caller, page)),
      get: async (caller, id) => toSpace(await db.read(findSpace(caller.tenant, id))),
      update: (caller, id, body) => updateSpace(db, caller, id, body),
      delete: (caller, id) => deleteSpace(context, caller, id),
      manifest: (caller, id) => db.read(getSpaceManifest(context, caller, id)),
      setEmbeddingProfile: (caller, id, model) => setEmbeddingProfile(context, caller, id, model),
      startMigration: (caller, id, model) => startMigration(context, caller, id, model),
      migration: (caller, id, migrationId) => db.read(getMigration(caller, id, migrationId)),
      cancelMigration: (caller, id, migrationId) => cancelMigration(context, caller, id, migrationId),
      status: async (caller, id) => getSpaceStatus(context, caller, id),
      stats: async (caller, id, minutes) => getSpaceStats(context, caller, id, minutes),
      retrievalProfile: (caller, id) => db.read(getSpaceProfile(caller, id)),
      setRetrievalProfile: (caller, id, body) => setRetrievalProfile(context, caller, id, body),
    },
    documents: createDocumentOperations(context, runner),
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
    localFiles: createLocalFileOperations(context),
    retention: createRetentionPolicies(context),
    graph: graph.operations,
    bundles,
    integrity: createIntegrityOperations(context),
    chat: chat.operations,
    idempotency: createIdempotency(context),
    tokens: createTokenOperations(db),
    health: () => getHealth(context),
    gateways: () => gateway.count,
    durable: () => db.durable(),
    damage: () => db.damage?.message,
    activity: async () =>
      asDeployment(async () => {
        const [jobs, tasks] = [await runner.activity(), await research.runner.activity()]
        const indexPid = context.indexes.pid()
        const counts = await Promise.all([...Object.values(services), graph.readings].map(({ active }) => active))
        return {
          activeJobs: jobs.activeJobs + tasks.active,
          waitingJobs: jobs.waitingJobs + tasks.waiting,
          runningQueries: gate.running + chat.running(),
          backgroundTasks:
            jobs.training +
            counts.reduce((sum, count) => sum + count, 0) +
            context.indexes.countBuilds() +
            derivations.running +
            views.running +
            sources.sync.running,
          ...omitUndefined({ indexPid }),
          parserPids: [...context.compiler.pids(), ...context.drawer.pids()],
        }
      }),
    measured: () =>
      asDeployment(() => collectMetrics(context, { running: gate.running + chat.running(), waiting: gate.waiting })),
    jobsOf: (tenant) => asTenant(tenant, () => db.read(countTenantJobs(tenant))),
    models: createModelOperations(context),
    async close() {
      await bundles.close()
      context.indexes.beginShutdown()
      await Promise.all([sources.sync.close(), research.runner.close()])
      await graph.close()
      await Promise.all([chat.close(), sweeper.close(), runner.close(), derivations.close(), views.close()])
      await Promise.all(Object.values(services).map((service) => service.close()))
      context.drawer.close()
      await Promise.all([context.compiler.close(), context.lsa.close(), context.models.close()])
      await context.indexes.close()
      await gateway.close()
      context.objects.close()
      // a log that the checkpoint thread is using would look as if it were still needed
      await db.close(() => context.identity.markClosed())
      context.identity.unmarkClosed()
    },
  }
}

function createDocumentOperations(context: EngineContext, runner: JobRunner): Engine['documents'] {
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
      const bulkItems = items.map((item) => ({ documentId: item.asset.id, jobId: item.compilationJob.id }))
      return writeReply(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        return { bulkJobId: yield* insertBulkJob(space, 'document_upload', bulkItems), total: items.length, items }
      })
    },
    async settled(caller, spaceId, accepted) {
      await runner.waitUntilSettled(accepted.compilationJob.id)
      return db.read(getDocument(caller, spaceId, accepted.asset.id))
    },
    delete: (caller, spaceId, ids) => deleteDocuments(context, caller, spaceId, ids),
    reindex: (caller, spaceId, which) => reindexDocuments(context, caller, spaceId, which),
    check: (caller, spaceId, body) => checkDocuments(context, caller, spaceId, body),
  }
}
