import type { Client } from '../../client/client.js'
import { apiError } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { readText } from '../../client/http.js'
import type { ListedJob } from '../../contract/gateway/jobs.js'
import type { DaemonStatus } from '../../contract/gateway/system.js'
import { type Metrics, metricsOf } from './metrics-text.js'

/** The data of `ks top`, read at one time through public operations. */

/** Maximum number of spaces shown individually. */
const MOST_SPACES = 100
/** Maximum number of open jobs read for a space, newest first. */
const MOST_JOBS = 100
/** Document counts are reloaded after this time, or while the space has work. */
const COUNT_LIVES_MS = 30_000
/** Maximum number of counts loaded in one reading. */
const COUNTS_AT_ONCE = 10
const FORBIDDEN = 403

export interface TopSpace {
  id: string
  slug: string
  documents: number | undefined
  bytes: number | undefined
  /** Jobs that have not ended; `hasMore` if there are further ones. */
  open: number
  hasMore: boolean
  /** Creation time of the oldest of them, in milliseconds. */
  oldest: number | undefined
}

export interface TopJob extends ListedJob {
  space: string
  /** Whether its file is being read now. */
  isReading: boolean
}

export interface TopReading {
  /** Time of the reading in milliseconds. */
  at: number
  status: DaemonStatus
  metrics: Metrics | undefined
  spaces: readonly TopSpace[]
  hasMoreSpaces: boolean
  jobs: readonly TopJob[]
  /** Messages of the service about data that the token may not read. */
  lacks: readonly string[]
}

interface Counted {
  documents: number
  bytes: number
  at: number
}

/** Reads repeatedly; requests slowly changing data less often. */
export class TopReader {
  readonly #counts = new Map<string, Counted>()

  /** @throws ApiError, ConnectionError */
  async read(client: Client): Promise<TopReading> {
    const lacks: string[] = []
    const [status, metrics, listed] = await Promise.all([
      client.request('GET /daemon/status', { query: {} }),
      metricsFrom(client, lacks),
      client.request('GET /knowledge-spaces', { query: { limit: MOST_SPACES } }),
    ])
    const { activeJobs, waitingJobs } = status.activity
    const isIdle = activeJobs + waitingJobs === 0
    const found = await Promise.all(
      listed.items.map(async ({ id, slug }) => ({ id, slug, ...(isIdle ? NO_JOBS : await jobsOf(client, id, slug)) })),
    )
    await this.#count(client, found)
    const spaces = found.map(({ id, slug, jobs, hasMore }): TopSpace => {
      const { documents, bytes } = this.#counts.get(id) ?? {}
      const oldest = jobs.length === 0 ? undefined : Math.min(...jobs.map(({ createdAt }) => createdAt))
      return { id, slug, documents, bytes, open: jobs.length, hasMore, oldest }
    })
    const jobs = found.flatMap((space) => space.jobs)
    return { at: Date.now(), status, metrics, spaces, hasMoreSpaces: listed.nextCursor !== undefined, jobs, lacks }
  }

  async #count(client: Client, spaces: readonly { id: string; jobs: readonly TopJob[] }[]): Promise<void> {
    const now = Date.now()
    const due = spaces
      .map(({ id, jobs }) => ({ id, age: now - (this.#counts.get(id)?.at ?? 0), isBusy: jobs.length > 0 }))
      .filter(({ age, isBusy }) => isBusy || age > COUNT_LIVES_MS)
      .sort((a, b) => b.age - a.age)
      .slice(0, COUNTS_AT_ONCE)
    await Promise.all(
      due.map(async ({ id }) => {
        const stats = await orGone(client.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} }))
        if (stats === undefined) return
        const { documentCount, rawDocumentBytes } = stats.storage
        this.#counts.set(id, { documents: documentCount, bytes: rawDocumentBytes, at: now })
      }),
    )
  }
}

const NO_JOBS: { jobs: TopJob[]; hasMore: boolean } = { jobs: [], hasMore: false }

async function jobsOf(client: Client, id: string, slug: string): Promise<{ jobs: TopJob[]; hasMore: boolean }> {
  const list = (state: 'open' | 'reading') =>
    orGone(client.request('GET /knowledge-spaces/{id}/jobs', { path: { id }, query: { state, limit: MOST_JOBS } }))
  const open = await list('open')
  if (open === undefined || open.items.length === 0) return NO_JOBS
  // A space with a long queue may be reading files that are not among its newest.
  const reading = (await list('reading'))?.items ?? []
  const read = new Set(reading.map((job) => job.id))
  const jobs = [...reading, ...open.items.filter((job) => !read.has(job.id))]
  return {
    jobs: jobs.map((job) => ({ ...job, space: slug, isReading: read.has(job.id) })),
    hasMore: open.nextCursor !== undefined,
  }
}

/** A space may be deleted between two requests. */
async function orGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Loads the metrics of the daemon, which only its operator may read. */
async function metricsFrom(client: Client, lacks: string[]): Promise<Metrics | undefined> {
  const answer = await client.raw({ method: 'GET', path: '/metrics' })
  if (answer.status === 200) return metricsOf(await readText(answer.body))
  const error = await apiError(answer.body)
  if (error.status !== FORBIDDEN) throw error
  lacks.push(error.message)
  return undefined
}
