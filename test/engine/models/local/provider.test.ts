import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { createModelRegistry, type ModelRegistry } from '../../../../src/engine/models/registry.js'
import type { GenerationEvent } from '../../../../src/engine/models/types.js'
import { getModelPaths } from '../../../../src/local/models/pulled.js'
import { installPulledModel } from '../../../helpers/fake-llama.js'

let models: string
let registry: ModelRegistry
beforeEach(() => {
  models = mkdtempSync(join(tmpdir(), 'ks-local-'))
  registry = createModelRegistry([], { now: Date.now, modelsFolder: models, random: () => 0.01 })
})
afterEach(async () => {
  await registry.close()
  removeFolder(models)
})

const local = (model: string) => ({ pluginId: 'local', provider: 'llama', model })

it('offers a pulled model until it is removed, without a restart', () => {
  const reference = local('fake-embedding@0123456789ab')
  expect([registry.has(reference, 'embedding'), registry.describe()]).toEqual([false, []])
  const id = installPulledModel(models, 'embedding')
  expect([registry.has(reference, 'embedding'), registry.has(reference, 'generation')]).toEqual([true, false])
  expect(registry.describe()).toMatchObject([{ pluginId: 'local', provider: 'llama', credential: 'none' }])
  rmSync(getModelPaths(models, id).path, { recursive: true })
  expect(registry.has(reference, 'embedding')).toBe(false)
  expect(() => registry.embedder(reference)).toThrow('`ks models pull` fetches models to this machine')
})

it('offers no model with an incomplete manifest, and none outside of the folder of models', () => {
  installPulledModel(models, 'embedding', { sha256: undefined })
  expect(registry.has(local('fake-embedding@0123456789ab'), 'embedding')).toBe(false)
  expect(registry.has(local('../models@0123456789ab'), 'embedding')).toBe(false)
})

it('puts the prefixes of a local embedding model before questions and passages', async () => {
  const id = installPulledModel(models, 'embedding', { queryPrefix: 'query: ', documentPrefix: 'passage: ' })
  const embedder = registry.embedder(local(id))
  const [query] = await embedder.embed(['x'], 'query')
  const [passage, same] = await embedder.embed(['x', 'x'], 'document')
  expect(passage).toEqual(same)
  expect(query).not.toEqual(passage)
})

it('embeds again after the process of a local model died once', async () => {
  const embedder = registry.embedder(local(installPulledModel(models, 'embedding')))
  const dying = embedder.embed(['DIE'], 'query').catch((error: unknown) => error)
  expect(await dying).toMatchObject({ code: 'provider-failed' })
  await expect(embedder.embed(['alive'], 'query')).resolves.toHaveLength(1)
})

it('rejects vectors of a local model whose dimension is not that of the space', async () => {
  const embedder = registry.embedder(local(installPulledModel(models, 'embedding')), undefined, 384)
  await expect(embedder.embed(['x'], 'query')).rejects.toThrow('wrong count of vectors, or another dimension than 384')
})

it('reports a missing runtime of models with the command that fetches it', async () => {
  const embedder = registry.embedder(local(installPulledModel(models, 'embedding')))
  rmSync(join(models, 'runtime'), { recursive: true })
  await expect(embedder.embed(['x'], 'query')).rejects.toThrow(
    'its runtime is not installed; `ks models pull` fetches it',
  )
})

it('a local rerank model returns relevances from 0 to 1 in the order of the documents', async () => {
  const reranker = registry.reranker(local(installPulledModel(models, 'rerank')))
  expect(await reranker.rerank('bird', ['a cat', 'a bird'])).toEqual([0.1, 0.9])
})

it('a local chat model streams an answer to the last question with the turns before it', async () => {
  const generator = registry.generator(local(installPulledModel(models, 'chat')))
  const events: GenerationEvent[] = []
  const messages = [
    { role: 'system' as const, content: 'brief' },
    { role: 'user' as const, content: 'one' },
    { role: 'assistant' as const, content: 'two' },
    { role: 'user' as const, content: 'three' },
  ]
  for await (const event of generator.generate(messages, {})) events.push(event)
  expect(events.map((event) => (event.type === 'delta' ? event.text : event.finishReason))).toEqual([
    'brief ',
    '3 ',
    'three ',
    'stop',
  ])
  expect(events.at(-1)).toMatchObject({ type: 'end', usage: { inputTokens: expect.any(Number) } })
})

it('a conversation that is longer than the window of a local chat model fails as too long', async () => {
  const generator = registry.generator(local(installPulledModel(models, 'chat')))
  const drain = async () => {
    for await (const _ of generator.generate([{ role: 'user', content: 'x'.repeat(600) }], {}));
  }
  await expect(drain()).rejects.toThrow('got more text than fits the context window of its model')
})
