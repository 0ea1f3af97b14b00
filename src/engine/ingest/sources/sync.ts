import { KsError } from '../../../contract/errors.js'
import type {
  ImportFilesBody,
  ImportPagesBody,
  SourceImportResult,
  SourceTestResult,
  WebsiteCrawlResult,
} from '../../../contract/gateway/sources.js'
import { linkAbort } from '../../../lib/abort.js'
import { BackgroundService } from '../../base/background-service.js'
import type { Caller } from '../../base/caller.js'
import { asTenant } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../library/index.js'
import { EgressFailure, type SafeFetch } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { type DueSource, listDueSources } from '../../store/rows/source-syncs.js'
import { findSource, type SourceRow } from '../../store/rows/sources.js'
import { findSpace } from '../../store/rows/spaces.js'
import { isWriteStopped } from '../../store/write-stop.js'
import { clearWorkFolders, type OpenedSource, openSourceLocation } from './connectors/open.js'
import { isSyncable, noConnectorError } from './connectors/registry.js'
import { crawlSource } from './crawl-source.js'
import { finishDeletions } from './delete.js'
import type { ImportContext } from './import-items.js'
import { importFiles, importPages, type RemoteImport, reimport, toImportResult } from './import-remote.js'
import { SourceRuns, toRunError } from './runs.js'
import { replanAll } from './schedule.js'
import type { SourceParts } from './sources.js'
import { type SyncSummary, toSyncSummary } from './sync-summary.js'
import { getAuthHeaders, testSource } from './test-source.js'

const DEFAULT_TICK_MS = 15_000

type SyncTrigger = SyncSummary['trigger']

interface SourceRequest {
  caller: Caller
  spaceId: string
  id: string
}

