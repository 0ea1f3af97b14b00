import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KnowledgeSpaceStatus } from '../../src/contract/gateway/space-status.js'
import { type CliHome, cliHome, isAlive } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'

let home: CliHome
let fake: FakeOpenAi

beforeAll(async () => {
  fake = await startFakeOpenAi({ dimension: 16 })
  home = cliHome()
  home.env.KS_DAEMON_PROVIDERS = JSON.stringify([
    { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url, timeoutMs: 3000 },
  ])
  home.file('notes/lighthouse.md', '# Lighthouse\n\nThe lighthouse was built in 1908.\n')
  home.file('notes/retention.md', '# Retention\n\nTraces are kept for 90 days.\n')
})
afterAll(async () => {
  await home.end()
  await fake.close()
})

const status = async (): Promise<KnowledgeSpaceStatus> => {
  const run = await home.ks(['spaces', 'status', 'notes', '--json'])
  expect(run.stderr).toBe('')
  return JSON.parse(run.stdout)
}
const daemonPid = (): number => JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8')).pid

describe('F44: an embedding provider that answers 429 during an ingest', () => {
  it('fails no file; status and doctor report missing vectors, which are added after a kill -9 once the provider works', async () => {
    fake.always({ kind: 'status', status: 429 })
    const made = await home.ks(['spaces', 'create', 'notes', '--embedding', 'openai-compatible/local/embedder'])
    expect(made.code).toBe(0)
    const first = await home.ks(['ingest', 'notes', '-s', 'notes', '--wait', '--format', 'table'])
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('2 files: 2 published')])
    const again = await home.ks(['ingest', 'notes', '-s', 'notes', '--wait', '--format', 'table'])
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('2 files: 2 unchanged')])
    const asked = await home.ks(['query', 'When was the lighthouse built?', '-s', 'notes', '-q'])
    expect(asked.stdout).toContain('1908')
    expect((await status()).index.missingVectors).toMatchObject({ passages: 2, documents: { count: 2 } })
    const shown = await home.ks(['spaces', 'status', 'notes', '--format', 'table'])
    expect(shown.stdout).toMatch(/^vectors {6}2 passages in 2 documents without a vector/m)
    const doctor = await home.ks(['doctor', '--json'])
    const finding = JSON.parse(doctor.stdout).find(({ check }: { check: string }) => check === 'vectors of notes')
    expect(finding).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('is limiting the rate of calls (429)'),
      fix: 'no action needed: they are computed automatically',
    })

    const pid = daemonPid()
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => isAlive(pid)).toBe(false)
    expect((await status()).index.missingVectors).toMatchObject({ passages: 2 })
    fake.always()
    await expect
      .poll(async () => (await status()).index.summaries.denseVector, { interval: 500 })
      .toMatchObject({ total: 2, ready: 2 })
    const well = JSON.parse((await home.ks(['doctor', '--json'])).stdout)
    expect(well.find(({ check }: { check: string }) => check === 'vectors of notes')).toBeUndefined()
  }, 120_000)
})

describe('ks at a terminal', () => {
  it('lists jobs with ids that `ks jobs retry` accepts; `--failed` retries all failed jobs', async () => {
    expect((await home.ks(['spaces', 'create', 'jobs'])).code).toBe(0)
    home.file('two/empty.md', ' \n')
    home.file('two/full.md', '# Full\n\nSome text.\n')
    await home.ks(['ingest', 'two', '-s', 'jobs', '--wait'])
    const table = await home.ks(['jobs', 'jobs', '--format', 'table'])
    expect(table.stdout).toMatch(/^ID +STAGE +FILE +DOCUMENT +ERROR +CHANGED$/m)
    expect(table.stderr).toContain('hint: `ks jobs retry ID` retries one job, `--failed` all failed ones')
    const tail = /^(#[0-9a-f]{8}) +failed +two\/empty\.md /m.exec(table.stdout)?.[1] ?? ''
    const one = await home.ks(['jobs', 'retry', tail, '--json'])
    expect([one.code, JSON.parse(one.stdout)]).toEqual([0, [expect.objectContaining({ stage: 'queued' })]])
    expect((await home.ks(['jobs', 'show', '--wait', JSON.parse(one.stdout)[0].id])).code).toBe(1)
    const all = await home.ks(['jobs', 'retry', '--failed', '-s', 'jobs', '--json'])
    expect([all.code, JSON.parse(all.stdout)]).toEqual([0, [expect.objectContaining({ stage: 'queued' })]])
    expect((await home.ks(['jobs', 'retry', '-s', 'jobs'])).code).toBe(2)
  })

  it('ends set-profile with exit 9 and the reason for an unknown model', async () => {
    const args = ['spaces', 'update', 'jobs', '--reasoning-model', 'openai-compatible/elsewhere/model']
    const run = await home.ks(args)
    expect([run.code, run.stderr]).toEqual([
      9,
      'ks: this daemon has no chat provider openai-compatible/elsewhere\n' +
        'hint: `ks config providers --daemon` shows the providers, which the daemon loads at its start; `ks models pull` downloads a model of `local/llama`\n',
    ])
  })
})
