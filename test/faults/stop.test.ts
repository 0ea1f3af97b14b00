import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { BenchDaemon } from '../../bench/lib/daemon.js'
import { attachDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { ingest, Ledger, makeNote, settled, verify } from '../crash/ledger.js'
import { type DaemonProcess, startKsd } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'
import { rounds } from './rig/rounds.js'

/** enough bulks that the ledger has done all its deletions before the index process hangs */
const NOTES = 40
const ROUNDS = rounds(2)
/** rows that one transaction counts: a second or more */
const LONG_ROWS = 10_000_000
/** consecutive checks that found the database locked: no other transaction takes this long */
const HELD_LOOKS = 10

const home = temporaryFolder('stop')
afterAll(() => home.remove())
const started: DaemonProcess[] = []
afterEach(async () => {
  for (const daemon of started.splice(0)) if (daemon.child.exitCode === null) await daemon.end('SIGKILL')
})

async function start(env: Record<string, string> = {}): Promise<{ process: DaemonProcess; daemon: BenchDaemon }> {
  const process = await startKsd(home.path, ['--no-socket'], env)
  started.push(process)
  return { process, daemon: await attachDaemon(home.path) }
}

/** A daemon with published documents, whose index process stops responding while requests wait for it. */
async function hanging(slug: string) {
  const { process, daemon } = await start()
  const space = await daemon.client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
  const ledger = new Ledger(space.id)
  const notes = (part: number) =>
    Array.from({ length: NOTES }, (_, n) => makeNote(`${slug}-${part}-${n}`, part * NOTES + n))
  await ingest(daemon.client, ledger, notes(0))
  await settled(daemon.client, ledger)
  const status = await daemon.client.request('GET /daemon/status', {})
  const index = status.processes?.find(({ role }) => role === 'index')?.pid
  if (index === undefined) throw new Error('no index process runs')
  globalThis.process.kill(index, 'SIGSTOP')
  await ingest(daemon.client, ledger, notes(1))
  return { process, daemon, ledger, index }
}

/** Whether a process exists and has not ended. */
function lives(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe.skipIf(process.platform !== 'linux')('a daemon whose index process hangs', () => {
  test('F12: stops with exit code 0 within its time limit, and the next start publishes what was acknowledged', async () => {
    const { process, ledger, index } = await hanging('ordered')
    expect(await process.end('SIGTERM')).toBe(0)
    await until(() => !lives(index))
    const next = await start()
    const found = await verify(next.daemon.client, ledger)
    globalThis.process.stdout.write(`FIGURE stop: acknowledged ${found.acknowledged}, lost ${found.lost.length}\n`)
    expect(found).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
    expect(await next.process.end('SIGTERM')).toBe(0)
  })

  test(`F12: ends with its processes at a second SIGTERM and loses nothing acknowledged, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { process, ledger, index } = await hanging(`twice-${round}`)
      process.child.kill('SIGTERM')
      // It has handled the first signal once it accepts no more connections.
      await until(() =>
        fetch(`${process.ready.url}/health`).then(
          () => false,
          () => true,
        ),
      )
      expect(await process.end(round % 2 === 0 ? 'SIGTERM' : 'SIGINT')).toBe(round % 2 === 0 ? 143 : 130)
      await until(() => !lives(index))
      const next = await start()
      expect(await verify(next.daemon.client, ledger)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
      expect(await next.process.end('SIGTERM')).toBe(0)
    }
  })
})

test('F12: a daemon that is stopped during a long transaction waits for the end of the transaction and exits with 0', async () => {
  const { process, daemon } = await start()
  const space = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'long', slug: 'long' } })
  const ledger = new Ledger(space.id)
  const db = new Sqlite(join(home.path, 'db', 'main.sqlite'), { timeout: 30_000 })
  db.exec(`CREATE TRIGGER long AFTER INSERT ON nodes BEGIN
    SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ${LONG_ROWS}) SELECT x FROM n);
  END`)
  db.pragma('busy_timeout = 0')
  // The ledger deletes the first document of a bulk.
  await ingest(daemon.client, ledger, [makeNote('long-0', 0), makeNote('long-1', 1)])
  const isHeld = () => {
    try {
      db.exec('BEGIN IMMEDIATE; ROLLBACK')
      return false
    } catch {
      return true
    }
  }
  let held = 0
  await until(() => {
    held = isHeld() ? held + 1 : 0
    return held >= HELD_LOOKS
  }, 60_000)
  expect(await process.end('SIGTERM')).toBe(0)
  db.pragma('busy_timeout = 30000')
  db.exec('DROP TRIGGER long')
  db.close()
  const next = await start()
  expect(await verify(next.daemon.client, ledger)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
  expect(await next.process.end('SIGTERM')).toBe(0)
})
