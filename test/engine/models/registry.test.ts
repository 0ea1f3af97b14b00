import { inspect } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import type { ProviderConfig } from '../../../src/engine/base/provider-config.js'
import { isAllowedForOperator } from '../../../src/engine/models/egress/addresses.js'
import {
  BUILTIN_ANSWER,
  BUILTIN_EMBEDDING,
  createModelRegistry,
  isBuiltin,
  type ModelRegistry,
  type RegistryOptions,
} from '../../../src/engine/models/registry.js'
import { startFakeOpenAi } from '../../helpers/fake-openai.js'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close()
})

const acme = { pluginId: 'openai-compatible', provider: 'acme', baseUrl: 'https://models.example/v1' }
const reference = { pluginId: 'openai-compatible', provider: 'acme', model: 'm' }

function make(configs: ProviderConfig[], options: Partial<RegistryOptions> = {}): ModelRegistry {
  const registry = createModelRegistry(configs, { now: Date.now, ...options })
  opened.push(registry)
  return registry
}

test('built-in model references are recognised, and the registry does not offer them', () => {
  expect(isBuiltin(BUILTIN_EMBEDDING)).toBe(true)
  expect(isBuiltin({ ...BUILTIN_ANSWER })).toBe(true)
  expect(isBuiltin({ ...BUILTIN_EMBEDDING, model: 'lsa-100' })).toBe(false)
  expect(isBuiltin(reference)).toBe(false)
  expect(make([acme]).has(BUILTIN_EMBEDDING, 'embedding')).toBe(false)
})

test.each([
  ['provider', { ...reference, provider: 'other' }, 'provider "other" is not configured in this daemon'],
  ['plugin', { ...reference, pluginId: 'transformers' }, 'provider "acme" is not configured in this daemon'],
  ['model', reference, 'provider "acme" does not offer embedding model "m"'],
])('a model reference with an unknown %s fails with unavailable', (_, asked, message) => {
  const registry = make([{ ...acme, models: { embedding: ['n'], rerank: [{ name: 'm' }] } }])
  expect(registry.has(asked, 'embedding')).toBe(false)
  expect(() => registry.embedder(asked)).toThrow(expect.objectContaining({ code: 'unavailable', message }))
})

test('a provider offers its listed models of each kind, and every model without a list', () => {
  const listed = make([{ ...acme, models: { generation: ['m'] } }])
  expect(listed.has(reference, 'generation')).toBe(true)
  expect(listed.has(reference, 'embedding')).toBe(false)
  expect(() => listed.reranker(reference)).toThrow(/does not offer rerank model "m"/)
  const open = make([acme])
  expect(open.has(reference, 'embedding') && open.has(reference, 'rerank')).toBe(true)
  expect(open.generator(reference).reference).toEqual(reference)
})

test('the key of a provider comes from the variable apiKeyEnv; the provider is unavailable without it', async () => {
  const fake = await startFakeOpenAi({ apiKey: 'sk-env' })
  opened.push(fake)
  const entry = { ...acme, baseUrl: fake.url, apiKeyEnv: 'ACME_KEY' }
  const registry = make([entry], { env: { ACME_KEY: 'sk-env\n' } })
  expect(await registry.embedder(reference).embed(['x'], 'query')).toHaveLength(1)
  expect(registry.describe()[0]!.credential).toBe('set')

  const without = make([entry], { env: {} })
  expect(without.has(reference, 'embedding')).toBe(false)
  expect(without.describe()[0]!.credential).toBe('missing')
  expect(() => without.embedder(reference)).toThrow(
    'provider "acme" has no key: environment variable ACME_KEY is not set',
  )
})

test('the description of providers contains the settings for doctor and no secret', () => {
  const registry = make([
    {
      ...acme,
      baseUrl: 'https://models.example/v1?key=CANARY',
      apiKey: 'CANARY',
      headers: { 'api-key': 'CANARY' },
      models: { embedding: ['m'] },
    },
  ])
  registry.embedder(reference)
  expect(registry.describe()).toEqual([
    {
      pluginId: 'openai-compatible',
      provider: 'acme',
      baseUrl: 'https://models.example/v1',
      credential: 'set',
      models: { embedding: ['m'], generation: [], rerank: [], speech: [], transcription: [] },
      timeoutMs: 60_000,
      ingestTimeoutMs: 300_000,
      contextTokens: {},
      maxConcurrency: 4,
      circuits: [
        {
          kind: 'embedding',
          model: 'm',
          state: 'closed',
          calls: 0,
          failed: 0,
          inputTokens: 0,
          outputTokens: 0,
        },
      ],
    },
  ])
  expect(registry.secrets().map((secret) => secret.reveal())).toEqual(['CANARY', 'CANARY'])
  const shown = `${inspect(registry.secrets(), { showHidden: true })} ${JSON.stringify(registry.secrets())}`
  expect(`${shown} ${registry.secrets()}`).not.toContain('CANARY')
})

