import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliHome, cliHome, isAlive } from '../helpers/cli.js'
import { type FakeOpenAi, type Fault, startFakeOpenAi } from '../helpers/fake-openai.js'

let home: CliHome
let fake: FakeOpenAi

beforeAll(async () => {
  fake = await startFakeOpenAi({ dimension: 16 })
  home = cliHome()
  home.env.KS_DAEMON_PROVIDERS = JSON.stringify([
    { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url, timeoutMs: 3000, maxBatch: 2 },
  ])
  for (let number = 1; number <= 12; number++)
    home.file(`notes/${number}.md`, `# Light ${number}\n\nLighthouse number ${number} was built in ${1900 + number}.\n`)
})
afterAll(async () => {
  await home.end()
  await fake.close()
})

const profile = async () =>
  JSON.parse((await home.ks(['spaces', 'show', '--manifest', 'notes', '--json'])).stdout).embeddingProfile
const embeddedBy = async () => {
  const before = fake.requests.length
  await home.ks(['query', 'When was lighthouse number 7 built?', '-s', 'notes', '-q'])
  return fake.requests.slice(before).map(({ body }) => body.model)
}

describe('`ks spaces update --embedding` on a space with documents', () => {
  it('continues after a kill -9 of the daemon, and with `--wait` ends when queries use the new model', async () => {
    const made = await home.ks(['spaces', 'create', 'notes', '--embedding', 'openai-compatible/local/old'])
    expect(made.code).toBe(0)
    expect((await home.ks(['ingest', 'notes', '-s', 'notes', '--wait'])).code).toBe(0)
    fake.script(...Array.from({ length: 4 }, (): Fault => ({ kind: 'ok' })))
    fake.always({ kind: 'hang' })
    const begun = await home.ks(['spaces', 'update', 'notes', '--embedding', 'openai-compatible/local/new', '--json'])
    expect([begun.code, JSON.parse(begun.stdout)]).toEqual([
      0,
      expect.objectContaining({ state: 'filling', total: 12 }),
    ])
    await expect.poll(() => fake.requests.filter(({ body }) => body.model === 'new').length).toBeGreaterThan(4)
    const { pid } = JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8'))
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => isAlive(pid)).toBe(false)
    expect(await profile()).toMatchObject({ model: 'old' })
    const second = await home.ks(['spaces', 'update', 'notes', '--embedding', 'openai-compatible/local/other'])
    expect([second.code, second.stderr]).toEqual([6, expect.stringContaining('has not ended')])
    fake.always()
    await expect.poll(async () => (await profile()).model, { interval: 500 }).toBe('new')
    expect(await embeddedBy()).toContain('new')

    const waited = await home.ks([
      'spaces',
      'update',
      'notes',
      '--embedding',
      'openai-compatible/local/third',
      '--wait',
      '--json',
    ])
    expect([waited.code, JSON.parse(waited.stdout)]).toEqual([
      0,
      expect.objectContaining({ state: 'published', filled: 12, total: 12 }),
    ])
    expect(await embeddedBy()).toContain('third')

    fake.always({ kind: 'hang' })
    const hung = await home.ks(['spaces', 'update', 'notes', '--embedding', 'openai-compatible/local/hung', '--json'])
    const cancel = ['spaces', 'update', 'notes', '--cancel-embedding', JSON.parse(hung.stdout).id, '--json']
    const canceled = await home.ks(cancel)
    expect([canceled.code, JSON.parse(canceled.stdout)]).toEqual([0, expect.objectContaining({ state: 'canceled' })])
    expect((await home.ks(cancel)).code).toBe(6)
    expect(await profile()).toMatchObject({ model: 'third' })

    fake.always({ kind: 'status', status: 401 })
    const failed = await home.ks([
      'spaces',
      'update',
      'notes',
      '--embedding',
      'openai-compatible/local/fourth',
      '--wait',
    ])
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('keeps its embedding model')])
    fake.always()
    expect(await profile()).toMatchObject({ model: 'third' })
  }, 120_000)
})
