import { afterEach, expect, test } from 'vitest'
import type { ProviderConfig } from '../../../src/engine/base/provider-config.js'
import { toApiUrl } from '../../../src/engine/models/openai-compatible/endpoint.js'
import { createModelRegistry, type ModelRegistry } from '../../../src/engine/models/registry.js'
import type { GenerationEvent } from '../../../src/engine/models/types.js'
import { type FakeOpenAi, type FakeOptions, hashVector, startFakeOpenAi } from '../../helpers/fake-openai.js'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close()
})

/** A fake server and a registry that knows it as `acme`. */
async function setUp(
  server: FakeOptions = {},
  config: Partial<ProviderConfig> = {},
): Promise<{ fake: FakeOpenAi; registry: ModelRegistry }> {
  const fake = await startFakeOpenAi(server)
  const entry = { pluginId: 'openai-compatible', provider: 'acme', baseUrl: fake.url, timeoutMs: 3000, ...config }
  const registry = createModelRegistry([entry], { now: Date.now, random: () => 0.01 })
  opened.push(registry, fake)
  return { fake, registry }
}

const named = (model: string) => ({ pluginId: 'openai-compatible', provider: 'acme', model })
const length = (vector: Float32Array) => Math.hypot(...vector)

async function collect(stream: AsyncIterable<GenerationEvent>) {
  const events: GenerationEvent[] = []
  for await (const event of stream) events.push(event)
  const text = events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
  return { events, text, end: events.at(-1) }
}

const user = (content: string) => [{ role: 'user' as const, content }]

test.each([
  ['http://h:1', 'http://h:1/v1/embeddings'],
  ['http://h:1/', 'http://h:1/v1/embeddings'],
  ['http://h:1/v1', 'http://h:1/v1/embeddings'],
  ['http://h:1/v1/', 'http://h:1/v1/embeddings'],
  ['https://h/openai', 'https://h/openai/v1/embeddings'],
  ['https://h/v1beta/openai/', 'https://h/v1beta/openai/embeddings'],
  ['https://h/x?api-version=3', 'https://h/x/v1/embeddings?api-version=3'],
])('the base address %s of a provider gives the request address %s', (base, expected) => {
  expect(toApiUrl(new URL(base), 'embeddings').href).toBe(expected)
})

test('embeddings of a provider have the order of the texts and unit length; the request has the key', async () => {
  const { fake, registry } = await setUp({ apiKey: 'sk-1', dimension: 16 }, { apiKey: 'sk-1' })
  fake.script({ kind: 'shuffled' })
  const texts = ['alpha beta', 'gamma', 'alpha']
  const vectors = await registry.embedder(named('m')).embed(texts, 'document')
  expect(vectors).toHaveLength(3)
  for (const [at, text] of texts.entries()) {
    const raw = hashVector(text, 16)
    const norm = Math.hypot(...raw)
    expect(length(vectors[at]!)).toBeCloseTo(1, 5)
    expect([...vectors[at]!]).toEqual(raw.map((value) => expect.closeTo(value / norm, 5)))
  }
  expect(fake.requests[0]!.body).toMatchObject({ model: 'm', encoding_format: 'float' })
})

test('an embedding call splits texts above the batch size and joins the vectors in order', async () => {
  const { fake, registry } = await setUp({}, { maxBatch: 3, maxConcurrency: 2 })
  const embedder = registry.embedder(named('m'))
  expect(embedder.maxBatch).toBe(3)
  const texts = Array.from({ length: 8 }, (_, at) => `word${at}`)
  const together = await embedder.embed(texts, 'document')
  expect(fake.requests.map(({ body }) => body.input!.length).sort()).toEqual([2, 3, 3])
  const [alone] = await embedder.embed(['word6'], 'document')
  expect(together[6]).toEqual(alone)
  expect(await embedder.embed([], 'document')).toEqual([])
})

test("prefixes, truncation at maxChars and the replacement of empty texts follow the model's settings", async () => {
  const model = { name: 'e5', queryPrefix: 'query: ', documentPrefix: 'passage: ', maxChars: 12 }
  const { fake, registry } = await setUp({}, { models: { embedding: [model, 'plain'] } })
  await registry.embedder(named('e5')).embed(['abcdef'], 'query')
  await registry.embedder(named('e5')).embed(['ab😀d'], 'document')
  await registry.embedder(named('plain')).embed(['', 'x'], 'document')
  expect(fake.requests.map(({ body }) => body.input)).toEqual([['query: abcde'], ['passage: ab'], [' ', 'x']])
})

