import type { Client } from '../../client/client.js'
import { toApiError } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { readText } from '../../client/http.js'
import type { ListedJob } from '../../contract/gateway/jobs.js'
import type { DaemonStatus } from '../../contract/gateway/system.js'
import { type PrometheusMetrics, parseMetrics } from './metrics-text.js'

/** The data of `ks top`, read at one time through public operations. */

/** Maximum number of spaces shown individually. */
const MAX_SPACES = 100
/** Maximum number of open jobs read for a space, newest first. */
const MAX_JOBS = 100
/** Document counts are reloaded after this time, or while the space has work. */
const MAX_COUNT_AGE_MS = 30_000
/** Maximum number of counts loaded in one reading. */
const MAX_COUNTS_PER_READING = 10
const FORBIDDEN = 403

export interface TopSpace {
  id: string
  slug: string
  documents: number | undefined
  bytes: number | undefined
  /** Number of loaded jobs that have not ended; `hasMore` if there are further ones. */
  open: number
  hasMore: boolean
  /** Creation time of the oldest of them, in milliseconds since the epoch. */
  oldest: number | undefined
}

export interface TopJob extends ListedJob {
  space: string
  /** Whether its file is being read now. */
  isReading: boolean
}

export interface TopReading {
  /** Time of the reading in milliseconds since the epoch. */
  takenAt: number
  status: DaemonStatus
  metrics: PrometheusMetrics | undefined
  spaces: readonly TopSpace[]
  hasMoreSpaces: boolean
  jobs: readonly TopJob[]
  /** Messages of the service about data that the token may not read. */
  lacks: readonly string[]
}

interface SpaceCounts {
  documents: number
  bytes: number
  /** In milliseconds since the epoch. */
  loadedAt: number
}

/** Reads a service. Keeps document counts between readings: loading them for every reading would be slow. */
export class TopReader {
  readonly #counts = new Map<string, SpaceCounts>()

  /** Takes one reading. @throws ApiError, ConnectionError */
  async read(client: Client): Promise<TopReading> {
    const lacks: string[] = []
    const [status, metrics, listed] = await Promise.all([
      client.request('GET /daemon/status', { query: {} }),
      loadMetrics(client, lacks),
      client.request('GET /knowledge-spaces', { query: { limit: MAX_SPACES } }),
    ])
    const { activeJobs, waitingJobs } = status.activity
    const isIdle = activeJobs + waitingJobs === 0
    const loaded = await Promise.all(
      listed.items.map(async ({ id, slug }) => ({
        id,
        slug,
        ...(isIdle ? NO_JOBS : await loadJobs(client, id, slug)),
      })),
    )
    await this.#loadCounts(client, loaded)
    const spaces = loaded.map(({ id, slug, jobs, hasMore }): TopSpace => {
      const { documents, bytes } = this.#counts.get(id) ?? {}
      const oldest = jobs.length === 0 ? undefined : Math.min(...jobs.map(({ createdAt }) => createdAt))
      return { id, slug, documents, bytes, open: jobs.length, hasMore, oldest }
    })
    const jobs = loaded.flatMap((space) => space.jobs)
    const hasMoreSpaces = listed.nextCursor !== undefined
    return { takenAt: Date.now(), status, metrics, spaces, hasMoreSpaces, jobs, lacks }
  }

  async #loadCounts(client: Client, spaces: readonly { id: string; jobs: readonly TopJob[] }[]): Promise<void> {
    const now = Date.now()
    const due = spaces
      .map(({ id, jobs }) => ({ id, age: now - (this.#counts.get(id)?.loadedAt ?? 0), isBusy: jobs.length > 0 }))
      .filter(({ age, isBusy }) => isBusy || age > MAX_COUNT_AGE_MS)
      .sort((a, b) => b.age - a.age)
      .slice(0, MAX_COUNTS_PER_READING)
    await Promise.all(
      due.map(async ({ id }) => {
        const stats = await ignoreDeleted(
          client.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} }),
        )
        if (stats === undefined) return
        const { documentCount, rawDocumentBytes } = stats.storage
        this.#counts.set(id, { documents: documentCount, bytes: rawDocumentBytes, loadedAt: now })
      }),
    )
  }
}

const NO_JOBS: { jobs: TopJob[]; hasMore: boolean } = { jobs: [], hasMore: false }

async function loadJobs(client: Client, id: string, slug: string): Promise<{ jobs: TopJob[]; hasMore: boolean }> {
  const listJobs = (state: 'open' | 'reading') =>
    ignoreDeleted(
      client.request('GET /knowledge-spaces/{id}/jobs', { path: { id }, query: { state, limit: MAX_JOBS } }),
    )
  const open = await listJobs('open')
  if (open === undefined || open.items.length === 0) return NO_JOBS
  // A space with a long queue may be reading files that are not among its newest.
  const reading = (await listJobs('reading'))?.items ?? []
  const readingIds = new Set(reading.map((job) => job.id))
  const jobs = [...reading, ...open.items.filter((job) => !readingIds.has(job.id))]
  return {
    jobs: jobs.map((job) => ({ ...job, space: slug, isReading: readingIds.has(job.id) })),
    hasMore: open.nextCursor !== undefined,
  }
}

/** Undefined for a deleted space: it may be deleted between two requests. */
async function ignoreDeleted<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Loads the metrics of the daemon; adds the service's message to `lacks` if the token may not read them. */
async function loadMetrics(client: Client, lacks: string[]): Promise<PrometheusMetrics | undefined> {
  const response = await client.sendRaw({ method: 'GET', path: '/metrics' })
  if (response.status === 200) return parseMetrics(await readText(response.body))
  const error = await toApiError(response.body)
  if (error.status !== FORBIDDEN) throw error
  lacks.push(error.message)
  return undefined
}
