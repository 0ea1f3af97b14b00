import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEdge, type TestEdge } from '../helpers/daemon.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { openSmallStore } from '../helpers/store.js'
import { until } from '../helpers/until.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'local' }
const KEY = 'CANARY-key'
const LABELS = 'provider="local",model="a \\"quoted\\" writer",kind="generation"'

let fake: FakeOpenAi
let running: TestEngine
let edge: TestEdge

beforeAll(async () => {
  fake = await startFakeOpenAi({ answer: () => 'At nine [1].' })
  running = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: fake.url, apiKey: KEY }],
    quotas: { maxLlmTokensPerDay: 5000 },
    defaultGenerator: { ...PROVIDER, model: 'a "quoted" writer' },
  })
  edge = await startEdge({ engine: running.engine })
  const { id } = await running.engine.spaces.create(ADA, { name: 'Shop', slug: 'shop' })
  await ingest(running.engine, ADA, id, { 'hours.md': '# Hours\n\nThe shop in Oslo opens at nine.\n' })
  await ask(running.engine, ADA, id, 'When does the shop in Oslo open?')
  fake.script({ kind: 'status', status: 401, body: KEY })
  await ask(running.engine, ADA, id, 'When does the shop in Oslo open?')
  await until(async () => (await running.engine.models.inUse()).today.llmTokens > 0)
})
afterAll(async () => {
  await edge.end()
  await running.end()
  await fake.close()
})