test.each([
  ['another dimension than before', { kind: 'dimension', dimension: 7 }, /7 dimensions where 8/],
  ['empty vectors', { kind: 'dimension', dimension: 0 }, /empty vector/],
  ['NaN', { kind: 'number', text: 'NaN' }, /not JSON/],
  ['null', { kind: 'number', text: 'null' }, /not a finite number/],
  ['infinity', { kind: 'number', text: '1e999' }, /not a finite number/],
  ['a string', { kind: 'number', text: '"0.5"' }, /not a finite number/],
  ['a number too large to square', { kind: 'number', text: '1e200' }, /no usable length/],
  ['a zero vector', { kind: 'zero' }, /no usable length/],
  ['too few vectors', { kind: 'fewer' }, /1 vectors for 2 texts/],
  ['one index twice', { kind: 'duplicate' }, /indexes/],
  ['truncated JSON', { kind: 'malformed' }, /not JSON/],
] as const)('F40: an embedding reply with %s is rejected without a retry', async (_, fault, rule) => {
  const { fake, registry } = await setUp()
  const embedder = registry.embedder(named('m'))
  await embedder.embed(['first'], 'query')
  fake.script(fault)
  const failure = embedder.embed(['one', 'two'], 'query')
  await expect(failure).rejects.toMatchObject({ code: 'provider-failed', message: expect.stringMatching(rule) })
  expect(fake.requests).toHaveLength(2)
  expect(await embedder.embed(['one', 'two'], 'query')).toHaveLength(2)
})

test('a dimension in the settings of an embedding model applies from the first reply on', async () => {
  const { registry } = await setUp({}, { models: { embedding: [{ name: 'm', dimension: 9 }] } })
  await expect(registry.embedder(named('m')).embed(['x'], 'query')).rejects.toThrow(/8 dimensions where 9 are expected/)
})

test('a reply of a provider above the size limit is aborted', async () => {
  const { fake, registry } = await setUp({}, { timeoutMs: 20_000 })
  fake.script({ kind: 'huge', bytes: 20 * 1024 * 1024 })
  const failure = registry.reranker(named('m')).rerank('q', ['d'])
  await expect(failure).rejects.toThrow(/more than 16777216 bytes/)
})

