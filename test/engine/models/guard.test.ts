import { inspect } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { KsError } from '../../../src/contract/errors.js'
import type { ProviderConfig } from '../../../src/engine/base/provider-config.js'
import { createMemoryBudgetStore, estimateTokens, type ProviderBudgets } from '../../../src/engine/models/budget.js'
import { readProviderConfig } from '../../../src/engine/models/provider-config.js'
import { createModelRegistry, type ModelRegistry, type RegistryOptions } from '../../../src/engine/models/registry.js'
import type { Generator } from '../../../src/engine/models/types.js'
import { readProviders } from '../../../src/local/provider-setting.js'
import { type FakeOpenAi, type FakeOptions, type Fault, startFakeOpenAi } from '../../helpers/fake-openai.js'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close()
})

interface Pair {
  fake: FakeOpenAi
  registry: ModelRegistry
}

async function setUp(
  config: Partial<ProviderConfig> = {},
  options: Partial<RegistryOptions> = {},
  server: FakeOptions = {},
): Promise<Pair> {
  const fake = await startFakeOpenAi(server)
  const entry = { pluginId: 'openai-compatible', provider: 'acme', baseUrl: fake.url, timeoutMs: 3000, ...config }
  const registry = createModelRegistry([entry], { now: Date.now, random: () => 0.01, ...options })
  opened.push(registry, fake)
  return { fake, registry }
}

const named = (model: string) => ({ pluginId: 'openai-compatible', provider: 'acme', model })
const repeat = (times: number, fault: Fault) => Array<Fault>(times).fill(fault)
const user = (content: string) => [{ role: 'user' as const, content }]

async function failureOf(promise: Promise<unknown>): Promise<KsError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(KsError)
  return error as KsError
}

async function read(generator: Generator, content: string, options: { maxTokens?: number } = {}): Promise<string> {
  let text = ''
  for await (const event of generator.generate(user(content), options)) if (event.type === 'delta') text += event.text
  return text
}

function refusedWith(status: number, code: string) {
  const body = JSON.stringify({ error: { message: 'no', type: 'x', code } })
  return { kind: 'status', status, body } as const
}

test.each([
  ['429', { kind: 'status', status: 429 }],
  ['500', { kind: 'status', status: 500 }],
  ['503', { kind: 'status', status: 503 }],
  ['a reset', { kind: 'reset' }],
] as const)('a call to a provider succeeds on the fourth attempt after three times %s', async (_, fault) => {
  const { fake, registry } = await setUp()
  fake.script(...repeat(3, fault))
  expect(await registry.embedder(named('m')).embed(['x'], 'query')).toHaveLength(1)
  expect(fake.requests).toHaveLength(4)
})

test.each([
  ['429', { kind: 'status', status: 429 }, 4, 'provider "acme" is limiting the rate of calls (429)'],
  ['500', { kind: 'status', status: 500 }, 4, 'provider "acme" failed on its side (5xx)'],
  ['a reset', { kind: 'reset' }, 4, 'provider "acme" closed the connection before its answer was complete'],
  ['400', { kind: 'status', status: 400 }, 1, 'provider "acme" refused the request (4xx)'],
  ['401', { kind: 'status', status: 401 }, 1, 'provider "acme" refused the credentials (401)'],
  ['404', { kind: 'status', status: 404 }, 1, 'provider "acme" has no model "m", or not at this address (404)'],
  ['a quota', refusedWith(429, 'insufficient_quota'), 1, 'provider "acme" has no quota left (429)'],
  ['a quota with another status', refusedWith(403, 'insufficient_quota'), 1, 'provider "acme" has no quota left (403)'],
  ['a model it lacks', refusedWith(400, 'model_not_found'), 1, 'provider "acme" does not know the model "m"'],
  ['501', { kind: 'status', status: 501 }, 1, 'provider "acme" failed on its side (5xx)'],
] as const)('a call that meets %s again and again fails with one safe sentence', async (_, fault, tries, message) => {
  const { fake, registry } = await setUp()
  fake.script(...repeat(9, fault))
  const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect([error.code, error.message]).toEqual(['provider-failed', message])
  expect(fake.requests).toHaveLength(tries)
})

