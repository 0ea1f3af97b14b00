import { afterAll, expect, it } from 'vitest'
import { createModelRegistry } from '../../../../src/engine/models/registry.js'
import { listPulledModels, type ModelTask } from '../../../../src/local/models/pulled.js'
import { isRuntimeInstalled } from '../../../../src/local/models/runtime.js'

/** A folder as `ks models pull` fills it: `models/` of a data directory. */
const folder = process.env.KS_TEST_MODELS ?? ''
const models = folder !== '' && isRuntimeInstalled(folder) ? listPulledModels(folder) : []
const registry = createModelRegistry([], { now: Date.now, modelsFolder: folder })
afterAll(() => registry.close())

const named = (name: string, task: ModelTask) => {
  const found = models.find((one) => one.task === task && one.id.startsWith(name))
  if (found === undefined) process.stdout.write(`SKIPPED real weights: KS_TEST_MODELS has no ${task} model ${name}*\n`)
  return { isThere: found !== undefined, reference: { pluginId: 'local', provider: 'llama', model: found?.id ?? '' } }
}

const minilm = named('all-minilm-l6-v2', 'embedding')
it.runIf(minilm.isThere)('gives the published cosines of all-MiniLM-L6-v2', async () => {
  const embedder = registry.embedder(minilm.reference)
  const texts = ['That is a happy person', 'That is a happy dog', 'That is a very happy person', 'Today is a sunny day']
  const [person = new Float32Array(), ...others] = await embedder.embed(texts, 'document')
  const cosines = others.map((vector) => vector.reduce((sum, value, at) => sum + value * (person[at] ?? 0), 0))
  expect(cosines.map((cosine, at) => Math.abs(cosine - ([0.695, 0.943, 0.257][at] ?? 0)) < 0.02)).toEqual([
    true,
    true,
    true,
  ])
  expect(person).toHaveLength(384)
})

const generator = named('', 'chat')
it.runIf(generator.isThere)('limits an answer of a pulled chat model to maxTokens, and counts its tokens', async () => {
  const { generate } = registry.generator(generator.reference)
  let text = ''
  let written = 0
  for await (const event of generate([{ role: 'user', content: 'Write a long story.' }], { maxTokens: 12 }))
    if (event.type === 'delta') text += event.text
    else written = event.usage?.outputTokens ?? 0
  expect(text).not.toBe('')
  expect(written).toBeLessThanOrEqual(13)
})
