import pLimit from 'p-limit'
import { KsError } from '../../contract/errors.js'
import type { SourceTestResult, WebsiteCrawlResult } from '../../contract/gateway/sources.js'
import type { Caller } from '../api.js'
import { EgressFailure, type SafeFetch } from '../egress/safe-fetch.js'
import { findSpace } from '../spaces/store.js'
import { readCrawlLimits, webHeaders } from './content.js'
import { finishDeletions } from './delete.js'
import { beginImport } from './import-pages.js'
import type { SourceParts } from './sources.js'
import { findSource, type SourceRow } from './store.js'
import { claimSync, dueSources, endSync, recoverSyncs, replanAll, type SyncSummary } from './sync-store.js'
import { crawlSite, type SitePage } from './web/crawl.js'
import { createScope } from './web/scope.js'

const CRAWLS_AT_ONCE = 4
const DEFAULT_TICK_MS = 15_000
const FAILURES_KEPT = 20
/** a tester asks for the first page only */
const TEST_TIMEOUT_MS = 10_000

interface Running {
  result: Promise<WebsiteCrawlResult>
  stop: AbortController
}

type Trigger = SyncSummary['trigger']

/** Crawls sources, one crawl of a source at a time: when asked to, and by their schedules. */
export class SourceSync {
  readonly #parts: SourceParts
  readonly #fetch: SafeFetch
  readonly #settled: (jobId: string) => Promise<void>
  readonly #running = new Map<string, Running>()
  readonly #limit = pLimit(CRAWLS_AT_ONCE)
  readonly #closing = new AbortController()
  #deleting: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined

  constructor(parts: SourceParts, fetch: SafeFetch, settled: (jobId: string) => Promise<void>) {
    this.#parts = parts
    this.#fetch = fetch
    this.#settled = settled
  }

  get running(): number {
    return this.#running.size
  }

  /** Takes up what a crash cut off, and starts the schedule. */
  start(): void {
    const { db, log, now } = this.#parts.context
    const interrupted = db.writeNow(() => recoverSyncs(db, now()))
    if (interrupted > 0) log.info({ interrupted }, 'syncs of sources that were cut off are tried again')
    this.deletions().catch((error: unknown) => log.warn({ error: String(error) }, 'a source was not deleted whole'))
    this.#later()
  }

