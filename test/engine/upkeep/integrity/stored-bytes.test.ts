import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConsistencyIssue } from '../../../../src/contract/gateway/integrity.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallSpaces, type SmallSpaces } from './small-space.js'

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

/** Without links in place of objects, which are reported as foreign files. */
const check = async (of = space) =>
  (await small.issues(of, 'raw-objects')).filter(({ code }) => code !== 'unknown-file')
const brief = (issues: ConsistencyIssue[]) => issues.map(({ code, target }) => [code, target.id ?? target.objectKey])

/** Stores bytes as an object and returns what a row records about them. */
function stored(bytes: string, tenant = ADA.tenant): { sha256: string; key: string; size: number } {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const key = ObjectStore.key(tenant, sha256)
  mkdirSync(dirname(small.pathOf(key)), { recursive: true })
  writeFileSync(small.pathOf(key), bytes)
  const row =
    "INSERT OR IGNORE INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, ?, 'live', 'a life', ?)"
  small.store.run(row, tenant, sha256, small.clock.now)
  return { sha256, key, size: bytes.length }
}

const DAMAGES = {
  missing: ['missing-raw-object', 'critical', (path: string) => rmSync(path)],
  size: ['size-mismatch', 'error', (path: string) => writeFileSync(path, 'x')],
  hash: ['checksum-mismatch', 'critical', (path: string) => writeFileSync(path, 'KEPT')],
  unreadable: [
    'checksum-mismatch',
    'critical',
    (path: string) => {
      rmSync(path)
      symlinkSync('/etc/hostname', path)
    },
  ],
} as const
type Damage = keyof typeof DAMAGES
const KINDS = Object.keys(DAMAGES) as Damage[]

describe('a workspace file', () => {
  function written(id: string, bytes: string, columns: Record<string, string | number | null> = {}): string {
    const { sha256, key, size } = stored(bytes)
    const row = {
      ...{ id, space_key: space.key, folder: 'w\u0001notes\u0001', base: `${id}.md`, object_key: key, sha256 },
      ...{ size_bytes: size, content_type: 'text/markdown', version: 1, subject: 'ada', created_at: 1, updated_at: 1 },
      ...{ from_seq: 1, until_seq: null, ...columns },
    }
    const names = Object.keys(row)
    const values = names.map(() => '?').join(', ')
    small.store.run(`INSERT INTO workspace_files (${names.join(', ')}) VALUES (${values})`, ...Object.values(row))
    return key
  }

  it.each(KINDS)('appears by its path in the report of a check when its bytes have this damage: %s', async (kind) => {
    const key = written('f1', 'kept')
    written('f2', 'whole')
    expect(await check()).toEqual([])
    const [type, severity, damage] = DAMAGES[kind]
    damage(small.pathOf(key))
    expect(await check()).toMatchObject([
      {
        ...{ code: `workspace-object-${kind}`, type, severity, repairability: 'manual' },
        message: expect.stringContaining('"/workspaces/w/notes/f1.md"'),
        target: { type: 'raw-object', id: 'f1', objectKey: key, virtualPath: '/workspaces/w/notes/f1.md' },
      },
    ])
    const items = await small.repair(space, 'raw-objects')
    expect(items.filter(({ issue }) => issue.code !== 'unknown-file')).toMatchObject([
      { status: 'manual', action: 'write the file again: the same content replaces them' },
    ])
  })

  it('causes no issue after it was overwritten or removed, or in another space', async () => {
    rmSync(small.pathOf(written('old', 'first', { until_seq: 2, until_at: 1 })))
    rmSync(small.pathOf(written('gone', 'second', { removed: 1 })))
    rmSync(small.pathOf(written('other', 'third', { space_key: small.store.createSpace().key })))
    expect(await check()).toEqual([])
  })

  it('gets checked in slices, up to the last one', async () => {
    for (let place = 0; place < 130; place++) written(`f${place}`, 'the same')
    const { summary } = await small.integrity.fsck(ADA, space.id, { check: 'raw-objects', deep: false })
    expect(summary.scanned).toBeGreaterThanOrEqual(130)
    rmSync(small.pathOf(written('last', 'lost')))
    expect(brief(await check())).toEqual([['workspace-object-missing', 'last']])
    rmSync(small.pathOf(written('f0', 'the same', { base: 'another.md' })))
    expect(await check()).toHaveLength(132)
  })

  it('gets checked in a snapshot as well, and the issue has the id of the snapshot', async () => {
    const freeze = (snapshot: string, bytes: string, of = space) => {
      const { sha256, key, size } = stored(bytes)
      small.store.run(
        `INSERT INTO snapshot_files (tenant, snapshot_id, space_key, path, object_key, sha256, size_bytes, content_type, version, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, 'text/markdown', 1, 1)`,
        ...[of.tenant, snapshot, of.key, `notes/${snapshot}.md`, key, sha256, size],
      )
      return key
    }
    freeze('whole', 'stays')
    const key = freeze('cut', 'kept')
    const theirs = freeze('theirs', 'of another space', small.store.createSpace())
    expect(await check()).toEqual([])
    writeFileSync(small.pathOf(key), 'x')
    rmSync(small.pathOf(theirs))
    expect(await small.repair(space, 'raw-objects')).toMatchObject([
      {
        issue: { code: 'workspace-object-size', target: { id: 'cut', objectKey: key, virtualPath: 'notes/cut.md' } },
        status: 'manual',
        action: 'write a workspace file with the same content: it replaces them',
      },
    ])
  })
})