test('a completion streams deltas and ends with finish reason, usage and the model that served', async () => {
  const { fake, registry } = await setUp()
  const { events, text, end } = await collect(registry.generator(named('chat')).generate(user('größe 漢字 😀 end'), {}))
  expect(text).toBe('You said: größe 漢字 😀 end')
  expect(events.filter(({ type }) => type === 'delta')).toHaveLength(6)
  expect(end).toEqual({
    type: 'end',
    finishReason: 'stop',
    usage: { inputTokens: 4, outputTokens: 6 },
    metadata: { model: 'chat-2025' },
  })
  expect(fake.requests[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('a character that a provider splits between two deltas arrives complete', async () => {
  const { registry } = await setUp({ answer: () => 'a😀👩‍👧b\ud83d', deltaPattern: /[\s\S]/g })
  const { events, text } = await collect(registry.generator(named('m')).generate(user('hi'), {}))
  expect(text).toBe('a😀👩‍👧b')
  for (const event of events) if (event.type === 'delta') expect(event.text.isWellFormed()).toBe(true)
})

test('a completion sends maxTokens and returns the finish reason length', async () => {
  const { registry } = await setUp()
  const { text, end } = await collect(registry.generator(named('chat')).generate(user('a b c d'), { maxTokens: 3 }))
  expect(text).toBe('You said: a')
  expect(end).toMatchObject({ finishReason: 'length' })
})

test.each([
  ['that ignores streaming', {}, true],
  ['that refuses streaming', { refuses: ['stream'] }, false],
  ['that refuses usage in streams', { refuses: ['stream_options'] }, false],
  ['that wants max_completion_tokens', { refuses: ['max_tokens'] }, false],
  ['that refuses all of it', { refuses: ['max_tokens', 'stream_options', 'stream'] }, false],
] as const)('a server %s still answers, and later requests use its dialect at once', async (_, options, whole) => {
  const { fake, registry } = await setUp({ refuses: [...('refuses' in options ? options.refuses : [])] })
  if (whole) fake.script({ kind: 'whole' })
  const generator = registry.generator(named('chat'))
  const first = await collect(generator.generate(user('hello you'), { maxTokens: 50 }))
  expect(first.text).toBe('You said: hello you')
  expect(first.end).toMatchObject({ type: 'end', finishReason: 'stop' })
  const asked = fake.requests.length
  expect((await collect(generator.generate(user('again'), { maxTokens: 50 }))).text).toBe('You said: again')
  expect(fake.requests.length).toBe(asked + 1)
})

test('aborting the stream of a completion ends it at once and closes the socket', async () => {
  // The complete answer would take a minute.
  const { fake, registry } = await setUp({ deltaMs: 10, answer: () => 'word '.repeat(6000) })
  const controller = new AbortController()
  const reason = new Error('client left')
  const reading = (async () => {
    let deltas = 0
    for await (const event of registry.generator(named('chat')).generate(user('x'), { signal: controller.signal })) {
      if (event.type === 'delta' && ++deltas === 3) controller.abort(reason)
    }
  })()
  await expect(reading).rejects.toBe(reason)
  await expect.poll(() => fake.sockets(), { interval: 5 }).toBe(0)
  expect(fake.requests[0]!.isAborted).toBe(true)
})

test('aborting a completion or an embedding while the provider is silent closes the socket', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'stall-after', deltas: 1 }, { kind: 'hang' })
  const controller = new AbortController()
  const stream = collect(registry.generator(named('chat')).generate(user('x'), { signal: controller.signal }))
  const embedding = registry.embedder(named('m')).embed(['x'], 'query', controller.signal)
  await expect.poll(() => fake.requests.length).toBe(2)
  setTimeout(() => controller.abort(), 20)
  await expect(stream).rejects.toMatchObject({ name: 'AbortError' })
  await expect(embedding).rejects.toMatchObject({ name: 'AbortError' })
  await expect.poll(() => fake.sockets()).toBe(0)
})

test('a consumer that leaves the loop over a completion cancels the request', async () => {
  const { fake, registry } = await setUp({ deltaMs: 10, answer: () => 'word '.repeat(500) })
  for await (const event of registry.generator(named('chat')).generate(user('x'), {})) {
    if (event.type === 'delta') break
  }
  await expect.poll(() => fake.requests[0]!.isAborted).toBe(true)
  expect(fake.sockets()).toBe(0)
})

test.each([
  ['reset', { kind: 'reset-after', deltas: 2 }, /closed the connection/],
  ['ended without a finish reason', { kind: 'cut-after', deltas: 2 }, /closed the connection/],
  ['that reports an error', { kind: 'error-after', deltas: 2 }, /failed on its side/],
] as const)('a stream %s after its first delta fails without a retry', async (_, fault, rule) => {
  const { fake, registry } = await setUp({ deltaMs: 5 })
  fake.script(fault)
  const seen: string[] = []
  const reading = (async () => {
    for await (const event of registry.generator(named('chat')).generate(user('SECRET-PROMPT b c'), {})) {
      if (event.type === 'delta') seen.push(event.text)
    }
  })()
  await expect(reading).rejects.toMatchObject({ code: 'provider-failed', message: expect.stringMatching(rule) })
  await expect(reading).rejects.not.toThrow(/SECRET-PROMPT/)
  expect(seen).toHaveLength(2)
  expect(fake.requests).toHaveLength(1)
})

test('a stream that breaks before its first delta is retried', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'reset' }, { kind: 'cut-after', deltas: 0 }, { kind: 'status', status: 503 })
  const { text } = await collect(registry.generator(named('chat')).generate(user('hello'), {}))
  expect(text).toBe('You said: hello')
  expect(fake.requests).toHaveLength(4)
})