  /** Stops what runs at its next step, and waits for it. */
  async close(): Promise<void> {
    this.#closing.abort(new EgressFailure('the daemon is stopping'))
    clearTimeout(this.#timer)
    for (const { stop } of this.#running.values()) stop.abort(new EgressFailure('the daemon is stopping'))
    await Promise.allSettled([this.#turn, this.#deleting, ...[...this.#running.values()].map(({ result }) => result)])
    await this.#fetch.close()
  }

  /** Finishes deletions that were begun, one call after the other. */
  deletions(): Promise<void> {
    const next = this.#deleting.then(() => finishDeletions(this.#parts.context, this.#closing.signal))
    this.#deleting = next.catch(() => undefined)
    return next
  }

  /** Ends a crawl that runs, and waits until it has. */
  async stop(sourceId: string): Promise<void> {
    const running = this.#running.get(sourceId)
    running?.stop.abort(new EgressFailure('the source was switched off or deleted'))
    await running?.result.catch(() => undefined)
  }

  /**
   * Crawls a web source; who asks while a crawl runs gets its result.
   *
   * @throws KsError `not-a-web-source`, `invalid-request` for one that is switched off, `crawl-failed`
   */
  crawl(caller: Caller, spaceId: string, id: string, trigger: Trigger = 'request'): Promise<WebsiteCrawlResult> {
    const { db } = this.#parts.context
    const source = findSource(db, findSpace(db, caller.tenant, spaceId), id)
    if (source.type !== 'web')
      throw new KsError('not-a-web-source', `source ${id} is of type ${source.type}, only web sources are crawled`)
    if (source.status === 'disabled')
      throw new KsError('invalid-request', `source ${id} is disabled: set its status to active first`)
    const running = this.#running.get(source.id)
    if (running !== undefined) return running.result
    const stop = new AbortController()
    const result = this.#limit(() => this.#run(caller, spaceId, source, trigger, stop.signal)).finally(() =>
      this.#running.delete(source.id),
    )
    this.#running.set(source.id, { result, stop })
    return result
  }

  /** Fetches the address of a web source with its credentials. @throws KsError `not-configured` for other types */
  async test(caller: Caller, spaceId: string, id: string): Promise<SourceTestResult> {
    const { db } = this.#parts.context
    const source = findSource(db, findSpace(db, caller.tenant, spaceId), id)
    if (source.type !== 'web')
      throw new KsError('not-configured', `there is no tester for sources of type ${source.type}`)
    try {
      const credentials = this.#headersOf(source)
      const options = { credentials, signal: this.#closing.signal, timeoutMs: TEST_TIMEOUT_MS }
      const { status } = await this.#fetch.get(source.uri, options)
      return status < 400 ? { valid: true } : { valid: false, error: `the site answered ${status}` }
    } catch (error) {
      if (error instanceof EgressFailure) return { valid: false, error: error.message }
      throw error
    }
  }

  async #run(caller: Caller, spaceId: string, source: SourceRow, trigger: Trigger, signal: AbortSignal) {
    const { db, log, now } = this.#parts.context
    signal.throwIfAborted()
    const claimed = await db.write(() => claimSync(db, source, now()))
    if (!claimed) throw new KsError('crawl-failed', `source ${source.id} was switched off or deleted meanwhile`)
    try {
      const { pages, summary } = await this.#crawl(caller, spaceId, source, signal)
      await db.write(() => endSync(db, source, { summary: { ...summary, trigger } }, now()))
      const { at: _at, failures: _failures, ...counts } = summary
      return { pages, status: 'completed', ...counts }
    } catch (error) {
      const known = error instanceof EgressFailure || error instanceof KsError
      if (!known) log.error({ source: source.id, error: String(error) }, 'a crawl could not go on')
      const reason = known ? error.message : 'an unexpected failure'
      await db.write(() => endSync(db, source, { error: reason }, now()))
      if (error instanceof KsError && error.code !== 'unavailable') throw error
      throw new KsError('crawl-failed', `source ${source.id} could not be crawled: ${reason}`)
    }
  }

  async #crawl(caller: Caller, spaceId: string, source: SourceRow, signal: AbortSignal) {
    const { context } = this.#parts
    const limits = readCrawlLimits(JSON.parse(source.metadata))
    const access = { fetch: this.#fetch, credentials: this.#headersOf(source), signal }
    const settled = (jobId: string) => abortable(this.#settled(jobId), signal)
    const importing = await beginImport(context, caller, { spaceId, source }, settled)
    const seen: SitePage['facts'][] = []
    const addresses: string[] = []
    const failures = await crawlSite({ scope: createScope(source.uri), ...limits }, access, async (page) => {
      signal.throwIfAborted()
      await importing.take(page)
      addresses.push(page.address)
      seen.push(page.facts)
    })
    const done = await importing.finish()
    failures.push(...done.failures)
    const [first] = failures
    if (done.outcomes.size === 0 && first !== undefined) throw new EgressFailure(first.error)
    const of = (kind: string) => [...done.outcomes.values()].filter((outcome) => outcome === kind).length
    const pages = seen.flatMap(({ text, title, description }, index): WebsiteCrawlResult['pages'] => {
      const sourceUrl = addresses[index] ?? ''
      if (!done.outcomes.has(sourceUrl)) return []
      const about = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
      return [{ sourceUrl, content: text, ...about }]
    })
    const counts = { imported: of('imported'), replaced: of('replaced'), skipped: of('skipped') }
    const completed = done.outcomes.size
    const total = completed + failures.length
    const at = new Date(context.now()).toISOString()
    return {
      pages,
      summary: { at, total, completed, failed: failures.length, ...counts, failures: failures.slice(0, FAILURES_KEPT) },
    }
  }

  #headersOf(source: SourceRow): Record<string, string> {
    const { box } = this.#parts
    return webHeaders(source.credentials === null ? undefined : box.open(source.id, source.credentials))
  }

  #later(): void {
    if (this.#closing.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.#turn = this.#tick().finally(() => this.#later())
    }, this.#parts.context.options.sources?.tickMs ?? DEFAULT_TICK_MS)
    this.#timer.unref()
  }

  /** Begins what is due. Runs that were missed while the daemon was down count as one. */
  async #tick(): Promise<void> {
    const { db, log, now } = this.#parts.context
    try {
      await db.write(() => replanAll(db, now()))
      for (const source of dueSources(db, now())) {
        if (this.#running.has(source.id)) continue
        const caller = { tenant: source.tenant, subject: 'source-sync' }
        this.crawl(caller, source.space_id, source.id, 'schedule').catch((error: unknown) =>
          log.warn({ source: source.id, error: String(error) }, 'a scheduled sync failed'),
        )
      }
    } catch (error) {
      log.error({ error: String(error) }, 'the schedule of sources could not be read')
    }
  }
}

/** A promise that is not waited for any more once the signal aborts. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
