import { afterEach, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace } from '../../bench/lib/upload.js'
import { sql } from '../engine/upkeep/integrity/space.js'
import { until } from '../helpers/until.js'

const FILES = 200
/** far below the minute after which a silent gateway counts as dead */
const AT_ONCE_MS = 30_000

let home: ReturnType<typeof temporaryFolder>
let daemon: BenchDaemon | undefined
afterEach(async () => {
  await daemon?.kill()
  home.remove()
})

const count = (text: string) => sql(home.path, (db) => Number(db.prepare(text).pluck().get()))
const OPEN = 'SELECT count(*) FROM jobs WHERE completed_at IS NULL'

test('a restarted daemon takes over the job claims of the killed daemon long before their heartbeat times out', {
  timeout: 180_000,
}, async () => {
  home = temporaryFolder('claims')
  daemon = await startDaemon(home.path)
  const files = Array.from({ length: FILES }, (_, n) => ({
    ...{ filename: `${n}.md`, text: `# File ${n}\n\nThe boat number ${n} lies in the harbour.\n` },
  }))
  const filling = fillSpace(daemon.client, 'harbour', files).catch(() => undefined)
  await until(() => count(OPEN) > 0)
  await daemon.kill()
  daemon = undefined
  await filling
  const left = sql(home.path, (db) => {
    // Every document, as if it was claimed at the moment of the kill.
    db.prepare('UPDATE jobs SET claimed_by = (SELECT id FROM gateways) WHERE completed_at IS NULL').run()
    db.prepare("UPDATE gateways SET beat_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)").run()
    return Number(db.prepare(`${OPEN} AND claimed_by IS NOT NULL`).pluck().get())
  })
  expect(left).toBeGreaterThan(0)
  daemon = await startDaemon(home.path)
  const started = performance.now()
  await until(() => count(OPEN) === 0, AT_ONCE_MS)
  process.stdout.write(
    `FIGURE claims-killed: ${left} claims of the dead, all published ${Math.round(performance.now() - started)} ms after the restart\n`,
  )
  expect(count("SELECT count(*) FROM jobs WHERE stage <> 'published'")).toBe(0)
  expect(count(`SELECT count(*) FROM jobs WHERE unclean_ends = 1`)).toBe(left)
  expect(count('SELECT count(*) FROM gateways')).toBe(1)
})
