import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'

const KEY = 'CANARY-key'

let fake: FakeOpenAi
let ollama: { url: string; asked: string[]; close(): void }
let home: CliHome
/** whether the model answers the question about the built-in page */
let knowsPage = true

/** A server that lists its models as Ollama does, with their capabilities. */
async function startOllama() {
  const asked: string[] = []
  const shows: Record<string, object> = {
    'talker:8b': { capabilities: ['completion', 'tools'], model_info: { 'llama.context_length': 131_072 } },
    'vectors:latest': { capabilities: ['embedding'], model_info: { 'bert.context_length': 512 } },
    'wide:8b': {
      capabilities: ['completion'],
      model_info: { 'llama.context_length': 131_072 },
      parameters: 'stop  "<|end|>"\nnum_ctx                        16384\ntemperature  0.7',
    },
    'running:8b': {
      capabilities: ['completion'],
      model_info: { 'llama.context_length': 131_072 },
      parameters: 'num_ctx 16384',
    },
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push(request.url ?? '')
    const said =
      request.url === '/api/tags'
        ? { models: Object.keys(shows).map((name) => ({ name })) }
        : request.url === '/api/ps'
          ? { models: [{ name: 'running:8b', model: 'running:8b', context_length: 32_768 }] }
          : shows[JSON.parse(body || '{}').model ?? '']
    response.writeHead(said === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(said ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked, close: () => void server.close() }
}

beforeAll(async () => {
  fake = await startFakeOpenAi({
    apiKey: KEY,
    answer: (messages) => {
      const asked = messages.at(-1)?.content ?? ''
      if (asked.endsWith('Question: When does the ferry leave?')) return 'At seven [1].'
      if (asked.includes('key of the workshop')) return knowsPage ? 'It has the number KV-3817.' : 'Number KV-2204.'
      return asked.includes('JSON object') ? '{"ok":true}' : 'yes'
    },
    toolCalls: () => [{ name: 'weather', arguments: '{"town":"Oslo"}' }],
  })
  ollama = await startOllama()
  home = cliHome()
})
afterAll(async () => {
  await home.end()
  await fake.close()
  ollama.close()
})

const config = () => JSON.parse(readFileSync(join(home.dataDir, 'config.json'), 'utf8'))

describe('ks models add without a name', () => {
  it('shows the capabilities of the models of a server, and configures nothing without confirmation', async () => {
    const { code, stdout } = await home.ks(['models', 'add', '--server', ollama.url, '--json'])
    expect(code).toBe(0)
    const own = { provider: 'ollama', baseUrl: `${ollama.url}/v1`, can: 'completion', use: 'chat' }
    expect(JSON.parse(stdout)).toEqual([
      { ...own, name: 'talker:8b', can: 'completion, tools', contextTokens: 4096, mostContextTokens: 131_072 },
      { ...own, name: 'vectors:latest', use: 'embedding', can: 'embedding', contextTokens: 512 },
      { ...own, name: 'wide:8b', contextTokens: 16_384, mostContextTokens: 131_072 },
      { ...own, name: 'running:8b', contextTokens: 32_768, mostContextTokens: 131_072 },
    ])
    expect(() => config()).toThrow()
  })

  it('configures a server with its context windows after confirmation', async () => {
    const { code, stderr } = await home.ks(['models', 'add', '--server', ollama.url, '--yes'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('configured ollama')])
    expect(stderr).toContain('ollama/talker:8b now answers questions')
    expect(config().defaultGenerator).toBe('openai-compatible/ollama/talker:8b')
    expect(config().providers).toEqual([
      {
        pluginId: 'openai-compatible',
        provider: 'ollama',
        baseUrl: `${ollama.url}/v1`,
        contextTokens: { 'talker:8b': 4096, 'wide:8b': 16_384, 'running:8b': 32_768 },
      },
    ])
  })

  it('reports that no server answers', async () => {
    const { code, stderr } = await home.ks(['models', 'add', '--server', 'http://127.0.0.1:9'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('No model server answers')])
  })
})

describe('ks models add', () => {
  it('stores the address and the variable name of a preset, and never a key', async () => {
    const env = { OPENAI_API_KEY: KEY }
    const { code, stdout, stderr } = await home.ks(['models', 'add', 'openai'], { env })
    expect([code, stdout]).toEqual([0, 'added openai at https://api.openai.com/v1\n'])
    expect(config().providers.at(-1)).toEqual({
      pluginId: 'openai-compatible',
      provider: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      apiKeyEnv: 'OPENAI_API_KEY',
      contextTokens: { '*': 32_768 },
    })
    expect(`${stdout}${stderr}${JSON.stringify(config())}`).not.toContain(KEY)
  })

  it.each([
    [['nobody'], 'there is no preset "nobody"'],
    [['azure'], 'azure has a URL of your own'],
    [['http://ada:CANARY-key@127.0.0.1:1'], 'must not contain credentials'],
    [['http://127.0.0.1:1', '--key-env', KEY], 'must be the name of an environment variable'],
  ])('refuses %j without repeating a key', async (args, message) => {
    const { code, stderr } = await home.ks(['models', 'add', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).not.toContain(KEY)
  })

  it('replaces a provider of the same name', async () => {
    const add = ['models', 'add', fake.url, '--provider', 'local', '--key-env', 'LOCAL_KEY']
    expect((await home.ks(add)).code).toBe(0)
    expect((await home.ks([...add, '--context-tokens', '16384'])).code).toBe(0)
    const own = config().providers.filter(({ provider }: { provider: string }) => provider === 'local')
    expect(own).toMatchObject([{ baseUrl: fake.url, apiKeyEnv: 'LOCAL_KEY', contextTokens: { '*': 16_384 } }])
  })
})

describe('ks models test', () => {
  const results = async (name: string) => {
    const { code, stdout, stderr } = await home.ks(['models', 'test', name, '--json'], { env: { LOCAL_KEY: KEY } })
    expect(`${stdout}${stderr}`).not.toContain(KEY)
    const rows: { ability: string; result: string; latencyMs?: number }[] = JSON.parse(stdout)
    return { code, rows, results: Object.fromEntries(rows.map(({ ability, result }) => [ability, result])) }
  }

  it('tests the abilities of a language model, with latencies', async () => {
    const { code, rows, results: told } = await results('local/talker')
    expect(code).toBe(0)
    expect(told).toEqual({
      chat: 'works',
      answers: 'works',
      stream: 'works',
      tools: 'works',
      json: 'works',
      vision: 'works',
      embeddings: 'not asked',
      rerank: 'not asked',
      audio: 'not asked',
    })
    expect(rows.filter(({ latencyMs }) => latencyMs !== undefined)).toHaveLength(6)
  })

  it.each([
    ['local/some-embed', 'embeddings'],
    ['local/some-rerank', 'rerank'],
    ['local/some-tts', 'audio'],
    ['local/some-whisper', 'audio'],
  ])('tests %s for the ability that its name suggests', async (name, ability) => {
    const { code, results: told } = await results(name)
    expect([code, told[ability]]).toEqual([0, 'works'])
    expect(Object.values(told).filter((result) => result === 'works')).toHaveLength(1)
  })

  it('ends with exit 10 if a model fails at its main ability', async () => {
    fake.always({ kind: 'echo-key' })
    const { code, rows } = await results('local/talker')
    fake.always()
    expect(code).toBe(10)
    expect(rows[0]).toMatchObject({ ability: 'chat', result: "doesn't", note: 'key refused (401)' })
  })

  it('ends with exit 10 if a model does not answer from the built-in page', async () => {
    knowsPage = false
    const { code, results: abilities } = await results('local/talker')
    knowsPage = true
    expect([code, abilities['chat'], abilities['answers']]).toEqual([10, 'works', "doesn't"])
  })

  it('sends no request if the environment variable of the key is not set', async () => {
    const { code, stdout } = await home.ks(['models', 'test', 'openai', '--json'], { env: { OPENAI_API_KEY: '' } })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual([
      { provider: 'openai', model: '', result: 'not asked', note: 'OPENAI_API_KEY is not set in this shell' },
    ])
  })
})

it('the first model that ks models add adds answers the next question, and ks models lists its task and use', async () => {
  home.file('data/config.json', '{}')
  const run = { env: { LOCAL_KEY: KEY } }
  expect((await home.ks(['spaces', 'create', 'Notes'])).code).toBe(0)
  const note = home.file('note.md', '# Ferry\n\nThe ferry leaves at seven.\n')
  expect((await home.ks(['ingest', note, '--space', 'notes', '--wait'])).code).toBe(0)
  const add = ['models', 'add', fake.url, '--provider', 'local', '--key-env', 'LOCAL_KEY']
  const added = await home.ks([...add, '--model', 'talker'], run)
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('local/talker now answers questions')])
  const before = await home.ks(['models', '--json'])
  expect(JSON.parse(before.stdout)).toMatchObject({
    providers: [{ provider: 'local', credential: 'set', circuits: [] }],
    defaults: [
      { task: 'answers', provider: 'local', model: 'talker' },
      { task: 'embedding', pluginId: 'builtin' },
    ],
  })
  const asked = await home.ks(['query', 'When does the ferry leave?', '--space', 'notes', '--json'])
  expect(JSON.parse(asked.stdout)).toMatchObject({ metadata: { generator: 'model', decidedBy: 'model' } })
  const { code, stdout, stderr } = await home.ks(['models'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^local\ttalker\tgeneration\tanswers\tok\t1\t0\t/)])
  expect(stdout).toMatch(/^lsa\tlsa-200\t\tembedding\tok/m)
  expect(stderr).toContain('language model tokens')
  expect(`${added.stdout}${added.stderr}${stdout}${stderr}${before.stdout}`).not.toContain(KEY)
  // A second model changes no default.
  expect((await home.ks(['models', 'add', ollama.url, '--provider', 'other'])).stderr).not.toContain(
    'answers questions',
  )
  expect(config().defaultGenerator).toBe('openai-compatible/local/talker')
})