/** Crawls and imports, one at a time for each source: on request, and by the sources' schedules. */
export class SourceSync extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'the schedule of sources could not be read'
  protected override readonly failureLevel = 'error'
  readonly #parts: SourceParts
  readonly #fetch: SafeFetch
  readonly #runs: SourceRuns
  /** a request during a crawl of the source shares its result */
  readonly #crawls = new Map<string, Promise<WebsiteCrawlResult>>()
  readonly #closing = new AbortController()
  #deleting: Promise<void> = Promise.resolve()

  constructor(parts: SourceParts, fetch: SafeFetch, settled: (jobId: string) => Promise<void>) {
    super(parts.context)
    this.#parts = parts
    this.#fetch = fetch
    this.#runs = new SourceRuns(parts.context, settled)
  }

  /** count of sources that are being read */
  override get active(): number {
    return this.#runs.size
  }

  /** Starts the schedule. */
  override start(): void {
    const { log, options } = this.context
    this.finishDeletions().catch((error: unknown) =>
      log.warn({ error: String(error) }, 'a source was not deleted completely'),
    )
    clearWorkFolders(options.dataDir).catch((error: unknown) =>
      log.warn({ error: String(error) }, 'old work folders were not removed'),
    )
    super.start(this.context, this.intervalMs())
  }

  /** Stops the running work at its next step, and waits for it. */
  override async stop(): Promise<void> {
    this.#closing.abort(new EgressFailure('the daemon is stopping'))
    await Promise.allSettled([super.stop(), this.#deleting, this.#runs.stopAll('the daemon is stopping')])
    await this.#fetch.close()
  }

  /** To be called when other gateways consider this one dead and take over its runs. */
  lost(): void {
    this.#runs.lost()
  }

  /** Finishes pending deletions; calls run one after the other. */
  finishDeletions(): Promise<void> {
    const next = this.#deleting.then(() => finishDeletions(this.context, this.#closing.signal))
    this.#deleting = next.catch(() => undefined)
    return next
  }

  /** Aborts the run of a source, and waits for its end. */
  stopRun(sourceId: string): Promise<void> {
    return this.#runs.stop(sourceId, 'the source was disabled or deleted')
  }

  /**
   * Crawls a web source; a request during a crawl shares its result.
   *
   * @throws KsError `not-a-web-source`, `not-configured`, `invalid-request` for a disabled one, `crawl-failed`
   */
  async crawl(
    caller: Caller,
    spaceId: string,
    id: string,
    trigger: SyncTrigger = 'request',
  ): Promise<WebsiteCrawlResult> {
    const source = await this.#find(caller, spaceId, id)
    if (source.type !== 'web')
      throw new KsError('not-a-web-source', `source ${id} is of type ${source.type}, only web sources are crawled`)
    if (!isSyncable(source.type, parseJsonCell(source.metadata))) throw noConnectorError(source.type, id)
    assertEnabled(source)
    const running = this.#crawls.get(source.id)
    if (running !== undefined) return await running
    const crawl = this.#runs.start(caller, spaceId, source, {
      trigger,
      failure: 'crawl-failed' as const,
      isPart: false,
      run: async (importContext) => {
        const access = {
          fetch: this.#fetch,
          credentials: getAuthHeaders(this.#parts, source),
          signal: importContext.signal,
        }
        const { pages, counts } = await crawlSource(importContext, access)
        const { at: _at, trigger: _trigger, failures: _failures, ...summary } = toSyncSummary(counts, trigger, 0)
        return { value: { pages, status: 'completed', ...summary }, counts }
      },
    })
    this.#crawls.set(source.id, crawl)
    const forgetCrawl = () => {
      if (this.#crawls.get(source.id) === crawl) this.#crawls.delete(source.id)
    }
    crawl.then(forgetCrawl, forgetCrawl)
    return await crawl
  }

  /** @throws KsError `not-a-connector`, `not-configured`, `connector-failed` */
  importPages(caller: Caller, spaceId: string, id: string, { pages }: ImportPagesBody): Promise<SourceImportResult> {
    return this.#import({ caller, spaceId, id }, 'pages', (importContext, opened) =>
      opened.kind === 'pages' ? importPages(importContext, opened.connection, pages) : importNothing(),
    )
  }

  /** @throws KsError `not-a-drive`, `not-configured`, `connector-failed` */
  importFiles(caller: Caller, spaceId: string, id: string, { files }: ImportFilesBody): Promise<SourceImportResult> {
    return this.#import({ caller, spaceId, id }, 'files', (importContext, opened) =>
      opened.kind === 'files' ? importFiles(importContext, opened.connection, files) : importNothing(),
    )
  }

  /**
   * Queries the location of a source. @throws KsError `not-a-connector`, `not-a-drive`, `not-configured`,
   * `connector-failed`
   */
  async query<T>(
    { caller, spaceId, id }: SourceRequest,
    kind: OpenedSource['kind'],
    question: (opened: OpenedSource) => Promise<T>,
  ): Promise<T> {
    const source = await this.#find(caller, spaceId, id)
    assertKind(source, kind)
    const { signal, dispose } = linkAbort(this.#closing.signal)
    const opened = openSourceLocation(this.#parts, source, this.#fetch, signal)
    try {
      return await question(opened)
    } catch (error) {
      throw error instanceof EgressFailure ? toRunError('connector-failed', source, error.message) : error
    } finally {
      dispose()
      await opened.connection.close()
    }
  }

  /** Sends a minimal request that shows whether a source can be read. @throws KsError `not-configured` */
  async test(caller: Caller, spaceId: string, id: string): Promise<SourceTestResult> {
    return testSource(this.#parts, await this.#find(caller, spaceId, id), this.#fetch, this.#closing.signal)
  }

  #find(caller: Caller, spaceId: string, id: string): Promise<SourceRow> {
    return this.context.db.read(findSourceInSpace(caller, spaceId, id))
  }

  /** Imports wait for each other: each has its own result. */
  async #import(
    { caller, spaceId, id, trigger = 'request' }: SourceRequest & { trigger?: SyncTrigger },
    kind: OpenedSource['kind'],
    runImport: (importContext: ImportContext, opened: OpenedSource) => Promise<RemoteImport>,
  ): Promise<SourceImportResult> {
    for (;;) {
      const source = await this.#find(caller, spaceId, id)
      assertKind(source, kind)
      assertEnabled(source)
      const running = this.#runs.whenEnded(source.id)
      if (running === undefined) {
        const isPart = trigger === 'request'
        return await this.#runs.start(caller, spaceId, source, {
          trigger,
          failure: 'connector-failed' as const,
          isPart,
          run: (importContext) => this.#runImport(importContext, runImport),
        })
      }
      await running
    }
  }

  async #runImport(
    importContext: ImportContext,
    runImport: (importContext: ImportContext, opened: OpenedSource) => Promise<RemoteImport>,
  ) {
    const opened = openSourceLocation(this.#parts, importContext.source, this.#fetch, importContext.signal)
    try {
      const done = await runImport(importContext, opened)
      const value = toImportResult(done)
      const countOf = (kind: string) => done.outcomes.filter((outcome) => outcome.kind === kind).length
      const failures = value.failed.map(({ filename, error }) => ({ url: filename, error }))
      // unchanged bytes count as skipped, for any request
      const counts = {
        imported: countOf('imported'),
        replaced: countOf('replaced'),
        skipped: countOf('skipped') + countOf('same'),
      }
      return { value, counts: { ...counts, failures } }
    } finally {
      await opened.connection.close()
    }
  }

  protected override intervalMs(): number {
    return this.context.options.sources?.tickMs ?? DEFAULT_TICK_MS
  }

  /** Starts due syncs. Runs missed while the daemon was down count as one. */
  protected override async tick(): Promise<void> {
    const { db, log, now } = this.context
    await db.write(() => replanAll(now()))
    if (isWriteStopped(this.context)) return
    for (const source of await db.read(listDueSources(now()))) {
      if (this.isStopped) return
      if (this.#runs.whenEnded(source.id) !== undefined || !isSyncable(source.type, parseJsonCell(source.metadata)))
        continue
      const sync = asTenant(source.tenant, () => this.#sync(source))
      this.track(
        sync.catch((error: unknown) =>
          log.warn({ source: source.id, error: String(error) }, 'a scheduled sync failed'),
        ),
      )
    }
  }

  async #sync(source: DueSource): Promise<void> {
    const caller: Caller = { tenant: source.tenant, subject: 'source-sync', isDaemon: true }
    if (source.type === 'web') await this.crawl(caller, source.space_id, source.id, 'schedule')
    else
      await this.#import(
        { caller, spaceId: source.space_id, id: source.id, trigger: 'schedule' },
        source.type === 'connector' ? 'pages' : 'files',
        reimport,
      )
  }
}

function* findSourceInSpace(caller: Caller, spaceId: string, id: string): Read<SourceRow> {
  return yield* findSource(caller, yield* findSpace(caller.tenant, spaceId), id)
}

const importNothing = async (): Promise<RemoteImport> => ({ labels: [], outcomes: [] })

function assertEnabled(source: SourceRow): void {
  if (source.status === 'disabled')
    throw new KsError('invalid-request', `source ${source.id} is disabled: set its status to active first`)
}

function assertKind(source: SourceRow, kind: OpenedSource['kind']): void {
  if (kind === 'pages' && source.type !== 'connector')
    throw new KsError(
      'not-a-connector',
      `source ${source.id} is of type ${source.type}, only connector sources have pages`,
    )
  if (kind === 'files' && source.type !== 'object-storage')
    throw new KsError(
      'not-a-drive',
      `source ${source.id} is of type ${source.type}, only object-storage sources have files`,
    )
}
