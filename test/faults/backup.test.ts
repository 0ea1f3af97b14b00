import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, KS, privateEnv, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { checkStore } from '../../src/engine/store/store-identity.js'
import { isManifest } from '../../src/local/backup/files.js'
import { restoreBackup } from '../../src/local/backup/restore.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { BULK, ingest, Ledger, makeNote, settled, verify } from '../crash/ledger.js'
import { seededRandom } from '../crash/random.js'
import { spawnKsd } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'
import { integrityOf, issuesOf } from './rig/checks.js'
import { faultSeed, rounds } from './rig/rounds.js'
import { type FaultShim, faultShim, shimTrouble } from './rig/shim.js'
import { spread, steps } from './rig/sweep.js'

const WRITERS = 20
/** uploads of each writer before the copy of the database, and after it */
const TURNS = 3
const STEP_MS = 60_000
const EXIT = { unavailable: 8, dataDamaged: 65 }

const seed = faultSeed()
const random = seededRandom(seed)
const home = temporaryFolder('backup')
const dataDir = join(home.path, 'data')
const backups = join(home.path, 'backups')
const restored = join(home.path, 'restored')
let shim: FaultShim
let daemon: BenchDaemon
let ledger: Ledger

beforeAll(async () => {
  if (shimTrouble !== undefined) return
  shim = faultShim(home.path)
  daemon = await startDaemon(dataDir)
  const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Kept', slug: 'kept' } })
  ledger = new Ledger(id)
}, 120_000)
afterAll(async () => {
  await daemon?.kill()
  shim?.remove()
  home.remove()
})

/** Runs `ks` under the shim. */
function ks(...args: string[]) {
  const child = execa(process.execPath, [KS, ...args], {
    env: privateEnv(dataDir, shim.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    buffer: false,
    reject: false,
    extendEnv: false,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }))
  return { pid: child.pid ?? 0, ended }
}

const snapshotsIn = () => readdirSync(join(backups, 'snapshots')).filter((name) => !name.endsWith('.partial'))
const leftIn = (folder: string) =>
  readdirSync(folder, { recursive: true }).filter((name) => /\.(partial|tmp)$/.test(String(name)))

/** Checks the files of a restore that reported success. */
function expectWhole(objects: number): void {
  const layout = resolveDataLayout(restored)
  expect(checkStore(layout)).toEqual({ log: 'usable' })
  expect(integrityOf(layout.database)).toBe('ok')
  expect(leftIn(restored)).toEqual([])
  const held = readdirSync(layout.objects, { recursive: true }).filter((name) => /[0-9a-f]{64}$/.test(String(name)))
  expect(held).toHaveLength(objects)
}