test('a completion fails on a line without end and on a web page', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'long-line', chars: 3 * 1024 * 1024 })
  const generator = registry.generator(named('chat'))
  await expect(collect(generator.generate(user('x'), {}))).rejects.toThrow(/more than 1048576 characters/)
  fake.script({ kind: 'status', status: 200, body: '<html>sign in</html>', mediaType: 'text/html' })
  await expect(collect(generator.generate(user('x'), {}))).rejects.toThrow(/a web page/)
  await expect.poll(() => fake.sockets()).toBeLessThanOrEqual(1)
})

test('connections to a provider are reused, even after a stream and after a failure', async () => {
  const { fake, registry } = await setUp()
  const generator = registry.generator(named('chat'))
  for (let round = 0; round < 5; round++) await collect(generator.generate(user(`round ${round}`), {}))
  fake.script({ kind: 'status', status: 500 })
  for (let round = 0; round < 5; round++) await registry.embedder(named('m')).embed(['x'], 'query')
  // The pool may open a second one while the first is being returned.
  expect(fake.connections()).toBeLessThanOrEqual(2)
})

test('a server that stays connected after its last event does not block the caller', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'lingers' })
  const { text, end } = await collect(registry.generator(named('chat')).generate(user('hi'), {}))
  expect([text, end?.type]).toEqual(['You said: hi', 'end'])
  await expect.poll(() => fake.sockets()).toBe(0)
})

test('rerank returns one score for each document, in their order', async () => {
  const { fake, registry } = await setUp()
  const scores = await registry.reranker(named('rr')).rerank('red fox', ['blue sky', 'red fox', 'red sky'])
  expect(scores).toEqual([0, 1, 0.5])
  expect(fake.requests[0]!.body).toMatchObject({ model: 'rr', query: 'red fox', top_n: 3 })
  expect(await registry.reranker(named('rr')).rerank('q', [])).toEqual([])
})

test('raw scores of a rerank model are mapped to 0…1, as are all later scores of that model', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'scores', scores: [-4, 0, 4] }, { kind: 'scores', scores: [0.5, 0.5, 0.5] })
  const reranker = registry.reranker(named('rr'))
  const first = await reranker.rerank('q', ['a', 'b', 'c'])
  expect(first).toEqual([expect.closeTo(0.018, 3), 0.5, expect.closeTo(0.982, 3)])
  expect(await reranker.rerank('q', ['a', 'b', 'c'])).toEqual(Array(3).fill(expect.closeTo(0.622, 3)))
})

test.each([
  ['too few scores', { kind: 'fewer' }],
  ['a document twice', { kind: 'duplicate' }],
] as const)('a rerank reply with %s is rejected', async (_, fault) => {
  const { fake, registry } = await setUp()
  fake.script(fault)
  const failure = registry.reranker(named('rr')).rerank('q', ['a', 'b'])
  await expect(failure).rejects.toMatchObject({ code: 'provider-failed' })
})

test('a redirect of a provider is not followed', async () => {
  const { fake, registry } = await setUp()
  fake.script({ kind: 'status', status: 307 })
  await expect(registry.embedder(named('m')).embed(['x'], 'query')).rejects.toThrow(/redirect/)
  expect(fake.requests).toHaveLength(1)
})

test('a service that rejects encoding_format or top_n gets later requests without it', async () => {
  const { fake, registry } = await setUp({ refuses: ['encoding_format', 'top_n'] })
  const embedder = registry.embedder(named('e'))
  expect(await embedder.embed(['one'], 'query')).toHaveLength(1)
  expect(await embedder.embed(['two'], 'query')).toHaveLength(1)
  expect(fake.requests.map(({ body }) => body.encoding_format)).toEqual(['float', undefined, undefined])
  fake.requests.splice(0)
  const scores = await registry.reranker(named('r')).rerank('red', ['Grass is green.', 'Blood is red.'])
  expect(scores[1]).toBeGreaterThan(scores[0] ?? 1)
  await registry.reranker(named('r')).rerank('red', ['Grass is green.'])
  expect(fake.requests.map(({ body }) => body.top_n)).toEqual([2, undefined, undefined])
})

test('a model that rejects temperature gets later requests without it', async () => {
  const { fake, registry } = await setUp({ refuses: ['temperature'] })
  for (const question of ['one', 'two'])
    await collect(registry.generator(named('thinker')).generate(user(question), { temperature: 0 }))
  expect(fake.requests.map(({ body }) => body.temperature)).toEqual([0, undefined, undefined])
})
