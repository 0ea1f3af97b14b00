import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { type LlamaOptions, LlamaProcess } from '../../../../src/local/models/llama-process.js'
import { modelPaths } from '../../../../src/local/models/pulled.js'
import { runtimeEntry, runtimeFolder } from '../../../../src/local/models/runtime.js'
import { pulledModelOf } from '../../../helpers/fake-llama.js'
import { until } from '../../../helpers/until.js'

const models = mkdtempSync(join(tmpdir(), 'ks-llama-'))
const started: LlamaProcess[] = []
afterEach(() => {
  for (const one of started.splice(0)) one.end()
})
afterAll(() => removeFolder(models))

function llama(more: Partial<LlamaOptions> = {}): LlamaProcess {
  const { task = 'embedding' } = more
  const { weights } = modelPaths(models, pulledModelOf(models, task))
  const entry = runtimeEntry(runtimeFolder(models))
  const one = new LlamaProcess({ entry, weights, bytes: 1024, task, ...more })
  started.push(one)
  return one
}

const embed = (texts: string[], urgent = true) => ({ op: 'embed' as const, texts, urgent })

it('starts with the first request and reports the window of its model', async () => {
  const one = llama()
  expect(one.pid()).toBeUndefined()
  expect(await one.load()).toEqual({ contextTokens: 512, dimension: 8 })
  expect(one.pid()).toBeGreaterThan(0)
})

it('gives vectors of unit length, of an empty text and of one that is longer than the window, too', async () => {
  const reply = await llama().ask(embed(['a', '', 'b'.repeat(9000)]))
  const lengths = reply.op === 'embed' ? reply.vectors.map((vector) => Math.hypot(...vector).toFixed(3)) : []
  expect(lengths).toEqual(['1.000', '1.000', '1.000'])
})

it('embeds an urgent text before the rest of a batch that was sent earlier', async () => {
  const one = llama()
  await one.load()
  const order: string[] = []
  const batch = one.ask(embed(new Array(64).fill('text'), false)).then(() => order.push('batch'))
  await one.ask(embed(['question'])).then(() => order.push('question'))
  await batch
  expect(order).toEqual(['question', 'batch'])
})

it('fails the requests of a process that dies, and starts another one for the next', async () => {
  const one = llama()
  await one.load()
  const dead = one.pid()
  await expect(one.ask(embed(['DIE']))).rejects.toMatchObject({ fault: 'gone' })
  await expect(one.ask(embed(['alive']))).resolves.toMatchObject({ op: 'embed' })
  expect(one.pid()).not.toBe(dead)
})

it.runIf(process.platform === 'linux')('ends a process that takes more memory than it may', async () => {
  const one = llama({ memoryBytes: 200 * 1024 * 1024 })
  await expect(one.ask(embed(['GROW']))).rejects.toThrow('took more than 200 MiB of memory')
})

it('ends a process that does not end a canceled request', async () => {
  const one = llama({ cancelMs: 10 })
  await one.load()
  const pid = one.pid()
  const abort = new AbortController()
  const hanging = one.ask(embed(['HANG']), abort.signal)
  abort.abort(new Error('too slow'))
  await expect(hanging).rejects.toThrow('too slow')
  await until(() => one.pid() === undefined)
  await one.ask(embed(['next']))
  expect(one.pid()).not.toBe(pid)
})

it('ends an idle process', async () => {
  const one = llama({ idleMs: 1 })
  await one.ask(embed(['a']))
  await until(() => one.pid() === undefined)
})

it('reports a model that the runtime cannot load', async () => {
  const id = pulledModelOf(models, 'rerank', {}, Buffer.from('UNLOADABLE'))
  const one = llama({ weights: modelPaths(models, id).weights })
  await expect(one.load()).rejects.toMatchObject({ fault: 'unloadable', message: 'unknown model architecture' })
})
