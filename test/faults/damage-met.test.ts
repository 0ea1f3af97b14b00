import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, isAlive, runKs, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace, waitUntilIdle } from '../../bench/lib/upload.js'
import { spawnKsd } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'

const home = temporaryFolder('damage-met')
const dataDir = join(home.path, 'data')
const database = join(dataDir, 'db', 'main.sqlite')
const DAMAGED = { status: 500, code: 'data-damaged', message: expect.stringContaining('`ks restore`') }
const EXIT_DATA = 65
const STEP_MS = 60_000
let daemon: BenchDaemon
let spaceId: string

beforeAll(async () => {
  daemon = await startDaemon(dataDir)
  const files = Array.from({ length: 5 }, (_, place) => ({
    filename: `n${place}.md`,
    text: `# Note ${place}\n\nWords.\n`,
  }))
  spaceId = (await fillSpace(daemon.client, 'met', files)).spaceId
  await waitUntilIdle(daemon.client)
}, 120_000)
afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

/** Overwrites all pages of tables under the running daemon, and empties its cache. */
async function damage(...tables: string[]): Promise<void> {
  const db = new Sqlite(database)
  try {
    // Moves all data into the file, so that the log hides nothing.
    await until(() => (db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]?.busy === 0, STEP_MS)
    const size = Number(db.pragma('page_size', { simple: true }))
    const pages = db.prepare('SELECT pageno FROM dbstat WHERE name LIKE ? OR name LIKE ?').pluck()
    const file = openSync(database, 'r+')
    for (const table of tables)
      for (const page of pages.all(table, `sqlite_autoindex_${table}%`))
        writeSync(file, Buffer.alloc(size, 0xff), 0, size, (Number(page) - 1) * size)
    // A commit of another process invalidates the cache of the daemon.
    db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true }))}`)
    closeSync(file)
  } finally {
    db.close()
  }
}

const answerOf = (work: Promise<unknown>) =>
  work.then(
    (value) => value,
    ({ status, code, message }: { status?: number; code?: string; message?: string }) => ({ status, code, message }),
  )

test('F26: a running daemon reports damaged tables by code, refuses writes, and serves the rest', {
  timeout: 180_000,
}, async () => {
  const { client, pid } = daemon
  const path = { id: spaceId }
  const list = () => answerOf(client.request('GET /knowledge-spaces/{id}/documents', { path, query: {} }))
  const body = { path: '/workspaces/notes/a.md', content: 'a note' }
  const write = () => answerOf(client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body }))
  expect(await write()).not.toHaveProperty('code')

  await damage('documents', 'chat%', 'jobs', 'research_tasks')
  expect(await list()).toEqual(DAMAGED)
  expect(await write()).toEqual(DAMAGED)
  expect(await answerOf(client.request('POST /knowledge-spaces', { body: { name: 'New', slug: 'new' } }))).toEqual(
    DAMAGED,
  )
  const spaces = await client.request('GET /knowledge-spaces', { query: {} })
  expect(spaces.items.map(({ id }) => id)).toEqual([spaceId])
  const fsck = client.request('GET /knowledge-spaces/{id}/fsck', { path, query: { check: 'artifact-segments' } })
  expect(await answerOf(fsck)).toEqual(DAMAGED)

  const chat = await fetch(`${daemon.url}/v1/parameters`, {
    headers: { authorization: 'Bearer app-abcdefghijklmnopqrstuvwx' },
  })
  expect(await chat.json()).toMatchObject({ code: 'internal_server_error', message: DAMAGED.message })

  const health = await client.request('GET /health', {})
  expect(health).toMatchObject({ ok: false, components: { database: false, storage: false } })
  for (const command of [['daemon', 'status'], ['doctor']]) {
    const { stdout } = await runKs(dataDir, command)
    expect(stdout.replace(/\s+/g, ' '), command.join(' ')).toContain('the database is damaged')
  }
  // Background work met the damage, too, and is paused.
  const told = () => readFileSync(join(dataDir, 'logs', 'daemon.log'), 'utf8').split('\n').length
  const before = told()
  for (let round = 0; round < 50; round++) expect(await list()).toEqual(DAMAGED)
  expect(told() - before, 'lines of the log for 50 refused requests').toBeLessThan(200)
  expect(isAlive(pid)).toBe(true)
  await daemon.kill()

  const { exit, stderr } = spawnKsd(dataDir, ['--listen', '127.0.0.1:0'])
  expect(await exit, stderr()).toBe(EXIT_DATA)
  expect(stderr().trim().split('\n')).toEqual([expect.stringContaining(`${database} is damaged`)])
})
