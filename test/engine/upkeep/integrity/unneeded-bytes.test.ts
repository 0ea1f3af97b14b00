import { createHash } from 'node:crypto'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConsistencyIssue } from '../../../../src/contract/gateway/integrity.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { resolveDataLayout } from '../../../../src/local/layout.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { DAY_MS, HOUR_MS, openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

const check = () => small.issues(space, 'raw-objects')
const brief = (issues: ConsistencyIssue[]) => issues.map(({ code, target }) => [code, target.id ?? target.objectKey])

describe('objects in a check of bytes', () => {
  const noRow = (key: string) => small.store.run('DELETE FROM objects WHERE sha256 = ?', key.slice(-64))

  it('without a reference disappear in a repair when they are an hour old', async () => {
    const key = small.object('a', { bytes: 'eleven more' })
    small.object('b', { ageMs: HOUR_MS - 60_000 })
    small.object('c', { tenant: BOB.tenant })
    expect(await check()).toMatchObject([
      {
        ...{ code: 'orphaned-object', type: 'orphaned-staged-object', severity: 'info' },
        message: `object ${key.slice(-8)} of 11 bytes belongs to no document`,
        ...{ repairability: 'auto-repairable', target: { type: 'raw-object', objectKey: key } },
      },
    ])
    expect(await small.issues(small.store.createSpace(), 'raw-objects')).toEqual([])
    expect(await small.repair(space, 'raw-objects', { dryRun: true })).toMatchObject([
      { status: 'would-repair', action: 'remove the object' },
    ])
    expect(small.isThere(key)).toBe(true)
    expect(await small.repair(space, 'raw-objects')).toMatchObject([{ status: 'repaired' }])
    expect(small.isThere(key)).toBe(false)
  })

  it('that the database may not know are reported, not removed, if they are older than this start', async () => {
    const old = small.object('a')
    const young = small.object('b', { ageMs: -60_000 })
    const earlier = small.object('c', { ageMs: 60_000 })
    writeFileSync(resolveDataLayout(small.store.dataDir).keepUnknown, 'it is from a backup')
    const issues = await check()
    expect(issues.map(({ target }) => target.objectKey)).toEqual([old, earlier])
    expect(issues.map(({ target }) => target.objectKey)).not.toContain(young)
    for (const issue of issues)
      expect(issue).toMatchObject({ code: 'unknown-object', severity: 'warning', repairability: 'not-repairable' })
  })

  it('that a document needs get a new row in a repair when the row is missing', async () => {
    await small.publish(space, { 'a.md': 'one', 'b.md': 'two' })
    const before = small.store.rows('SELECT tenant, sha256, state FROM objects ORDER BY sha256')
    const [{ object_key: key = '' } = {}] = small.store.rows<{ object_key: string }>('SELECT * FROM documents')
    noRow(key)
    expect(await check()).toMatchObject([
      {
        ...{ code: 'object-without-row', severity: 'warning', repairability: 'auto-repairable' },
        target: { type: 'raw-object', objectKey: key },
      },
    ])
    expect(await small.repair(space, 'raw-objects')).toMatchObject([
      { status: 'repaired', action: 'write the row of the object' },
    ])
    expect(small.store.rows('SELECT tenant, sha256, state FROM objects ORDER BY sha256')).toEqual(before)
    expect(await check()).toEqual([])
  })

  it('without bytes lose their unreferenced row after an hour', async () => {
    const row = (digit: string, columns: { state?: string; age?: number; tenant?: string } = {}) => {
      const { state = 'live', age = 2 * HOUR_MS, tenant = ADA.tenant } = columns
      small.store.run(
        "INSERT INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, ?, ?, 'a life', ?)",
        ...[tenant, `cd${digit.repeat(62)}`, state, small.clock.now - age],
      )
      return ObjectStore.key(tenant, `cd${digit.repeat(62)}`)
    }
    const empty = row('1')
    // Damage of a row is reported together with other row damage.
    small.store.run(
      "INSERT INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, 'odd', 'live', 'a life', 1)",
      ADA.tenant,
    )
    row('2', { age: HOUR_MS - 60_000 })
    row('3', { state: 'deleting' })
    row('4', { tenant: BOB.tenant })
    const full = small.object('5', { ageMs: 60_000 })
    row('5')
    const named = row('6')
    small.commit(space, uuid(1), { status: 'object-staged', published_object_key: named })
    expect(brief(await check())).toEqual([['object-without-bytes', empty]])
    expect(await small.issues(small.store.createSpace(), 'raw-objects')).toEqual([])
    expect(await small.repair(space, 'raw-objects')).toMatchObject([
      { status: 'repaired', action: 'remove the object' },
    ])
    expect(small.store.rows('SELECT sha256 FROM objects WHERE sha256 = ?', empty.slice(-64))).toEqual([])
    expect(await check()).toEqual([])
    expect(small.isThere(full)).toBe(true)
  })

  it('get checked completely, even if there are hundreds of files', async () => {
    for (let place = 100; place < 310; place++) {
      const sha256 = createHash('sha256').update(String(place)).digest('hex')
      const key = ObjectStore.key(ADA.tenant, sha256)
      mkdirSync(dirname(small.pathOf(key)), { recursive: true })
      writeFileSync(small.pathOf(key), '')
      const at = new Date(small.clock.now - DAY_MS)
      utimesSync(small.pathOf(key), at, at)
    }
    const hashes = Array.from({ length: 210 }, (_, place) => createHash('sha256').update(`r${place}`).digest('hex'))
    small.store.run(
      `INSERT INTO objects (tenant, sha256, state, life, touched_at) SELECT ?, value, 'live', 'a life', 1 FROM json_each(?)`,
      ...[ADA.tenant, JSON.stringify(hashes)],
    )
    const codes = (await check()).map(({ code }) => code)
    expect(codes.filter((code) => code === 'orphaned-object')).toHaveLength(210)
    expect(codes.filter((code) => code === 'object-without-bytes')).toHaveLength(210)
    expect(
      (await small.candidates(space)).filter(({ candidateType }) => candidateType === 'staged-object').length,
    ).toBe(210)
  })

  it('stay when their name is malformed, and are reported', async () => {
    const key = `${ObjectStore.prefix(ADA.tenant)}sha256/readme`
    mkdirSync(dirname(small.pathOf(key)), { recursive: true })
    writeFileSync(small.pathOf(key), 'mine')
    expect(await small.repair(space, 'raw-objects')).toMatchObject([
      {
        issue: { code: 'unknown-file', severity: 'info', target: { type: 'raw-object', objectKey: key } },
        status: 'not-repairable',
      },
    ])
    expect(small.isThere(key)).toBe(true)
  })
})

describe('temporary files in a check of bytes', () => {
  it('disappear in a repair when their uploads have ended, however many there are', async () => {
    for (let end = 100; end < 305; end++) small.temporary(uuid(end), { bytes: 'half' })
    small.commits(space, 100, 205, { expires_at: small.clock.now + DAY_MS })
    small.temporary(uuid(1))
    small.temporary(uuid(400), { ageMs: HOUR_MS - 60_000 })
    small.commit(space, uuid(400), { expires_at: small.clock.now + DAY_MS })
    small.temporary(uuid(401))
    small.commit(space, uuid(401), { status: 'received' })
    const issues = await check()
    expect(issues).toHaveLength(205)
    expect(issues[0]).toMatchObject({
      ...{ code: 'orphaned-temporary-file', severity: 'info', repairability: 'auto-repairable' },
      message: 'an ended upload left 4 bytes',
      target: { type: 'staged-commit', id: uuid(100), objectKey: `tmp/${uuid(100)}` },
    })
    const items = await small.repair(space, 'raw-objects')
    expect(new Set(items.map(({ status, action }) => `${status} ${action}`))).toEqual(
      new Set(['repaired remove the temporary file']),
    )
    expect([1, 100, 304, 400, 401].map((end) => small.isThere(`tmp/${uuid(end)}`))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ])
    expect(await check()).toEqual([])
  })
})

it('a repair collects an expired commit', async () => {
  small.commit(space, uuid(1), { document_id: 'd' })
  expect(await small.repair(space, 'raw-objects')).toMatchObject([
    {
      issue: {
        ...{ code: 'failed-commit-expired', message: `upload ${uuid(1)} is failed-terminal and has expired` },
        target: { type: 'staged-commit', id: uuid(1), documentAssetId: 'd' },
      },
      ...{ status: 'repaired', action: 'remove the ended upload with its files' },
    },
  ])
  expect(small.store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'gc-complete' }])
})
