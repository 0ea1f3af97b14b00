import { once } from 'node:events'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { exportBundle } from '../helpers/bundles.js'
import { ADA, ingest, startEngine } from '../helpers/engine.js'
import { until } from '../helpers/until.js'

const DOCUMENTS = 300

const home = temporaryFolder('bundle')
let daemon: BenchDaemon | undefined
afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

async function bundleOfMany(): Promise<{ space: string; bundle: Buffer }> {
  const test = await startEngine()
  try {
    const { id: space } = await test.engine.spaces.create(ADA, { name: 'Many', slug: 'many' })
    const notes = Array.from({ length: DOCUMENTS }, (_, n) => [
      `${n}.md`,
      `# Pier ${n}\n\nPier ${n} has ${n + 3} ladders.\n`,
    ])
    await ingest(test.engine, ADA, space, Object.fromEntries(notes))
    return { space, bundle: await exportBundle(test.engine, ADA, [space]) }
  } finally {
    await test.end()
  }
}

/** Sends half of a bundle at once, and the rest when `goOn` resolves. */
async function* inHalves(bundle: Buffer, goOn: Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield bundle.subarray(0, bundle.length / 2)
  await goOn
  yield bundle.subarray(bundle.length / 2)
}

function send({ client }: BenchDaemon, content: AsyncIterable<Uint8Array>) {
  const files = [{ filename: 'bundle.tar', content: { stream: content } }]
  return client.upload('POST /knowledge-spaces/bundle', { query: {}, field: 'file', files })
}

/** Rows of spaces and documents in the database file. */
function rowsIn(dataDir: string): { spaces: number; documents: number; nodes: number; objects: number } {
  const sqlite = new Sqlite(resolveDataLayout(dataDir).database, { readonly: true })
  try {
    const count = (table: string) => Number(sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
    return { spaces: count('spaces'), documents: count('documents'), nodes: count('nodes'), objects: count('objects') }
  } finally {
    sqlite.close()
  }
}

test('a daemon that is killed during a bundle import shows no part of the bundle, and removes its stored rows', async () => {
  const { space, bundle } = await bundleOfMany()
  daemon = await startDaemon(home.path)
  const killed = new AbortController()
  const rest = once(killed.signal, 'abort')
  const sent = send(daemon, inHalves(bundle, rest)).catch((error: unknown) => error)
  await until(() => rowsIn(home.path).documents >= DOCUMENTS / 4, 60_000)
  expect((await daemon.client.request('GET /knowledge-spaces', { query: {} })).items).toEqual([])
  await daemon.kill()
  killed.abort()
  await sent
  expect(rowsIn(home.path).nodes).toBeGreaterThan(0)

  daemon = await startDaemon(home.path)
  expect((await daemon.client.request('GET /knowledge-spaces', { query: {} })).items).toEqual([])
  await until(() => rowsIn(home.path).spaces === 0, 60_000)
  expect(rowsIn(home.path)).toEqual({ spaces: 0, documents: 0, nodes: 0, objects: 0 })

  // No leftovers prevent a new import.
  const told = await send(daemon, inHalves(bundle, Promise.resolve()))
  expect(told.spaces).toMatchObject([{ id: space, documents: DOCUMENTS }])
}, 240_000)
