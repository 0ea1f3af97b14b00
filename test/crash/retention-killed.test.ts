import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { openEngine } from '../../src/engine/index.js'
import { type DaemonProcess, startKsd, temporaryDir } from '../helpers/daemon.js'
import { ADA, ask, engineOptions, ingest } from '../helpers/engine.js'
import { until } from '../helpers/until.js'
import { crashSeed, seededRandom } from './random.js'

const OLD = 3000
const YOUNG = 100
const DAY = 24 * 60 * 60 * 1000
const KILLS = 6
/** a run every 30 ms with five rows a transaction: a slice is always in progress */
const SCHEDULE = { KS_DAEMON_RETENTION_INTERVAL_MINUTES: '0.0005', KS_DAEMON_RETENTION_BATCH_ROWS: '5' }

const home = temporaryDir()
const database = join(home.path, 'db', 'main.sqlite')
const seed = crashSeed()
const random = seededRandom(seed)
let daemon: DaemonProcess | undefined

afterAll(async () => {
  if (daemon?.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
  home.remove()
})

/** One answered question with many copies, most of them older than the policy allows. */
async function prepare(): Promise<void> {
  const engine = await openEngine(engineOptions(home.path))
  const spaceId = (await engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
  await ingest(engine, ADA, spaceId, { 'a.md': '# Tides\n\nThe moon pulls the sea.\n' })
  await ask(engine, ADA, spaceId, 'What pulls the sea?')
  await engine.close()
  const db = new Sqlite(database)
  const trace = db.prepare('SELECT * FROM traces').get() as Record<string, unknown>
  const bundle = db.prepare('SELECT * FROM evidence_bundles').get() as Record<string, unknown>
  const insert = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row)
    db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`).run(
      ...Object.values(row),
    )
  }
  db.transaction(() => {
    for (let copy = 0; copy < OLD + YOUNG; copy++) {
      const ids = { trace: randomUUID(), bundle: randomUUID() }
      const created_at = Date.now() - (copy < OLD ? 91 : 89) * DAY
      insert('evidence_bundles', { ...bundle, id: ids.bundle, trace_id: ids.trace, created_at })
      insert('traces', { ...trace, id: ids.trace, bundle_id: ids.bundle, created_at })
    }
  })()
  db.close()
}

interface Found {
  old: number
  young: number
  bundlesAlone: number
  tracesAlone: number
  /** bytes in the counter beyond the real sum */
  miscounted: number
  check: string
}

function look(check = false): Found {
  const db = new Sqlite(database, { readonly: true, fileMustExist: true })
  const one = (sql: string): number => (db.prepare(`SELECT (${sql}) n`).get() as { n: number }).n
  const before = Date.now() - 90 * DAY
  try {
    return {
      old: one(`SELECT count(*) FROM traces WHERE created_at < ${before}`),
      young: one(`SELECT count(*) FROM traces WHERE created_at >= ${before}`),
      bundlesAlone: one('SELECT count(*) FROM evidence_bundles WHERE trace_id NOT IN (SELECT id FROM traces)'),
      tracesAlone: one('SELECT count(*) FROM traces WHERE bundle_id NOT IN (SELECT id FROM evidence_bundles)'),
      miscounted: one(
        `SELECT (SELECT sum(trace_bytes) FROM space_usage)
           - (SELECT sum(octet_length(query) + octet_length(steps)) FROM traces)
           - (SELECT sum(octet_length(body)) FROM evidence_bundles)`,
      ),
      check: check ? (db.pragma('quick_check', { simple: true }) as string) : 'ok',
    }
  } finally {
    db.close()
  }
}

const WHOLE = { young: YOUNG + 1, bundlesAlone: 0, tracesAlone: 0, miscounted: 0, check: 'ok' }

test(`F65: a retention clean-up that is killed ${KILLS} times completes, and removes no recent trace`, {
  timeout: 240_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  await prepare()
  let left = look().old
  expect(left).toBe(OLD)
  let interrupted = 0
  for (let kill = 0; kill < KILLS; kill++) {
    daemon = await startKsd(home.path, ['--no-socket'], SCHEDULE)
    await until(() => look().old < left, 60_000)
    await sleep(random() * 300)
    await daemon.end('SIGKILL')
    const found = look(true)
    expect(found).toMatchObject(WHOLE)
    expect(found.old).toBeLessThan(left)
    if (found.old > 0) interrupted++
    left = found.old
  }
  process.stdout.write(
    `${interrupted} of ${KILLS} kills fell into the clean-up; ${left} of ${OLD} were left after them\n`,
  )
  expect(interrupted).toBeGreaterThan(0)
  daemon = await startKsd(home.path, ['--no-socket'], SCHEDULE)
  await until(() => look().old === 0, 120_000)
  expect(await daemon.end('SIGTERM')).toBe(0)
  expect(look(true)).toMatchObject({ ...WHOLE, old: 0 })
})
