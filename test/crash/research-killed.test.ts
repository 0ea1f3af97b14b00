import { join } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { followTask, type TaskEvent } from '../../src/cli/research/follow.js'
import type { Client } from '../../src/client/client.js'
import { openEngine } from '../../src/engine/index.js'
import { LOCAL_TENANT } from '../../src/local/keys.js'
import { CHEAP_PRICES, FILES, spaceWith } from '../engine/answers/research/helpers.js'
import { engineOptions } from '../helpers/engine.js'
import { startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'
import { crashSeed, seededRandom } from './random.js'

const WAY: readonly string[] = ['queued', 'planning', 'retrieving', 'analyzing', 'generating']
const ROUNDS = Math.max(2, Math.ceil(Number(process.env['KS_CRASH_ROUNDS'] ?? 5) / 3))
/** further rounds are only for stages that no kill has hit yet */
const MOST_ROUNDS = ROUNDS + 8
const PARTS = [
  'What makes the tides?',
  'Who invented the stepped lens of lighthouses?',
  'How high is the lighthouse of Eckmuhl?',
  'What speed did the clipper Cutty Sark reach?',
]

const home = temporaryFolder('crash-research')
const seed = crashSeed()
const random = seededRandom(seed)
/** plans and writes, slowly enough to be interrupted */
const fake = await startFakeOpenAi({
  deltaMs: 4,
  answer: ([first]) =>
    first?.content.startsWith('Break a research')
      ? JSON.stringify(PARTS)
      : 'The moon pulls the sea. Augustin Fresnel did in 1823. It is 60 metres high. It was 17 knots.',
})
const provider = { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url, prices: CHEAP_PRICES }
const ENV = {
  KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
  KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/local/writer',
}
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  await fake.close()
  home.remove()
})

/** A space with documents that answer every part. */
async function prepare(): Promise<string> {
  const engine = await openEngine(engineOptions(home.path))
  const id = await spaceWith(engine, FILES, { tenant: LOCAL_TENANT, subject: 'test' })
  await engine.close()
  lingerInStages()
  return id
}

/**
 * Slows down each change of stage, so that a kill hits every stage on any machine: the transaction counts to two
 * million before it writes.
 */
function lingerInStages(): void {
  const db = new Sqlite(join(home.path, 'db', 'main.sqlite'))
  try {
    db.exec(`CREATE TRIGGER linger BEFORE UPDATE OF stage ON research_tasks WHEN OLD.stage <> NEW.stage BEGIN
      SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT i FROM n);
    END`)
  } finally {
    db.close()
  }
}

/** The database file, read next to the daemon that writes it. */
function look<T>(sql: string, ...values: string[]): T[] {
  const db = new Sqlite(join(home.path, 'db', 'main.sqlite'), { readonly: true, fileMustExist: true })
  try {
    return db.prepare(sql).all(...values) as T[]
  } finally {
    db.close()
  }
}

const stageOf = (id: string) =>
  look<{ stage: string }>('SELECT stage FROM research_tasks WHERE id = ?', id)[0]?.stage ?? ''
const stepsOf = (id: string) =>
  look<{ n: number }>('SELECT count(*) n FROM research_steps WHERE task_id = ?', id)[0]?.n ?? 0

/** Follows a task until the connection breaks or the task ends. */
async function seen(client: Client, id: string, all: TaskEvent[], cursor?: string): Promise<void> {
  const options = { pageSize: 100, untilEnd: false, signal: new AbortController().signal, cursor }
  const reconnect = () => Promise.resolve(client)
  try {
    for await (const event of followTask(client, id, { ...options, reconnect })) all.push(event)
  } catch {
    // The daemon was killed.
  }
}

