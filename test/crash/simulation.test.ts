import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../bench/lib/daemon.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { Register } from '../simulation/history.js'
import { simulate } from '../simulation/run.js'
import { FAULTS, type FaultKind } from '../simulation/schedule.js'
import type { World } from '../simulation/world.js'
import { crashSeed } from './random.js'

const OPERATIONS = 60
/** Seeds of short runs: one with a kill, one that also loses its indexes, and in long runs a new one. */
const FIXED = [1, 45]
const SEEDS = process.env['KS_CRASH_ROUNDS'] === undefined ? FIXED : [...FIXED, crashSeed()]

const homes: ReturnType<typeof temporaryFolder>[] = []

afterAll(() => {
  for (const home of homes) home.remove()
})

function run(
  seed: number,
  operations: number,
  faults: readonly FaultKind[],
  tamper?: (world: World, dataDir: string) => Promise<void>,
) {
  const home = temporaryFolder('simulation')
  homes.push(home)
  const dataDir = join(home.path, 'data')
  return simulate({
    seed,
    operations,
    dataDir,
    faults,
    ...(tamper === undefined ? {} : { tamper: (world) => tamperSoon(world, dataDir, tamper) }),
  })
}

/** Waiting does not repair what the test damages. */
async function tamperSoon(world: World, dataDir: string, tamper: (world: World, dataDir: string) => Promise<void>) {
  world.stuckMs = 1000
  await tamper(world, dataDir)
}

test('F63: after random operations of several clients with random faults, exactly what was acknowledged is stored', {
  timeout: SEEDS.length * 300_000,
}, async () => {
  process.stdout.write(`simulation seeds ${SEEDS.join(', ')} (KS_CRASH_SEED repeats a third one)\n`)
  let answered = 0
  let faults = 0
  for (const seed of SEEDS) {
    const result = await run(seed, OPERATIONS, FAULTS)
    expect(result.divergences, `seed ${seed} with ${OPERATIONS} operations`).toEqual([])
    answered += [...result.answered.values()].reduce((sum, one) => sum + one, 0)
    faults += result.faults
  }
  const figure = { seeds: SEEDS, operations: OPERATIONS, answered, faults, divergences: 0 }
  process.stdout.write(`FIGURE seeded-simulation ${JSON.stringify(figure)}\n`)
})

test('the simulation reports a document that it expects but that was never sent', {
  timeout: 300_000,
}, async () => {
  const { divergences } = await run(3, 25, [], async (world) => {
    const [space] = world.tenants[0]!.spaces
    const bytes = Buffer.from('never sent')
    const life = new Register(false)
    life.done(life.begin(true, world.moments.next()), world.moments.next())
    const lives = new Map([['018f0000-0000-7000-8000-000000000000', life]])
    space!.documents.set('never.md', {
      filename: 'never.md',
      word: 'never',
      bytes,
      sha256: '0'.repeat(64),
      lives,
      sentAt: 1,
      unanswered: 0,
    })
  })
  expect(divergences[0]).toMatchObject({ operation: '25 end', found: 'it is not' })
  expect(divergences[0]!.expected).toContain('never.md')
})

test('the simulation reports a document whose row was removed in the database', {
  timeout: 300_000,
}, async () => {
  let removed = ''
  const { divergences } = await run(3, 25, [], async (_world, dataDir) => {
    const sqlite = new Sqlite(resolveDataLayout(dataDir).database, { timeout: 30_000 })
    const row = sqlite.prepare('SELECT key, filename FROM documents WHERE deleted_at IS NULL ORDER BY key').get()
    const { key, filename } = row as { key: number; filename: string }
    sqlite.prepare('UPDATE documents SET deleted_at = 1 WHERE key = ?').run(key)
    sqlite.close()
    removed = filename
  })
  expect(removed).not.toBe('')
  expect(divergences.map(({ expected }) => expected).join('\n')).toContain(removed)
})

test('the simulation reports a chat answer that was changed in the database', { timeout: 300_000 }, async () => {
  let query = ''
  const { divergences } = await run(2, 60, [], async (_world, dataDir) => {
    const sqlite = new Sqlite(resolveDataLayout(dataDir).database, { timeout: 30_000 })
    const row = sqlite.prepare("SELECT id, query FROM chat_messages WHERE answer <> '' ORDER BY id").get()
    query = (row as { query: string }).query
    sqlite.prepare("UPDATE chat_messages SET answer = 'never said' WHERE id = ?").run((row as { id: string }).id)
    sqlite.close()
  })
  expect(query).not.toBe('')
  expect(divergences).toContainEqual(expect.objectContaining({ operation: '60 end', found: 'never said' }))
})

test('the simulation reports a workspace file whose content differs from the last write', {
  timeout: 300_000,
}, async () => {
  let path = ''
  const { divergences } = await run(4, 40, [], async (world) => {
    const written = world.tenants
      .flatMap(({ spaces }) => spaces)
      .flatMap(({ files }) => [...files])
      .find(([, file]) => file.possible({ from: 1e9, to: 1e9 }).some((content) => content !== undefined))
    path = written![0]
    written![1].settle('something else', { from: world.moments.next(), to: world.moments.next() })
  })
  expect(divergences.map(({ expected }) => expected).join('\n')).toContain(path)
})