test('a call to an unreachable provider fails with connection refused', async () => {
  const { fake, registry } = await setUp()
  await fake.close()
  const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect(error.message).toBe('provider "acme" could not be reached: connection refused')
})

test('F39: every call to the provider waits for its Retry-After', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'status', status: 429, retryAfter: '0.3' })
  const first = registry.embedder(named('m')).embed(['x'], 'query')
  await expect.poll(() => fake.requests[0]?.isClosed, { interval: 5 }).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 20))
  await Promise.all([first, registry.reranker(named('rr')).rerank('q', ['d'])])
  expect(fake.requests).toHaveLength(3)
  for (const later of fake.requests.slice(1))
    expect(later.receivedAt - fake.requests[0]!.receivedAt).toBeGreaterThanOrEqual(295)
})

test.each([
  [429, 'provider "acme" is limiting the rate of calls (429)'],
  [503, 'provider "acme" failed on its side (5xx)'],
])('a call to a provider during the Retry-After of a status %i fails with the same reason', async (status, message) => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'status', status, retryAfter: '120' })
  for (let call = 0; call < 2; call++) {
    const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
    expect(error.message).toBe(message)
  }
  expect(fake.requests).toHaveLength(1)
})

test('a call to a provider fails at once with the retry delay if Retry-After is longer than the timeout', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'status', status: 429, retryAfter: '120' })
  const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect(error).toMatchObject({ code: 'provider-failed', retryAfter: 120 })
  const next = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect(next.retryAfter).toBeGreaterThan(115)
  expect(fake.requests).toHaveLength(1)
})

test.each([
  ['hangs', { kind: 'hang' }],
  ['is too slow', { kind: 'slow', ms: 60_000 }],
] as const)('a call to a provider that %s fails at the timeout, and its connection is closed', async (_, fault) => {
  const { fake, registry } = await setUp({ timeoutMs: 200 })
  fake.script(fault)
  const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect(error.message).toBe('provider "acme" gave no answer within 200 ms')
  await expect.poll(() => fake.sockets()).toBe(0)
})

test('F38: the timeout of a call to a provider covers all attempts together', async () => {
  const { fake, registry } = await setUp({ timeoutMs: 5000 })
  fake.script(...repeat(2, { kind: 'status', status: 500, retryAfter: '3' }), { kind: 'hang' })
  await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  // With a timeout for each attempt, a third one would begin after six seconds.
  expect(fake.requests).toHaveLength(2)
})

test('a call that times out during a retry reports the earlier failure of the provider', async () => {
  const { fake, registry } = await setUp({ timeoutMs: 2000 })
  fake.script({ kind: 'status', status: 429 }, { kind: 'hang' })
  const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect(error.message).toBe('provider "acme" is limiting the rate of calls (429)')
  expect(fake.requests).toHaveLength(2)
})

test('a stream of a provider must begin within firstTokenTimeoutMs; comment lines do not count as begin', async () => {
  const { fake, registry } = await setUp({ firstTokenTimeoutMs: 150 })
  fake.script({ kind: 'comments', ms: 20 })
  const error = await failureOf(read(registry.generator(named('chat')), 'hi'))
  expect(error.message).toBe('provider "acme" gave no answer within 150 ms')
  await expect.poll(() => fake.sockets()).toBe(0)
})

test.each([
  [{}, 60_000, 30_000],
  [{ timeoutMs: 300_000 }, 300_000, 300_000],
  [{ timeoutMs: 300_000, firstTokenTimeoutMs: 90_000 }, 300_000, 90_000],
  [{ firstTokenTimeoutMs: 90_000 }, 60_000, 90_000],
])('the setting %j determines the timeout of a stream and of its first token', (set, whole, first) => {
  // As in a configuration file.
  const [entry] = readProviders([
    { pluginId: 'openai-compatible', provider: 'acme', baseUrl: 'http://127.0.0.1:1', ...set },
  ])
  const { timeoutMs, firstTokenTimeoutMs } = readProviderConfig(entry!, {})
  expect([timeoutMs, firstTokenTimeoutMs]).toEqual([whole, first])
})

