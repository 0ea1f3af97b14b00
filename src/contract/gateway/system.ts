import { z } from 'zod'
import { count, isoDateTime, metadata } from '../primitives.js'
import { route } from '../route.js'

export const Health = z
  .strictObject({
    ok: z.boolean(),
    runtime: z.enum(['edge-workers', 'container-runtime']),
    components: z.record(z.string(), z.boolean()),
    /** whether what was committed is on a second server, too; absent where the database is a file */
    durability: z.enum(['single', 'replicated']).optional(),
  })
  .meta({ id: 'Health' })
export type Health = z.output<typeof Health>

/** milliseconds, beyond the interval of the measuring timer */
const delay = z.number().min(0)

/** What models were used for. */
export const ModelsInUse = z
  .strictObject({
    /** of the UTC day, all spaces together */
    today: z.strictObject({ embeddingTokens: count, llmTokens: count, rerankRequests: count }),
    /** what spaces used today; those without a `limit` have no daily budget of it */
    budgets: z.array(
      z.strictObject({
        knowledgeSpaceId: z.string(),
        slug: z.string(),
        counter: z.enum(['embeddingTokens', 'llmTokens', 'rerankRequests']).describe('what is counted'),
        used: count.describe('what was used of it today'),
        limit: count.optional(),
      }),
    ),
    defaults: z
      .array(
        z.strictObject({
          task: z.enum(['embedding', 'answers', 'pictures', 'speech', 'transcription']).describe('what the model does'),
          pluginId: z.string(),
          provider: z.string(),
          model: z.string(),
        }),
      )
      .describe('the model of each task, unless a space or an application names another one'),
    providers: z.array(
      z.strictObject({
        pluginId: z.string(),
        provider: z.string(),
        baseUrl: z.string().optional().describe('address of its server'),
        credential: z.enum(['set', 'missing', 'none']),
        timeoutMs: count,
        ingestTimeoutMs: count,
        contextTokens: z.record(z.string(), count),
        maxConcurrency: count,
        /** models used since the start, what they did, and whether they are being asked */
        circuits: z.array(
          z.strictObject({
            kind: z.enum(['embedding', 'generation', 'rerank', 'speech', 'transcription']),
            model: z.string(),
            state: z.enum(['closed', 'open', 'half-open']),
            calls: count,
            failed: count,
            inputTokens: count,
            outputTokens: count,
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'ModelsInUse' })
export type ModelsInUse = z.output<typeof ModelsInUse>

export const DaemonStatus = z
  .strictObject({
    instance: z.string(),
    pid: count.optional(),
    version: z.string(),
    mode: z.enum(['auto', 'manual', 'service']),
    startedAt: isoDateTime,
    uptimeMs: count,
    /** what uploads may hold: bytes of a file, files of a bulk, bytes of a bulk */
    limits: z.strictObject({ uploadBytes: count, bulkFiles: count, bulkBytes: count }),
    /** bytes; this and what follows but the jobs is of the whole daemon, and told to its operator alone */
    memory: z
      .strictObject({ rss: count, peakRss: count, heapUsed: count, external: count, arrayBuffers: count })
      .optional(),
    eventLoop: z.strictObject({ p50: delay, p99: delay, p999: delay, max: delay }).optional(),
    activity: z.strictObject({
      /** of all tenants for the operator, else of the caller's own */
      activeJobs: count,
      waitingJobs: count,
      runningQueries: count.optional(),
      openRequests: count.optional(),
      /** trainings of embedding models and builds of vector graphs that are under way: answers get better after them */
      backgroundTasks: count.optional(),
    }),
    /** the disk of the data directory: while it is full, everything can be read and queries are answered */
    storage: z
      .strictObject({
        isFull: z.boolean(),
        /** bytes that may still be written */
        freeBytes: count,
        /** bytes that must come free before data is taken again; 0 while the disk is not full */
        missingBytes: count,
      })
      .optional(),
    /** what is wrong with the database, and what to do: it is not written any more */
    damage: z.string().optional(),
    models: ModelsInUse.optional(),
    processes: z
      .array(
        z.strictObject({
          role: z.enum(['daemon', 'index', 'parser', 'watcher']),
          pid: count,
          rss: count,
          peakRss: count,
        }),
      )
      .optional(),
  })
  .meta({ id: 'DaemonStatus' })
export type DaemonStatus = z.output<typeof DaemonStatus>

export const systemRoutes = [
  route({
    id: 'getHealth',
    method: 'GET',
    path: '/health',
    scope: 'public',
    summary: 'Whether the service and its parts work.',
    ok: { 200: Health },
    errors: [],
  }),
  route({
    id: 'getOpenapi',
    method: 'GET',
    path: '/openapi.json',
    scope: 'public',
    summary: 'This description.',
    ok: { 200: metadata },
    errors: [],
  }),
  route({
    id: 'getDaemonStatus',
    method: 'GET',
    path: '/daemon/status',
    scope: 'read',
    summary:
      "Read the daemon's version, limits and the tenant's jobs; its operator also reads memory, event-loop delay, all work and child processes.",
    query: z.strictObject({
      /** starts the event-loop figures anew after this reading */
      reset: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .pipe(z.boolean()),
    }),
    ok: { 200: DaemonStatus },
    errors: [400],
    extension: true,
  }),
  route({
    id: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    scope: 'read',
    only: 'operator',
    summary:
      'Read figures of the whole daemon in the text format of Prometheus: process, work, disk, models and budgets; only its operator may.',
    ok: { 200: 'text' },
    text: 'text/plain; version=0.0.4; charset=utf-8',
    errors: [],
    extension: true,
  }),
  route({
    id: 'revokeToken',
    method: 'DELETE',
    path: '/daemon/tokens/{jti}',
    scope: 'write',
    only: 'operator',
    summary:
      'Refuse a token from now on, and end the session of a console tab whose token it is; only the operator, whose token the data directory signed, may do this.',
    params: z.strictObject({ jti: z.string().min(1).max(200) }),
    ok: { 204: 'empty' },
    errors: [404],
    extension: true,
  }),
] as const
