import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { type LlamaOptions, LlamaProcess } from '../../../../src/local/models/llama-process.js'
import { getModelPaths } from '../../../../src/local/models/pulled.js'
import { getRuntimeEntry, getRuntimeFolder } from '../../../../src/local/models/runtime.js'
import { installPulledModel } from '../../../helpers/fake-llama.js'
import { until } from '../../../helpers/until.js'

const models = mkdtempSync(join(tmpdir(), 'ks-llama-'))
const started: LlamaProcess[] = []
afterEach(() => {
  for (const one of started.splice(0)) one.end()
})
afterAll(() => removeFolder(models))

function llama(more: Partial<LlamaOptions> = {}): LlamaProcess {
  const { task = 'embedding' } = more
  const { weights } = getModelPaths(models, installPulledModel(models, task))
  const entry = getRuntimeEntry(getRuntimeFolder(models))
  const one = new LlamaProcess({ entry, weights, bytes: 1024, task, ...more })
  started.push(one)
  return one
}

const embed = (texts: string[], urgent = true) => ({ op: 'embed' as const, texts, urgent })
const chat = (content: string) => ({ op: 'chat' as const, turns: [{ role: 'user' as const, content }] })

it('starts the process of a local model with the first request and reports the window of the model', async () => {
  const one = llama()
  expect(one.pid()).toBeUndefined()
  expect(await one.load()).toEqual({ contextTokens: 512, dimension: 8 })
  expect(one.pid()).toBeGreaterThan(0)
})

it('a local model returns vectors of unit length, even for an empty text and one above its window', async () => {
  const reply = await llama().sendRequest(embed(['a', '', 'b'.repeat(9000)]))
  const lengths = reply.op === 'embed' ? reply.vectors.map((vector) => Math.hypot(...vector).toFixed(3)) : []
  expect(lengths).toEqual(['1.000', '1.000', '1.000'])
})

it('a local model embeds an urgent text before the rest of a batch that was sent earlier', async () => {
  const one = llama()
  await one.load()
  const order: string[] = []
  const batch = one.sendRequest(embed(new Array(64).fill('text'), false)).then(() => order.push('batch'))
  await one.sendRequest(embed(['question'])).then(() => order.push('question'))
  await batch
  expect(order).toEqual(['question', 'batch'])
})

it('fails the requests to a local model whose process dies, and starts another process for the next one', async () => {
  const one = llama()
  await one.load()
  const dead = one.pid()
  await expect(one.sendRequest(embed(['DIE']))).rejects.toMatchObject({ fault: 'gone' })
  await expect(one.sendRequest(embed(['alive']))).resolves.toMatchObject({ op: 'embed' })
  expect(one.pid()).not.toBe(dead)
})

it.runIf(process.platform === 'linux')('ends the process of a model above its memory limit', async () => {
  const one = llama({ memoryBytes: 200 * 1024 * 1024 })
  await expect(one.sendRequest(embed(['GROW']))).rejects.toThrow('took more than 200 MiB of memory')
})

it('ends the process of a model that does not end a canceled request', async () => {
  const one = llama({ task: 'chat', cancelMs: 10 })
  await one.load()
  const pid = one.pid()
  const abort = new AbortController()
  // The first piece is sent before the process hangs.
  const hanging = one.sendRequest(chat('HANG'), abort.signal, () => abort.abort(new Error('too slow')))
  await expect(hanging).rejects.toThrow('too slow')
  await until(() => one.pid() === undefined)
  await one.sendRequest(chat('next'))
  expect(one.pid()).not.toBe(pid)
})

it('drops a request that is canceled before its model is loaded, and keeps the process', async () => {
  const one = llama()
  const abort = new AbortController()
  const canceled = one.sendRequest(embed(['HANG']), abort.signal)
  const pid = one.pid()
  abort.abort(new Error('too late'))
  await expect(canceled).rejects.toThrow('too late')
  await one.sendRequest(embed(['next']))
  expect(one.pid()).toBe(pid)
})

it('ends the idle process of a model', async () => {
  const one = llama({ idleMs: 1 })
  await one.sendRequest(embed(['a']))
  await until(() => one.pid() === undefined)
})

it('ends a process that does not load its model in time', async () => {
  await expect(llama({ loadMs: 1 }).load()).rejects.toThrow('its process did not load its model in time')
})

it('reports a model that the runtime cannot load', async () => {
  const id = installPulledModel(models, 'rerank', {}, Buffer.from('UNLOADABLE'))
  const one = llama({ weights: getModelPaths(models, id).weights })
  await expect(one.load()).rejects.toMatchObject({ fault: 'unloadable', message: 'unknown model architecture' })
})