test('a stream of thoughts before the answer keeps the first-token timeout from firing', async () => {
  const { fake, registry } = await setUp({ timeoutMs: 30_000, firstTokenTimeoutMs: 1500 })
  fake.script({ kind: 'thinks', times: 6, ms: 300 })
  expect(await read(registry.generator(named('chat')), 'hi')).toBe('You said: hi')
})

test('a stream that stalls fails at the timeout, which a slow consumer of a stream does not use up', async () => {
  const { fake, registry } = await setUp({ timeoutMs: 1500 })
  fake.script({ kind: 'ok' }, { kind: 'stall-after', deltas: 1 })
  let text = ''
  for await (const event of registry.generator(named('chat')).generate(user('a b'), {})) {
    await new Promise((resolve) => setTimeout(resolve, 600))
    if (event.type === 'delta') text += event.text
  }
  expect(text).toBe('You said: a b')
  const error = await failureOf(read(registry.generator(named('chat')), 'hi'))
  expect(error.message).toBe('provider "acme" gave no answer within 1500 ms')
})

test('a stream that keeps sending may take longer than the timeout', async () => {
  const { registry } = await setUp({ timeoutMs: 300, firstTokenTimeoutMs: 300 }, {}, { deltaMs: 80 })
  const words = Array.from({ length: 8 }, (_, at) => `w${at}`).join(' ')
  expect(await read(registry.generator(named('chat')), words)).toBe(`You said: ${words}`)
})

test('a provider may write any number of answers at once unless the operator sets maxConcurrency', async () => {
  const { fake, registry } = await setUp({}, {}, { deltaMs: 60 })
  const answers = Array.from({ length: 12 }, (_, at) => read(registry.generator(named('chat')), `q${at}`))
  expect(await Promise.all(answers)).toEqual(answers.map((_, at) => `You said: q${at}`))
  expect(fake.peak()).toBe(12)

  const limited = await setUp({ maxConcurrency: 2 }, {}, { deltaMs: 20 })
  await Promise.all(answers.map(() => read(limited.registry.generator(named('chat')), 'q')))
  expect(limited.fake.peak()).toBe(2)
})

test('the circuit of a model opens after five failures, for growing periods, and lets one call probe', async () => {
  let now = Date.UTC(2030, 0, 1)
  const { fake, registry } = await setUp({}, { now: () => now })
  const embed = () => registry.embedder(named('m')).embed(['x'], 'query')
  const state = () => registry.describe()[0]!.circuits.find(({ model }) => model === 'm')!.state
  fake.script(...repeat(5, { kind: 'malformed' }))
  for (let round = 0; round < 5; round++) await failureOf(embed())
  expect(state()).toBe('open')

  const error = await failureOf(embed())
  expect(error).toMatchObject({ code: 'provider-failed', retryAfter: 1 })
  expect(error.message).toBe('provider "acme" keeps failing and is not called for a while')
  expect(fake.requests).toHaveLength(5)
  expect(await registry.reranker(named('rr')).rerank('q', ['d'])).toHaveLength(1)

  now += 1001
  expect(state()).toBe('half-open')
  fake.script({ kind: 'malformed' })
  const [probe, other] = await Promise.all([failureOf(embed()), failureOf(embed())])
  expect(probe.message).toMatch(/cannot be used/)
  expect(other.message).toMatch(/is not called for a while/)
  expect(state()).toBe('open')

  for (const seconds of [2, 4, 8, 15, 15]) {
    expect(await failureOf(embed())).toMatchObject({ retryAfter: seconds })
    now += seconds * 1000 + 1
    fake.script({ kind: 'malformed' })
    expect((await failureOf(embed())).message).toMatch(/cannot be used/)
  }
  now += 15_001
  expect(await embed()).toHaveLength(1)
  expect(state()).toBe('closed')
  expect(await Promise.all([embed(), embed()])).toHaveLength(2)
})