/** Kills the daemon when a task has made this number of further steps in a stage. @returns the stage of the kill */
async function killIn(stage: string, spaceId: string, events: TaskEvent[]) {
  if (daemon === undefined) throw new Error('no daemon')
  const body = { knowledgeSpaceId: spaceId, query: PARTS.join(' '), budgetUsd: 1 }
  const { id } = await daemon.client.request('POST /research-tasks', { body })
  const following = seen(daemon.client, id, events)
  const more = stage === 'retrieving' || stage === 'generating' ? Math.floor(random() * PARTS.length) : 0
  while (WAY.indexOf(stageOf(id)) < WAY.indexOf(stage) && stageOf(id) !== 'completed') await turn()
  const before = stepsOf(id)
  while (stepsOf(id) < before + more && stageOf(id) === stage) await turn()
  if (stage === 'planning') await sleep(random() * 20)
  await daemon.kill()
  await following
  return { id, died: stageOf(id) }
}

/** Conditions for a finished task, however often it was interrupted. */
async function check(client: Client, id: string, before: TaskEvent[]): Promise<void> {
  await until(
    async () => (await client.request('GET /research-tasks/{id}', { path: { id } })).stage === 'completed',
    60_000,
  )
  const all: TaskEvent[] = []
  await seen(client, id, all)
  expect(all.slice(0, before.length), 'what was told before the kill').toEqual(before)
  const rest: TaskEvent[] = []
  await seen(client, id, rest, before.at(-1)?.id)
  expect([...before, ...rest], 'what comes behind the last event seen').toEqual(all)
  const stages = all.filter(({ event }) => event === 'research.stage').map(({ data }) => data.stage)
  expect(stages).toEqual(WAY)
  expect(all.filter(({ event }) => event === 'research.completed')).toHaveLength(1)
  const task = await client.request('GET /research-tasks/{id}', { path: { id } })
  expect(task.cost.entries.map(({ step }) => step)).toEqual(['plan', ...PARTS.map(() => 'generate')])
  expect(all.filter(({ event }) => event === 'research.cost')).toHaveLength(PARTS.length + 1)
  const { items } = await client.request('GET /research-tasks/{id}/partials', { path: { id }, query: { limit: 100 } })
  expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_, place) => place + 1))
  const looks = look<{ step: string }>("SELECT step FROM research_steps WHERE task_id = ? AND name = 'retrieve'", id)
  expect(items).toHaveLength(looks.length + 1)
  const reports = look<{ body: string }>("SELECT body FROM research_steps WHERE task_id = ? AND step = 'report'", id)
  expect(reports).toHaveLength(1)
  const report = await client.request('GET /research-tasks/{id}/report', { path: { id } })
  expect(report.sections.map(({ question }) => question)).toEqual(PARTS)
  expect(report).toMatchObject({ generator: 'model', evidenceBundleId: items.at(-1)?.evidenceBundle.id })
}

test(`a research task whose daemon is killed ${ROUNDS} times in each stage produces exactly one report`, {
  timeout: MOST_ROUNDS * WAY.length * 60_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  const spaceId = await prepare()
  daemon = await startDaemon(home.path, ENV)
  const died = new Map<string, number>()
  const restarts: number[] = []
  for (let round = 0; round < MOST_ROUNDS; round++)
    for (const stage of WAY) {
      // Some stages last milliseconds: those that were missed are tried again.
      if (round >= ROUNDS && died.has(stage)) continue
      const events: TaskEvent[] = []
      const killed = await killIn(stage, spaceId, events)
      died.set(killed.died, (died.get(killed.died) ?? 0) + 1)
      const started = performance.now()
      daemon = await startDaemon(home.path, ENV)
      await check(daemon.client, killed.id, events)
      restarts.push(performance.now() - started)
    }
  const places = [...died].map(([stage, count]) => `${stage} ${count}`).join(', ')
  process.stdout.write(
    `FIGURE crash-research: kills ${restarts.length} (died in: ${places}), tasks with one report ${restarts.length}, ` +
      `events lost 0, steps doubled 0, restart to report max ${Math.round(Math.max(...restarts))} ms, seed ${seed}\n`,
  )
  expect([...died.keys()]).toEqual(expect.arrayContaining(WAY.slice(1)))
})
