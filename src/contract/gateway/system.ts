import { z } from 'zod'
import { count, isoDateTime, metadata } from '../primitives.js'
import { route } from '../route.js'

export const Health = z
  .strictObject({
    ok: z.boolean(),
    runtime: z.enum(['edge-workers', 'container-runtime']),
    components: z.record(z.string(), z.boolean()),
    /** Whether commits are also stored on a second server; absent if the database is a file. */
    durability: z.enum(['single', 'replicated']).optional(),
  })
  .meta({ id: 'Health' })
export type Health = z.output<typeof Health>

/** In milliseconds, beyond the interval of the measuring timer. */
const delay = z.number().min(0)

/** Usage of models. */
export const ModelUsage = z
  .strictObject({
    /** Totals of all spaces, for the UTC day. */
    today: z.strictObject({ embeddingTokens: count, llmTokens: count, rerankRequests: count }),
    /** Usage of spaces today; entries without a `limit` have no daily budget. */
    budgets: z.array(
      z.strictObject({
        knowledgeSpaceId: z.string(),
        slug: z.string(),
        counter: z.enum(['embeddingTokens', 'llmTokens', 'rerankRequests']).describe('counted resource'),
        used: count.describe('usage today'),
        limit: count.optional(),
      }),
    ),
    defaults: z
      .array(
        z.strictObject({
          task: z.enum(['embedding', 'answers', 'pictures', 'speech', 'transcription']).describe('task of the model'),
          pluginId: z.string(),
          provider: z.string(),
          model: z.string(),
        }),
      )
      .describe('default model of each task; spaces and applications may set another one'),
    providers: z.array(
      z.strictObject({
        pluginId: z.string(),
        provider: z.string(),
        baseUrl: z.string().optional().describe('address of the provider'),
        credential: z.enum(['set', 'missing', 'none']),
        timeoutMs: count,
        ingestTimeoutMs: count,
        contextTokens: z.record(z.string(), count),
        maxConcurrency: count,
        /** Models used since the start, with usage and the state of their circuit breakers. */
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
export type ModelUsage = z.output<typeof ModelUsage>

export const DaemonStatus = z
  .strictObject({
    instance: z.string(),
    pid: count.optional(),
    version: z.string(),
    mode: z.enum(['auto', 'manual', 'service']),
    startedAt: isoDateTime,
    uptimeMs: count,
    /** Limits of uploads: bytes of a file, files of a bulk upload, bytes of a bulk upload. */
    limits: z.strictObject({ uploadBytes: count, bulkFiles: count, bulkBytes: count }),
    /**
     * Bytes. This and the following fields, except the jobs, describe the complete daemon and are returned to its
     * operator only.
     */
    memory: z
      .strictObject({ rss: count, peakRss: count, heapUsed: count, external: count, arrayBuffers: count })
      .optional(),
    eventLoop: z.strictObject({ p50: delay, p99: delay, p999: delay, max: delay }).optional(),
    activity: z.strictObject({
      /** Of all tenants for the operator, otherwise of the caller's tenant. */
      activeJobs: count,
      waitingJobs: count,
      runningQueries: count.optional(),
      openRequests: count.optional(),
      /** Running trainings of embedding models and builds of vector graphs; answers improve after them. */
      backgroundTasks: count.optional(),
    }),
    /** The disk of the data directory. While it is full, reads and queries work, writes do not. */
    storage: z
      .strictObject({
        isFull: z.boolean(),
        /** Bytes that can still be written. */
        freeBytes: count,
        /** Bytes to free before data is accepted again; 0 while the disk is not full. */
        missingBytes: count,
      })
      .optional(),
    /** Damage of the database, and what to do; it is read-only from now on. */
    damage: z.string().optional(),
    models: ModelUsage.optional(),
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
    summary: 'Check whether the service and its components work.',
    ok: { 200: Health },
    errors: [],
  }),
  route({
    id: 'getOpenapi',
    method: 'GET',
    path: '/openapi.json',
    scope: 'public',
    summary: 'Get this OpenAPI description.',
    ok: { 200: metadata },
    errors: [],
  }),
  route({
    id: 'getDaemonStatus',
    method: 'GET',
    path: '/daemon/status',
    scope: 'read',
    summary:
      "Get the daemon's version, limits and the tenant's jobs; the operator also gets memory, event-loop delay, all work and child processes.",
    query: z.strictObject({
      /** Resets the event-loop measurements after this reading. */
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
      'Get metrics of the daemon in the Prometheus text format: process, work, disk, models and budgets; restricted to the operator.',
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
      'Revoke a token, and end the session of the console tab that uses it; restricted to the operator, whose token is signed by the data directory.',
    params: z.strictObject({ jti: z.string().min(1).max(200) }),
    ok: { 204: 'empty' },
    errors: [404],
    extension: true,
  }),
] as const