test('an open circuit reports the rate limit if the last failures were rate limits', async () => {
  let now = Date.UTC(2030, 0, 1)
  const { fake, registry } = await setUp({}, { now: () => now })
  const embed = () => failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  fake.script(...repeat(30, { kind: 'status', status: 429 }))
  for (let round = 0; round < 5; round++) expect((await embed()).cause).toMatchObject({ kind: 'status', status: 429 })
  expect((await embed()).cause).toMatchObject({ kind: 'circuit-open', status: 429 })
  fake.clear()
  now += 1001
  fake.script({ kind: 'malformed' })
  await embed()
  expect((await embed()).cause).toMatchObject({ kind: 'circuit-open', status: undefined })
})

test('rejected requests and aborted calls do not open the circuit of a model', async () => {
  const { fake, registry } = await setUp()
  fake.script(...repeat(7, { kind: 'status', status: 400 }), ...repeat(7, { kind: 'hang' }))
  for (let round = 0; round < 7; round++) await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  for (let round = 0; round < 7; round++) {
    const gone = registry.embedder(named('m')).embed(['x'], 'query', AbortSignal.timeout(15))
    await expect(gone).rejects.toMatchObject({ name: 'TimeoutError' })
  }
  expect(registry.describe()[0]!.circuits[0]!.state).toBe('closed')
})

test('concurrent calls to a provider stay within maxConcurrency, and a query precedes queued documents', async () => {
  const { fake, registry } = await setUp({ maxConcurrency: 2, maxBatch: 1 })
  fake.script(...repeat(20, { kind: 'slow', ms: 30 }))
  const embedder = registry.embedder(named('m'))
  const documents = embedder.embed(
    Array.from({ length: 8 }, (_, at) => `doc ${at}`),
    'document',
  )
  await expect.poll(() => fake.requests.length, { interval: 2 }).toBe(2)
  await embedder.embed(['the query'], 'query')
  const place = fake.requests.findIndex(({ body }) => body.input?.includes('the query'))
  expect(place).toBeLessThanOrEqual(3)
  await documents
  expect(fake.peak()).toBe(2)
})

test('time in the queue of a provider counts against the timeout of a query, but not of documents', async () => {
  const { fake, registry } = await setUp({ maxConcurrency: 1, timeoutMs: 1000, maxBatch: 1 })
  fake.script(...repeat(9, { kind: 'slow', ms: 400 }))
  const embedder = registry.embedder(named('m'))
  const documents = embedder.embed(['a', 'b', 'c', 'd'], 'document')
  const leaving = embedder.embed(['e'], 'document', AbortSignal.timeout(50))
  await expect(leaving).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(await documents).toHaveLength(4)
  expect(fake.requests).toHaveLength(4)

  fake.clear()
  fake.script({ kind: 'hang' }, { kind: 'hang' })
  const stuck = failureOf(embedder.embed(['f'], 'document'))
  const error = await failureOf(embedder.embed(['q'], 'query'))
  expect(error.message).toMatch(/no answer within 1000 ms/)
  await stuck
})

test('a failed batch of texts stops the remaining batches of the same embedding call', async () => {
  const { fake, registry } = await setUp({ maxConcurrency: 1, maxBatch: 1 })
  fake.script({ kind: 'status', status: 400 })
  await failureOf(registry.embedder(named('m')).embed(['a', 'b', 'c'], 'document'))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(fake.requests.length).toBeLessThanOrEqual(2)
})