test.each([
  [
    'another plugin',
    { pluginId: 'constructor' },
    /pluginId must be "openai-compatible" or "command", received "constructor"/,
  ],
  ['no name', { provider: ' ' }, /name must not be empty/],
  ['a path instead of an address', { baseUrl: '/v1' }, /absolute address/],
  ['another protocol', { baseUrl: 'file:///etc' }, /http/],
  ['credentials in the address', { baseUrl: 'https://u:CANARY@h/' }, /must not contain credentials/],
  ['the cloud metadata address', { baseUrl: 'http://169.254.169.254/' }, /link-local/],
  ['the metadata address in hexadecimal', { baseUrl: 'http://0xa9fea9fe/' }, /link-local/],
  ['the metadata address inside of IPv6', { baseUrl: 'http://[::ffff:169.254.169.254]/' }, /link-local/],
  ['an invalid batch size', { maxBatch: 0 }, /maxBatch must be an integer from 1 to 2048, received 0/],
  ['a key with a line break', { apiKey: 'CANARY\nx: y' }, /key contains characters/],
  ['a header with a line break', { headers: { x: 'CANARY\r\ny: z' } }, /header x contains/],
  ['a header without a name', { headers: { 'a b': '1' } }, /invalid header name/],
])('a provider entry with %s is rejected, without its secrets in the error', (_, part, rule) => {
  const error = (() => {
    try {
      make([{ ...acme, ...part }])
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toMatchObject({ code: 'invalid-request', message: expect.stringMatching(rule) })
  expect(inspect(error)).not.toContain('CANARY')
})

test('a provider that is configured twice is rejected', () => {
  expect(() => make([acme, acme])).toThrow(/configured twice/)
})

test('a provider may have a loopback or private address, but no link-local address and no metadata service', () => {
  const baseUrl = (host: string) => ({ ...acme, baseUrl: `http://${host}/v1` })
  for (const host of [
    '127.0.0.1',
    '[::1]',
    '10.0.0.8',
    '192.168.1.9',
    '[fd00::8]',
    '8.8.8.8',
    'localhost',
    'a.example',
  ])
    expect(() => make([baseUrl(host)]), host).not.toThrow()
  const ranges = ['169.254.1.1', '169.254.169.254', '[fe80::2]', '224.0.0.1', '0.0.0.0', '255.255.255.255', '[::]']
  const services = ['100.100.100.200', '168.63.129.16', '[fd00:ec2::254]', '[::ffff:169.254.169.254]', '0xa9fea9fe']
  for (const host of [...ranges, ...services])
    expect(() => make([baseUrl(host)]), host).toThrow('must not be a link-local, multicast')
})

test('the host name of a provider may not resolve to a link-local address or a metadata service', () => {
  for (const [address, dialled] of [
    ['127.0.0.1', true],
    ['10.0.0.8', true],
    ['100.100.100.200', false],
    ['fd00:ec2::254', false],
    ['fe80::1%lo', false],
    ['nonsense', false],
  ] as const)
    expect([address, isAllowedForOperator(address)]).toEqual([address, dialled])
})

test('a provider with a host name is resolved, checked and reached like an address', async () => {
  const fake = await startFakeOpenAi()
  opened.push(fake)
  const registry = make([{ ...acme, baseUrl: fake.url.replace('127.0.0.1', 'localhost') }])
  expect(await registry.embedder(reference).embed(['x'], 'query')).toHaveLength(1)
})

test('closing the model registry aborts running calls', async () => {
  const fake = await startFakeOpenAi()
  opened.push(fake)
  const registry = make([{ ...acme, baseUrl: fake.url }])
  fake.script({ kind: 'hang' })
  const running = registry.embedder(reference).embed(['x'], 'query')
  await expect.poll(() => fake.requests.length).toBe(1)
  await Promise.all([expect(running).rejects.toMatchObject({ code: 'provider-failed' }), registry.close()])
  expect(fake.sockets()).toBe(0)
})
