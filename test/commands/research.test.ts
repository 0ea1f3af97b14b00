import { once } from 'node:events'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FILES, TWO_PART } from '../engine/answers/research/helpers.js'
import { cliHome, KS } from '../helpers/cli.js'
import { startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'

const home = cliHome()
/** a very slow model, so that a task runs as long as the test needs */
const fake = await startFakeOpenAi({ answer: () => 'word '.repeat(400), deltaMs: 100 })
const provider = { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url }
afterAll(async () => {
  await home.end()
  await fake.close()
})

async function ks(...args: string[]) {
  const { stdout, stderr, code } = await home.ks([...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

beforeAll(async () => {
  for (const [name, text] of Object.entries(FILES)) home.file(`docs/${name}`, text)
  expect((await home.ks(['config', '--daemon', 'providers', JSON.stringify([provider])])).code).toBe(0)
  expect((await home.ks(['spaces', 'create', 'Sea'])).code).toBe(0)
  expect((await home.ks(['spaces', 'create', 'Slow'])).code).toBe(0)
  expect((await home.ks(['config', 'space', 'sea'])).code).toBe(0)
  expect((await home.ks(['ingest', 'docs', '--wait', '-q'])).code).toBe(0)
  expect((await home.ks(['ingest', 'docs', '--wait', '-q', '--space', 'slow'])).code).toBe(0)
  const slow = await home.ks(['spaces', 'update', 'slow', '--reasoning-model', 'openai-compatible/local/writer'])
  expect([slow.code, slow.stderr]).toEqual([0, ''])
})

describe('ks research', () => {
  it('plans, starts and follows a task, and prints its report', async () => {
    const plan = await ks('research', 'start', '--dry-run', TWO_PART, '--top-k', '5', '--budget', '0.5')
    expect(plan).toMatchObject({ budget: { budgetUsd: 0.5 }, retrievalPlan: { topK: 5, resolvedMode: 'fast' } })
    const steps = await home.ks(['research', 'start', '--dry-run', TWO_PART])
    expect(steps.stdout.split('\n')[0]).toMatch(/^plan\t0\t/)
    const followed = await home.ks(['research', 'start', TWO_PART, '--follow'])
    expect(followed.code).toBe(0)
    expect(followed.stdout).toMatch(/^# What makes .*## Sources/s)
    expect(followed.stderr).toContain('retrieving\nevidence 1: ')
    expect(followed.stderr).toContain('2 of 2 questions answered')
  })

  it('lists and shows tasks, and prints events, evidence and report of a task', async () => {
    const { stdout } = await home.ks(['research', 'start', '-', '--mode', 'research', '--json'], { stdin: TWO_PART })
    const { id } = JSON.parse(stdout)
    const events = await ks('research', 'show', '--events', id, '--follow')
    expect(events.at(-1)).toMatchObject({ event: 'research.completed', data: { researchTaskId: id } })
    const later = await ks('research', 'show', '--events', id, '--cursor', events[1].cursor, '--limit', '100')
    expect(later).toEqual(events.slice(2))
    const lines = await home.ks(['research', 'show', '--events', id, '--limit', '2', '--format', 'jsonl'])
    expect(
      lines.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event),
    ).toEqual(['research.stage', 'research.stage'])
    expect(await ks('research', 'show', id)).toMatchObject({ id, stage: 'completed', cost: { totalUsd: 0 } })
    const tasks = await ks('research', '--stage', 'completed', '--all')
    expect(tasks[0]).toMatchObject({ id })
    const partials = await ks('research', 'show', '--evidence', id)
    expect(partials.map((one: { sequence: number }) => one.sequence)).toEqual(
      partials.map((_: unknown, at: number) => at + 1),
    )
    expect((await ks('research', 'show', '--report', id)).evidenceBundleId).toBe(partials.at(-1).evidenceBundle.id)
  })

  it('refuses invalid options with exit 2, and a task above its limits with exit 7', async () => {
    expect((await home.ks(['research', 'start', 'x', '--budget', 'much'])).code).toBe(2)
    expect((await home.ks(['research', 'show', 'nonsense'])).code).toBe(2)
    expect((await home.ks(['research', 'show', '--report', '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'])).code).toBe(5)
    const refused = await home.ks(['research', 'start', TWO_PART, '--max-retrieval-steps', '1', '--json'])
    expect(refused).toMatchObject({ code: 7, stdout: '' })
    expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'research-limits-exceeded', status: 422 })
  })

  it('leaves a followed task running at Ctrl-C; the task can be listed and canceled once, and keeps its results', async () => {
    const child = execa(process.execPath, [KS, 'research', 'start', TWO_PART, '--follow', '--space', 'slow'], {
      env: { ...process.env, ...home.env },
      buffer: false,
      reject: false,
      extendEnv: false,
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const gone = once(child, 'exit')
    await until(() => said.includes('planning'))
    child.kill('SIGINT')
    expect((await gone)[0]).toBe(130)
    expect(said).toMatch(
      /the task #[0-9a-f]{8} continues in the background\nhint: `ks research show [0-9a-f-]+ --wait`/,
    )
    const [task] = await ks('research', '--space', 'slow')
    expect(['planning', 'retrieving', 'analyzing', 'generating']).toContain(task.stage)
    expect(await ks('research', 'cancel', task.id)).toMatchObject({ stage: 'canceled' })
    expect((await home.ks(['research', 'cancel', task.id])).code).toBe(6)
    const followed = await home.ks(['research', 'show', '--events', task.id, '--follow'])
    expect(followed).toMatchObject({ code: 1, stderr: expect.stringContaining('canceled') })
    expect(fake.requests.every(({ isAborted, isClosed }) => isAborted || isClosed)).toBe(true)
  })
})