test('daily budgets reject calls that need more than the rest, count actual usage, and reset at midnight', async () => {
  let now = Date.UTC(2030, 0, 1, 23, 0, 0)
  let limits: ProviderBudgets = { maxEmbeddingTokensPerDay: 4, maxLlmTokensPerDay: 30, maxRerankRequestsPerDay: 1 }
  const store = createMemoryBudgetStore()
  const { fake, registry } = await setUp({}, { now: () => now, budgetStore: store, budgets: () => limits })
  const embedder = registry.embedder(named('m'))
  const used = () => store.used({ id: 'deployment' }, '2030-01-01', 'embeddingTokens')

  await embedder.embed(['one two three'], 'query')
  expect(used()).toBe(3)
  const error = await failureOf(embedder.embed(['four five six'], 'query'))
  expect(error).toMatchObject({ code: 'quota-exceeded', retryAfter: 3600 })
  expect(error.message).toBe('the daily budget of 4 embedding tokens has not enough left for another 4')
  expect(fake.requests).toHaveLength(1)

  await registry.reranker(named('rr')).rerank('q', ['d'])
  expect((await failureOf(registry.reranker(named('rr')).rerank('q', ['d']))).code).toBe('quota-exceeded')

  expect(await read(registry.generator(named('chat')), 'hi', { maxTokens: 20 })).toBe('You said: hi')
  expect(store.used({ id: 'deployment' }, '2030-01-01', 'llmTokens')).toBe(4)
  expect((await failureOf(read(registry.generator(named('chat')), 'hi'))).code).toBe('quota-exceeded')

  limits = { maxEmbeddingTokensPerDay: null }
  await embedder.embed(['four five six'], 'query')
  expect(used()).toBe(6)
  limits = { maxEmbeddingTokensPerDay: 4 }
  now += 3_600_000
  await embedder.embed(['a new day'], 'query')
  expect(store.used({ id: 'deployment' }, '2030-01-02', 'embeddingTokens')).toBe(3)
})

test('each billing account has a separate budget, and a call that the provider rejects costs nothing', async () => {
  const { fake, registry } = await setUp()
  const poor = { id: 'space-1', limits: () => ({ maxRerankRequestsPerDay: 1 }) }
  const rich = { id: 'space-2', limits: () => ({}) }
  fake.script({ kind: 'status', status: 400 })
  await failureOf(registry.reranker(named('rr'), poor).rerank('q', ['d']))
  await registry.reranker(named('rr'), poor).rerank('q', ['d'])
  expect((await failureOf(registry.reranker(named('rr'), poor).rerank('q', ['d']))).code).toBe('quota-exceeded')
  expect(await registry.reranker(named('rr'), rich).rerank('q', ['d'])).toHaveLength(1)
})

test('a stream whose consumer stops at the end event is a success, charged for its actual tokens only', async () => {
  const { fake, registry } = await setUp()
  fake.script(...repeat(4, { kind: 'malformed' }))
  const account = { id: 'space-3', limits: () => ({ maxLlmTokensPerDay: 1100 }) }
  const generator = registry.generator(named('chat'), account)
  const failing = registry.generator(named('chat'))
  for (let round = 0; round < 4; round++) await failureOf(read(failing, 'hi'))
  for (let round = 0; round < 3; round++) {
    for await (const event of generator.generate(user('hi'), {})) if (event.type === 'end') break
  }
  fake.script(...repeat(4, { kind: 'malformed' }))
  for (let round = 0; round < 4; round++) await failureOf(read(failing, 'hi'))
  expect(registry.describe()[0]!.circuits[0]!.state).toBe('closed')
})

test('the estimate of tokens counts one token for four Latin letters, and one for each Chinese character', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('four')).toBe(1)
  expect(estimateTokens('漢字漢字')).toBe(4)
})

