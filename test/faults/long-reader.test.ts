import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { until } from '../helpers/until.js'

const MEGABYTE = 1024 * 1024
/** maximal size of an idle log: `journal_size_limit` */
const KEPT_BYTES = 64 * MEGABYTE
const PARALLEL = 4
const STEP_MS = 60_000

const home = temporaryFolder('long-reader')
const dataDir = join(home.path, 'data')
const database = join(dataDir, 'db', 'main.sqlite')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

const logBytes = () => statSync(`${database}-wal`).size
const told = () => readFileSync(join(dataDir, 'logs', 'daemon.log'), 'utf8').includes('the write-ahead log cannot be')

test('F57: the database log grows while a long reader blocks it, this is logged, and it shrinks when the reader ends', {
  timeout: 120_000,
}, async () => {
  daemon = await startDaemon(dataDir)
  const { client } = daemon
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Long', slug: 'long' } })
  const path = { id }
  const write = (name: string) =>
    client.request('PUT /knowledge-spaces/{id}/fs/write', {
      path,
      body: { path: `/workspaces/notes/${name}.md`, content: name },
    })
  const reader = new Sqlite(database, { readonly: true, fileMustExist: true })
  const count = () => reader.prepare('SELECT count(*) FROM workspace_files').pluck().get()
  let writes = 0
  let peak = 0
  try {
    reader.exec('BEGIN')
    expect(count()).toBe(0)
    // Grows above the idle limit and then stops: only the end of the reader can shrink it.
    const writer = async () => {
      while (logBytes() < KEPT_BYTES + 4 * MEGABYTE) await write(`${writes++}`)
    }
    await Promise.all(Array.from({ length: PARALLEL }, writer))
    await until(told, STEP_MS)
    expect(count()).toBe(0)
    peak = logBytes()
  } finally {
    reader.close()
  }
  expect(peak).toBeGreaterThan(KEPT_BYTES)
  await until(() => logBytes() <= KEPT_BYTES, STEP_MS)
  // Without a reader it remains short.
  for (let n = 0; n < 20; n++) await write(`after-${n}`)
  const left = logBytes()
  expect(left).toBeLessThanOrEqual(KEPT_BYTES)
  const all = new Sqlite(database, { readonly: true, fileMustExist: true })
  expect(all.prepare('SELECT count(*) FROM workspace_files').pluck().get()).toBe(writes + 20)
  all.close()
  expect(await client.request('GET /health', {})).toMatchObject({ ok: true })
  const figure = { writes, failed: 0, peakMb: Math.round(peak / MEGABYTE), leftMb: Math.round(left / MEGABYTE) }
  process.stdout.write(`FIGURE wal-growth-long-reader ${JSON.stringify(figure)}\n`)
})
