import type { Client } from '../../client/client.js'
import { apiError } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { readText } from '../../client/http.js'
import type { ListedJob } from '../../contract/gateway/jobs.js'
import type { DaemonStatus } from '../../contract/gateway/system.js'
import { type Metrics, metricsOf } from './metrics-text.js'

/** What `ks top` shows, read at one time through operations that others can use as well. */

/** spaces that are looked at; the rest is counted */
const MOST_SPACES = 100
/** open jobs of a space that are looked at: they come newest first */
const MOST_JOBS = 100
/** a count of documents is asked for again after this, or while the space has work */
const COUNT_LIVES_MS = 30_000
/** counts that are asked for in one go */
const COUNTS_AT_ONCE = 10
const FORBIDDEN = 403

export interface TopSpace {
  id: string
  slug: string
  documents: number | undefined
  bytes: number | undefined
  /** jobs that have not ended, and whether there are more than these */
  open: number
  hasMore: boolean
  /** when the oldest of them was made, in milliseconds */
  oldest: number | undefined
}

export interface TopJob extends ListedJob {
  space: string
  /** its file is read now */
  isReading: boolean
}

export interface TopReading {
  /** in milliseconds */
  at: number
  status: DaemonStatus
  metrics: Metrics | undefined
  spaces: readonly TopSpace[]
  hasMoreSpaces: boolean
  jobs: readonly TopJob[]
  /** what the token may not read, in the words of the service */
  lacks: readonly string[]
}

interface Counted {
  documents: number
  bytes: number
  at: number
}

/** Reads again and again, and asks less often for what changes slowly. */
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
  // a space with a long queue may read files that are none of its newest
  const reading = (await list('reading'))?.items ?? []
  const read = new Set(reading.map((job) => job.id))
  const jobs = [...reading, ...open.items.filter((job) => !read.has(job.id))]
  return {
    jobs: jobs.map((job) => ({ ...job, space: slug, isReading: read.has(job.id) })),
    hasMore: open.nextCursor !== undefined,
  }
}

/** A space may be deleted between two questions. */
async function orGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** The figures of the whole daemon, which its operator alone may read. */
async function metricsFrom(client: Client, lacks: string[]): Promise<Metrics | undefined> {
  const answer = await client.raw({ method: 'GET', path: '/metrics' })
  if (answer.status === 200) return metricsOf(await readText(answer.body))
  const error = await apiError(answer.body)
  if (error.status !== FORBIDDEN) throw error
  lacks.push(error.message)
  return undefined
}
