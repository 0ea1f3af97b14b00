import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEdge, type TestEdge } from '../helpers/daemon.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
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
  it('tells the operator what models were used for, and how it went', async () => {
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

  it('is text that a scraper reads: every sample is a number of a family told before it', async () => {
    const { text } = await metrics(edge.tokens.operator)
    expect(text.endsWith('\n')).toBe(true)
    const families = new Set<string>()
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

  it('counts a call in every bucket that it is not longer than', async () => {
    const { text } = await metrics(edge.tokens.operator)
    const buckets = [...text.matchAll(/^ks_model_call_duration_seconds_bucket\{.*\} (\d+)$/gm)].map(([, n]) =>
      Number(n),
    )
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
    expect(buckets.at(-1)).toBe(2)
  })

  it('is refused to callers other than the operator', async () => {
    expect((await metrics(undefined)).status).toBe(401)
    const { status, text } = await metrics(edge.tokens.ada)
    expect([status, text]).toEqual([403, expect.stringContaining('only the operator')])
  })
})