describe('chat files', () => {
  function sent(id: string, bytes: string, { tenant = ADA.tenant, ready = 1 } = {}): string {
    const { sha256, key, size } = stored(bytes, tenant)
    small.store.run(
      `INSERT INTO chat_files (id, tenant, app_id, end_user_id, name, extension, mime_type, size_bytes, sha256, object_key, ready, created_at)
       VALUES (?, ?, 'app', 'user', ?, 'png', 'image/png', ?, ?, ?, ?, 1)`,
      ...[id, tenant, `${id}.png`, size, sha256, key, ready],
    )
    return key
  }

  it.each(KINDS)('appear in the report when their bytes have this damage: %s', async (kind) => {
    const key = sent('f1', 'kept')
    sent('f2', 'whole')
    const [type, severity, damage] = DAMAGES[kind]
    damage(small.pathOf(key))
    expect(await check()).toMatchObject([
      {
        ...{ code: `raw-object-${kind}`, type, severity, repairability: 'manual' },
        target: { type: 'raw-object', id: 'f1', objectKey: key },
      },
    ])
    // They belong to no space: every space of the tenant reports them.
    expect(await check(small.store.createSpace())).toHaveLength(1)
    const theirs = small.store.createSpace({ caller: BOB })
    expect(await small.issues(theirs, 'raw-objects', { caller: BOB })).toEqual([])
  })

  it('get checked when their upload is complete, across all slices', async () => {
    rmSync(small.pathOf(sent('coming', 'half', { ready: 0 })))
    for (let place = 100; place < 155; place++) sent(`f${place}`, `${place}`)
    expect(await check()).toEqual([])
    rmSync(small.pathOf(sent('z', 'lost')))
    expect(brief(await check())).toEqual([['raw-object-missing', 'z']])
  })
})

describe('the bytes of documents', () => {
  it('get read completely, however many there are', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, place) => [`${place}.md`, `number ${place}`]))
    await small.store.upload(space, files)
    const { summary } = await small.integrity.fsck(ADA, space.id, { check: 'raw-objects', deep: false })
    expect(summary.scanned).toBeGreaterThanOrEqual(40)
    const keys = small.store.rows<{ object_key: string }>('SELECT object_key FROM documents')
    for (const { object_key } of keys) rmSync(small.pathOf(object_key))
    const issues = await check()
    expect(issues.filter(({ code }) => code === 'raw-object-missing')).toHaveLength(40)
  })

  it('get read a few at a time when they are large, without omission', async () => {
    await small.store.upload(space, Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`${name}.md`, name])))
    // A slice of a check ends at 256 MiB; each of these declares 200 MiB.
    small.store.run('UPDATE documents SET size_bytes = ?', 200 * 1024 * 1024)
    expect((await check()).filter(({ code }) => code === 'raw-object-size')).toHaveLength(4)
    small.store.run('UPDATE documents SET size_bytes = ?', 300 * 1024 * 1024)
    expect((await check()).filter(({ code }) => code === 'raw-object-size')).toHaveLength(4)
  })

  it('cannot be read when their object is a symbolic link, and the reason is reported', async () => {
    await small.publish(space, { 'a.md': 'one' })
    const [{ object_key: key = '' } = {}] = small.store.rows<{ object_key: string }>('SELECT * FROM documents')
    rmSync(small.pathOf(key))
    symlinkSync('/etc/hostname', small.pathOf(key))
    const issues = (await check()).filter(({ code }) => code.startsWith('raw-object'))
    expect(issues).toMatchObject([{ code: 'raw-object-unreadable', type: 'checksum-mismatch', severity: 'critical' }])
    expect(await small.repair(space, 'raw-objects', { dryRun: true })).toMatchObject([
      { action: 'upload "a.md" again: the same bytes replace them' },
      { issue: { code: 'unknown-file' }, status: 'not-repairable', action: 'none: no repair is possible' },
    ])
  })
})