const metrics = async (token: string | undefined) => {
  const answer = await edge.send('GET', '/metrics', token === undefined ? {} : { token })
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

describe('GET /metrics', () => {
  it('reports model calls, failures, durations, tokens and budgets to the operator', async () => {
    const { status, type, text } = await metrics(edge.tokens.operator)
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    const lines = text.split('\n')
    expect(lines).toContain(`ks_model_calls_total{${LABELS}} 2`)
    expect(lines).toContain(`ks_model_failures_total{${LABELS},class="auth"} 1`)
    expect(lines).toContain(`ks_model_call_duration_seconds_count{${LABELS}} 2`)
    expect(lines).toContain(`ks_model_call_duration_seconds_bucket{${LABELS},le="+Inf"} 2`)
    expect(text).toMatch(/^ks_model_tokens_total\{.*direction="input"\} [1-9]\d*$/m)
    expect(text).toMatch(/^ks_space_budget_used\{.*slug="shop",counter="llmTokens"\} [1-9]\d*$/m)
    expect(text).toMatch(/^ks_space_budget_limit\{.*counter="llmTokens"\} 5000$/m)
    expect(text).toMatch(/^process_resident_memory_bytes [1-9]\d*$/m)
    expect(text).not.toContain(KEY)
  })

  it('follows the text format: every sample is a number of a declared family', async () => {
    const { text } = await metrics(edge.tokens.operator)
    expect(text.endsWith('\n')).toBe(true)
    const families = new Set<string>()
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const names = samples.map((line) => line.slice(0, line.lastIndexOf(' ')))
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([])
    expect(text.match(/^# TYPE \S+ counter$/gm)?.filter((line) => !line.includes('_total '))).toEqual([])
    for (const line of text.trimEnd().split('\n')) {
      const told = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/.exec(line)
      if (told !== null) {
        expect(families.has(told[1] ?? '')).toBe(false)
        families.add(told[1] ?? '')
        continue
      }
      if (line.startsWith('# HELP ')) continue
      const sample = /^([a-z_]+)(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? -?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.exec(
        line,
      )
      expect(sample, line).not.toBeNull()
      expect(families.has((sample?.[1] ?? '').replace(/_(?:bucket|sum|count)$/, ''))).toBe(true)
    }
  })

  it('counts requests by route and status, without ids or addresses', async () => {
    const { id } = await running.engine.spaces.create(ADA, { name: 'Secret plans', slug: 'secret-plans' })
    expect((await edge.send('GET', `/knowledge-spaces/${id}`, { token: edge.tokens.ada })).status).toBe(200)
    expect((await edge.send('GET', `/knowledge-spaces/${id}`)).status).toBe(401)
    expect((await edge.send('GET', '/knowledge-spaces/a-stranger/x/y', { token: edge.tokens.ada })).status).toBe(404)
    expect((await edge.send('POST', '/v1/chat-messages', { token: 'app-nothing', json: {} })).status).toBe(401)
    const { text } = await metrics(edge.tokens.operator)
    const lines = text.split('\n')
    const route = 'route="GET /knowledge-spaces/{id}"'
    expect(lines).toContain(`ks_http_requests_total{${route},status="200"} 1`)
    expect(lines).toContain(`ks_http_requests_total{${route},status="401"} 1`)
    expect(lines).toContain('ks_http_requests_total{route="none",status="404"} 1')
    expect(lines).toContain('ks_http_requests_total{route="POST /v1/chat-messages",status="401"} 1')
    expect(lines).toContain(`ks_http_request_duration_seconds_count{${route}} 2`)
    expect(lines).toContain(`ks_http_request_duration_seconds_bucket{${route},le="+Inf"} 2`)
    expect(text).not.toMatch(/a-stranger|app-nothing/)
  })

  it('reports answers, database statements and queues without names of spaces, tenants or subjects', async () => {
    const { text } = await metrics(edge.tokens.operator)
    const value = (sample: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${sample} `))
          ?.split(' ')
          .at(-1),
      )
    expect(value('ks_answers_total')).toBe(2)
    expect(value('ks_answers_degraded_total{part="answer",class="auth"}')).toBe(1)
    expect(value('ks_job_claim_wait_seconds_count')).toBe(1)
    for (const kind of ['get', 'all', 'run'])
      expect(value(`ks_database_statements_total{kind="${kind}"}`)).toBeGreaterThan(0)
    expect(value('ks_database_commits_total')).toBeGreaterThan(0)
    expect(value('ks_database_writes_total')).toBeGreaterThanOrEqual(value('ks_database_commits_total'))
    expect(value('ks_waiting{queue="queries"}')).toBe(0)
    expect(value('ks_indexes_open')).toBe(1)
    expect(value('ks_index_lag_entries{of="most"}')).toBe(0)
    expect(value('ks_leases_expired_total')).toBe(0)
    // Only budgets name spaces.
    const others = text.split('\n').filter((line) => !line.startsWith('ks_space_budget'))
    const space = (await running.engine.spaces.list(ADA, { limit: 1 })).items[0]
    for (const word of [space?.id ?? '-', 'shop', 'tenant-a', 'ada', 'Oslo'])
      expect(others.join('\n')).not.toContain(word)
  })

  it('reports the lag between an index and the log of its space', async () => {
    const { collectMetrics } = await import('../../src/engine/upkeep/status/collect-metrics.js')
    const small = await openSmallStore()
    const space = small.createSpace()
    small.run('INSERT INTO space_counters (space_key, seq) VALUES (?, 12)', space.key)
    const indexes = Object.assign(small.indexes, { applied: () => new Map([[space.id, 5]]) })
    expect((await collectMetrics({ ...small.context, indexes }, { running: 0, waiting: 3 })).indexes).toEqual({
      open: 1,
      pendingEntries: 7,
      maxPendingEntries: 7,
    })
    await small.end()
  })

  it('counts a call in every bucket whose bound is not below its duration', async () => {
    const { text } = await metrics(edge.tokens.operator)
    const buckets = [...text.matchAll(/^ks_model_call_duration_seconds_bucket\{.*\} (\d+)$/gm)].map(([, n]) =>
      Number(n),
    )
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
    expect(buckets.at(-1)).toBe(2)
  })

  it('answers 403 to callers other than the operator', async () => {
    expect((await metrics(undefined)).status).toBe(401)
    const { status, text } = await metrics(edge.tokens.ada)
    expect([status, text]).toEqual([403, expect.stringContaining('only the operator')])
  })
})
