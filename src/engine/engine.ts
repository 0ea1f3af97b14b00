import { newId } from '../lib/ids.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { type DataLayout, resolveDataLayout } from '../local/layout.js'
import { createChatService, createResearch, type ResearchService } from './answers/index.js'
import type { Engine } from './api.js'
import type { BackgroundServices } from './background-services.js'
import { ChangedSpaces } from './base/changed-spaces.js'
import { createEngineConfinement } from './base/confinement.js'
import { ForegroundPriority } from './base/foreground-priority.js'
import { Leases } from './base/leases.js'
import { EngineMetrics } from './base/metrics.js'
import type { EngineOptions } from './base/options.js'
import { asDeployment, asTenant } from './base/tenant-scope.js'
import { createFileSystem, createPublishedDocumentsReader } from './files/index.js'
import {
  createReplaySource,
  createSourceOperations,
  EmbeddingMigrations,
  JobRunner,
  type SourceService,
  TranscriptionQueue,
  VectorFiller,
} from './ingest/index.js'
import {
  ConflictFinder,
  createGraphServices,
  Derivations,
  PageIndexer,
  PassageCache,
  PictureDescriber,
  SemanticViews,
} from './knowledge/index.js'
import { createBudgetStore, type EngineContext } from './library/index.js'
import { createModelRegistry, LsaEmbedder } from './models/index.js'
import { createOperations } from './operations.js'
import { createCompiler, createDrawer, withConverters } from './readers/index.js'
import { FailedQueryClustering, GoldenRuns, QueryGate, type RetrievalServices, warmUp } from './retrieval/index.js'
import { checkSearchBackend, openSearchIndexes } from './search/index.js'
import { logDatabaseEvents } from './store/log-database-events.js'
import { type OpenStore, openServerStore, openStore, toDamagedStoreError } from './store/open-store.js'
import { failExpiredUploads } from './store/rows/staged-commits.js'
import { countTenantJobs } from './store/rows/tenant-jobs.js'
import {
  collectMetrics,
  createBundleOperations,
  Gateway,
  getHealth,
  purgeSlice,
  RetentionSweeper,
} from './upkeep/index.js'

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
  const { log, diskReserve, now = Date.now } = options
  checkSearchBackend(options.search, options.database)
  const instance = newId()
  const { db, databaseFile, objects, identity } = await (options.database === undefined
    ? openStore(layout, log, { clock: now, onDiskFailure: (error) => diskReserve?.noteError(error) }, options.objects)
    : openServerStore(
        layout,
        log,
        { address: options.database, application: `ksd ${instance}`, clock: now },
        options.objects,
      ))
  if (databaseFile !== undefined) logDatabaseEvents(databaseFile, log)
  try {
    return await openWith(layout, options, instance, { db, databaseFile, objects, identity, now })
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
  { db, databaseFile, objects, identity, now }: OpenStore & Pick<EngineContext, 'now'>,
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
    models: createModelRegistry(options.providers, { now, budgetStore, confinement, modelsFolder: layout.models }),
    reading: new Map(),
    changes: new ChangedSpaces(),
    leases: new Leases(now),
    measures: new EngineMetrics(),
    foregroundPriority,
    options,
    log,
    now,
    wake: (spaceKey) => runner?.wakeFor(spaceKey),
  }
  const jobs = new JobRunner(context, purgeSlice)
  runner = jobs
  const sweeper = new RetentionSweeper(context)
  const sources = createSourceOperations(context, (jobId) => jobs.waitUntilSettled(jobId))
  const retrieval: RetrievalServices = { context, cache: new PassageCache(), derivations: new Derivations(context) }
  const research = createResearch(retrieval)
  const wakeServices = () => {
    for (const service of [jobs, research.runner, ...Object.values(services)]) service.wake()
  }
  const gateway = new Gateway(context, wakeServices)
  gateway.start()
  const engine = wireEngine(context, { services, runner: jobs, sweeper, sources, retrieval, research, gateway })
  for (const service of Object.values(services)) await service.start(context)
  runner.start()
  research.runner.start()
  sweeper.start()
  sources.sync.start()
  // work that waited for disk space continues
  options.diskReserve?.onSpaceAvailable(wakeServices)
  await warmUp(context)
  return engine
}

/** One document of an end user must not hold up those of others for long. */
const CHAT_READ_LIMITS = { processorMs: 60_000, wallMs: 120_000 }

/** Services that `openWith` starts and the engine closes. */
interface EngineServices {
  services: BackgroundServices
  runner: JobRunner
  sweeper: RetentionSweeper
  sources: SourceService
  retrieval: RetrievalServices
  research: ResearchService
  gateway: Gateway
}

function wireEngine(
  context: EngineContext,
  { services, runner, sweeper, sources, retrieval, research, gateway }: EngineServices,
): Engine {
  const { db, options, foregroundPriority } = context
  const gate = new QueryGate(options.limits.concurrentQueries, options.limits.waitingQueries, foregroundPriority)
  const { derivations } = retrieval
  const queries = { ...retrieval, gate }
  const views = new SemanticViews(context, derivations)
  const graph = createGraphServices(context, derivations, views)
  // compilations, tasks and answers check their claims with each write
  for (const service of [sources.sync, services.migrations, graph.readings]) gateway.onLost(() => service.lost())
  const files = createFileSystem({ db, objects: context.objects, semantic: { derivations, views } })
  const bundles = createBundleOperations(context)
  const goldenRuns = new GoldenRuns(queries)
  const converters = options.converters ?? []
  // A person waits for a document in a chat, and must not wait for compilations.
  const chatCompiler = createCompiler({
    inForeground: true,
    limits: CHAT_READ_LIMITS,
    languagesFolder: options.ocr?.folder,
  })
  const reader = withConverters(chatCompiler, converters, createEngineConfinement(options))
  const chat = createChatService({ ...queries, documents: createPublishedDocumentsReader(files), reader })
  return {
    ...createOperations(context, {
      runner,
      queries,
      files,
      graph,
      research,
      sources,
      bundles,
      chat,
      goldenRuns,
    }),
    health: () => getHealth(context),
    gateways: () => gateway.count,
    durable: () => db.durable(),
    damage: () => db.damage?.message,
    activity: async () =>
      asDeployment(async () => {
        const [jobs, tasks] = [await runner.activity(), await research.runner.activity()]
        const indexPid = context.indexes.pid()
        const counts = await Promise.all(
          [...Object.values(services), graph.readings, goldenRuns].map(({ active }) => active),
        )
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
            sources.sync.active,
          ...omitUndefined({ indexPid }),
          parserPids: [...context.compiler.pids(), ...reader.pids(), ...context.drawer.pids()],
        }
      }),
    measured: () =>
      asDeployment(() => collectMetrics(context, { running: gate.running + chat.running(), waiting: gate.waiting })),
    jobsOf: (tenant) => asTenant(tenant, () => db.read(countTenantJobs(tenant))),
    async close() {
      await bundles.close()
      context.indexes.beginShutdown()
      await Promise.all([sources.sync.stop(), research.runner.stop(), goldenRuns.stop()])
      await graph.close()
      await Promise.all([chat.close(), sweeper.stop(), runner.stop(), derivations.close(), views.close()])
      await Promise.all(Object.values(services).map((service) => service.stop()))
      context.drawer.close()
      await Promise.all([reader.close(), context.compiler.close(), context.lsa.close(), context.models.close()])
      await context.indexes.close()
      await gateway.stop()
      context.objects.close()
      // a log that the checkpoint thread is using would look as if it were still needed
      await db.close(() => context.identity.markClosed())
      context.identity.unmarkClosed()
    },
  }
}