test.skipIf(shimTrouble !== undefined)(
  'F62: a backup during the uploads of twenty writers restores all earlier acknowledgements and passes all checks',
  { timeout: 300_000 },
  async () => {
    let next = 0
    const notes = (count: number) => Array.from({ length: count }, () => makeNote(`n${next}`, next++))
    await ingest(daemon.client, ledger, notes(3 * BULK))
    let letGo = () => {}
    const copied = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const writer = async () => {
      for (let turn = 0; turn < TURNS; turn++) await ingest(daemon.client, ledger, notes(1))
      await copied
      for (let turn = 0; turn < TURNS; turn++) await ingest(daemon.client, ledger, notes(1))
    }
    const writers = Promise.all(Array.from({ length: WRITERS }, writer))
    await until(() => ledger.acknowledged.size >= 3 * BULK + WRITERS, STEP_MS)
    const before = new Ledger(ledger.spaceId)
    for (const [id, note] of ledger.acknowledged) before.acknowledged.set(id, note)
    for (const id of ledger.deleted) before.deleted.add(id)

    // The backup pauses at its first object, after its copy of the database, while documents are written and deleted.
    shim.setRules({ on: 'open', effect: 'stop', path: '/backups/objects/', count: 1 })
    const backup = ks('backup', backups, '--json')
    await until(() => shim.hits().length > 0, STEP_MS)
    letGo()
    const answered = ledger.acknowledged.size
    await until(() => ledger.acknowledged.size > answered, STEP_MS)
    const path = { id: ledger.spaceId }
    const [victim = ''] = [...before.acknowledged.keys()].filter((id) => !ledger.deleting.has(id))
    ledger.deleting.add(victim)
    await daemon.client.request('DELETE /knowledge-spaces/{id}/documents/bulk', {
      path,
      body: { documentIds: [victim] },
    })
    shim.setRules()
    process.kill(backup.pid, 'SIGCONT')
    const { code, output } = await backup.ended
    expect(code, output).toBe(0)
    expect(JSON.parse(output).missing).toEqual([])
    await writers
    for (const name of ledger.sent) before.sent.add(name)
    // Documents whose deletion was in progress may be in the backup or not.
    for (const id of ledger.deleting) if (id !== victim) before.deleting.add(id)

    await restoreBackup({ backupFolder: backups, dataDir: restored, onProgress: () => {} })
    const elsewhere = await startDaemon(restored)
    try {
      expect(await verify(elsewhere.client, before)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
      expect(await issuesOf(elsewhere.client, before.spaceId)).toEqual([])
    } finally {
      await elsewhere.kill()
    }
    rmSync(restored, { recursive: true })
    await settled(daemon.client, ledger)
    process.stdout.write(
      `FIGURE backup-under-load ${JSON.stringify({ writers: WRITERS, acknowledged: before.acknowledged.size, writtenMeanwhile: ledger.acknowledged.size - answered, lost: 0, issues: 0 })}\n`,
    )
  },
)

const BACKUP_KILLS = rounds(4)
test.skipIf(shimTrouble !== undefined)(
  'a backup that is killed at any step leaves no snapshot; earlier snapshots, the daemon and the next backup work',
  { timeout: 120_000 + BACKUP_KILLS * STEP_MS },
  async () => {
    shim.setRules({ on: 'change', effect: 'note', path: '/backups/' })
    expect((await ks('backup', backups).ended).code).toBe(0)
    await ingest(daemon.client, ledger, [makeNote('noted', 4999)])
    const noted = shim.hits().length
    expect((await ks('backup', backups).ended).code).toBe(0)
    const places = spread(steps(shim.hits().slice(noted)), BACKUP_KILLS, random)
    const earlier = snapshotsIn()
    for (const [round, skip] of places.entries()) {
      await ingest(daemon.client, ledger, [makeNote(`b${round}`, 5000 + round)])
      shim.setRules({ on: 'change', effect: 'kill', skip, count: 1, path: '/backups/' })
      expect((await ks('backup', backups).ended).signal, `seed ${seed}, step ${skip}`).toBe('SIGKILL')
      expect((await daemon.client.request('GET /health', {})).ok).toBe(true)
      for (const name of snapshotsIn())
        expect(isManifest(JSON.parse(readFileSync(join(backups, 'snapshots', name, 'manifest.json'), 'utf8')))).toBe(
          true,
        )
      for (const snapshot of leftIn(join(backups, 'snapshots')).map(String)) {
        const refused = restoreBackup({ backupFolder: backups, snapshot, dataDir: restored, onProgress: () => {} })
        await expect(refused).rejects.toMatchObject({ code: 'not-found' })
        expect(existsSync(restored)).toBe(false)
      }
      for (const snapshot of earlier) {
        const { manifest } = await restoreBackup({
          backupFolder: backups,
          snapshot,
          dataDir: restored,
          onProgress: () => {},
        })
        expectWhole(manifest.objects.length)
        rmSync(restored, { recursive: true })
      }
    }
    const left = leftIn(backups)
    expect(left.length).toBeGreaterThan(0)
    // Files that are older than any pause of a backup belong to a killed one.
    for (const name of left) utimesSync(join(backups, String(name)), 1, 1)
    shim.setRules()
    const last = await ks('backup', backups, '--json').ended
    expect(last.code, last.output).toBe(0)
    expect(JSON.parse(last.output).missing).toEqual([])
    expect(leftIn(backups)).toEqual([])
    expect(existsSync(resolveDataLayout(dataDir).pin)).toBe(false)
  },
)

const RESTORE_KILLS = rounds(4)
test.skipIf(shimTrouble !== undefined)(
  'a restore that is killed at any step leaves a directory that no daemon opens, and a second restore completes it',
  { timeout: 120_000 + RESTORE_KILLS * STEP_MS },
  async () => {
    shim.setRules({ on: 'change', effect: 'note', path: '/restored/' })
    const noted = shim.hits().length
    const whole = await ks('restore', backups, '--into', restored, '--json').ended
    expect(whole.code, whole.output).toBe(0)
    const { objects } = JSON.parse(whole.output)
    const places = spread(steps(shim.hits().slice(noted)), RESTORE_KILLS, random)
    rmSync(restored, { recursive: true })
    let told = 0
    for (const skip of places) {
      shim.setRules({ on: 'change', effect: 'kill', skip, count: 1, path: '/restored/' })
      const where = `seed ${seed}, step ${skip}`
      expect((await ks('restore', backups, '--into', restored).ended).signal, where).toBe('SIGKILL')
      const layout = resolveDataLayout(restored)
      if (existsSync(layout.restoring)) {
        const { exit, stderr } = spawnKsd(restored, ['--listen', '127.0.0.1:0'])
        expect(await exit, where).toBe(EXIT.dataDamaged)
        expect(stderr().trim().split('\n'), where).toEqual([expect.stringContaining('`ks restore`')])
        told++
      } else if (existsSync(layout.database)) expectWhole(objects)
      else expect(readdirSync(restored), where).toEqual([])
      if (!existsSync(layout.database) || existsSync(layout.restoring))
        await restoreBackup({ backupFolder: backups, dataDir: restored, onProgress: () => {} })
      rmSync(layout.lock, { force: true })
      expectWhole(objects)
      rmSync(restored, { recursive: true })
    }
    expect(told).toBeGreaterThan(0)
    process.stdout.write(
      `FIGURE kill-backup-restore ${JSON.stringify({ seed, kills: BACKUP_KILLS + places.length, snapshotsHarmed: 0, halfRestoredOpened: 0 })}\n`,
    )
  },
)

test.skipIf(shimTrouble !== undefined)(
  'a backup or restore into a directory that another process is using is refused with the name of that process',
  { timeout: 180_000 },
  async () => {
    const held = async (path: string, command: string[], others: string[][]) => {
      shim.setRules({ on: 'open', effect: 'stop', path, count: 1 })
      const before = shim.hits().length
      const first = ks(...command)
      await until(() => shim.hits().length > before, STEP_MS)
      shim.setRules()
      for (const other of others) {
        const refused = await ks(...other).ended
        expect(refused.code, refused.output).toBe(EXIT.unavailable)
        expect(refused.output).toContain(`process ${first.pid} is`)
      }
      process.kill(first.pid, 'SIGCONT')
      const { code, output } = await first.ended
      expect(code, output).toBe(0)
    }
    await ingest(daemon.client, ledger, [makeNote('held', 6000)])
    await held('/backups/objects/', ['backup', backups], [['backup', join(home.path, 'elsewhere')]])
    const into = ['restore', backups, '--into', restored]
    await held('/restored/objects/', into, [into])
  },
)