test('A76: no failure reveals the key, a header value, the prompt, the query of the address or the body', async () => {
  const canaries = ['sk-CANARY-key', 'CANARY-header', 'CANARY-prompt', 'CANARY-query', 'CANARY-body']
  const fake = await startFakeOpenAi()
  const entry: ProviderConfig = {
    pluginId: 'openai-compatible',
    provider: 'acme',
    baseUrl: `${fake.url}?sig=CANARY-query`,
    apiKey: 'sk-CANARY-key',
    headers: { 'X-Api': 'CANARY-header' },
    timeoutMs: 300,
  }
  const registry = createModelRegistry([entry], { now: Date.now, random: () => 0.01 })
  opened.push(registry, fake)
  const faults: Fault[] = [
    { kind: 'echo-key' },
    { kind: 'status', status: 400, body: 'CANARY-body' },
    { kind: 'status', status: 302, body: 'CANARY-body' },
    { kind: 'status', status: 200, body: 'CANARY-body' },
    { kind: 'status', status: 200, body: '{"data": "CANARY-body", "choices": "CANARY-body"}' },
    { kind: 'error-after', deltas: 0 },
    { kind: 'hang' },
    { kind: 'reset' },
  ]
  for (const fault of faults) {
    const asks = [
      () => registry.embedder(named('m')).embed(['CANARY-prompt'], 'query'),
      () => read(registry.generator(named('chat')), 'CANARY-prompt'),
      () => registry.reranker(named('rr')).rerank('CANARY-prompt', ['CANARY-prompt']),
    ]
    for (const ask of asks) {
      fake.script(...repeat(4, fault))
      const error = await ask().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      // The other calls ignore the fault that is specific to chat.
      if (fault.kind !== 'error-after') expect(error).toBeInstanceOf(KsError)
      const shown = `${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)} ${error}`
      for (const canary of canaries) expect(shown).not.toContain(canary)
      fake.clear()
    }
  }
  expect(fake.requests[0]!.headers).toMatchObject({ authorization: 'Bearer sk-CANARY-key', 'x-api': 'CANARY-header' })
  expect(fake.requests[0]!.query).toBe('sig=CANARY-query')
  const shown = inspect(registry.describe(), { depth: 9 }) + JSON.stringify(registry.describe())
  for (const canary of canaries) expect(shown).not.toContain(canary)
})

test('a refusal that mentions a quota only in its message does not count as a spent quota', async () => {
  const { fake, registry } = await setUp()
  const body = JSON.stringify({ error: { message: 'the prompt was: what does insufficient_quota mean?', code: null } })
  fake.script(...repeat(9, { kind: 'status', status: 429, body } as const))
  const error = await failureOf(registry.embedder(named('m')).embed(['x'], 'query'))
  expect(error.message).toBe('provider "acme" is limiting the rate of calls (429)')
})

test('calls for documents and background answers get ingestTimeoutMs instead of the timeout of queries', async () => {
  const { fake, registry } = await setUp({ timeoutMs: 40, ingestTimeoutMs: 5000, firstTokenTimeoutMs: 40 })
  fake.script({ kind: 'slow', ms: 150 })
  expect(await registry.embedder(named('m')).embed(['x'], 'document')).toHaveLength(1)
  fake.script({ kind: 'slow', ms: 150 })
  await expect(registry.embedder(named('m')).embed(['x'], 'query')).rejects.toThrow('no answer within 40 ms')
  fake.script({ kind: 'slow', ms: 150 })
  let text = ''
  for await (const event of registry.generator(named('m')).generate(user('hello'), { urgent: false }))
    if (event.type === 'delta') text += event.text
  expect(text).toBe('You said: hello')
  fake.script({ kind: 'slow', ms: 150 })
  await expect(read(registry.generator(named('m')), 'hello')).rejects.toThrow('no answer within 40 ms')
})

test('the window of a model comes from its setting, that of its provider, or the default of 8,192 tokens', async () => {
  const { registry } = await setUp({ contextTokens: { large: 131_072, '*': 16_384 } })
  expect(['large', 'other'].map((name) => registry.generator(named(name)).contextTokens)).toEqual([131_072, 16_384])
  expect((await setUp()).registry.generator(named('m')).contextTokens).toBe(8192)
  const entry = { pluginId: 'openai-compatible', provider: 'acme', baseUrl: 'http://127.0.0.1:1' }
  expect(() => createModelRegistry([{ ...entry, contextTokens: { m: 9 } }], { now: Date.now })).toThrow(
    'contextTokens of "m" must be an integer from 1024 to 10000000',
  )
  const [setting] = readProviders([{ ...entry, contextTokens: 4096 }])
  expect(setting?.contextTokens).toEqual({ '*': 4096 })
})
