import { afterEach, beforeEach, expect, it } from 'vitest'
import { TABLE_FORMATS } from '../../../../src/engine/store/format-tables.js'
import { hasFormat } from '../../../../src/engine/store/formats.js'
import { sql } from '../../../../src/engine/store/program.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { rowPhases } from '../../../../src/engine/upkeep/integrity/rows.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { passages } from '../../../helpers/store.js'
import { openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
  small.store.run('PRAGMA ignore_check_constraints = ON')
})
afterEach(() => small.store.end())

const damaged = async (of = space, caller = ADA) =>
  (await small.issues(of, 'artifact-segments', { caller })).filter(({ code }) => code === 'row-damaged')
const keyOf = (text: string) => small.store.rows<{ key: number }>(text)[0]?.key

it('fsck checks the rows of every table with a format, and of no other table', () => {
  const withForm = Object.values(TABLE_FORMATS).filter(({ columns }) =>
    Object.values(columns).some(({ kind }) => hasFormat(kind)),
  )
  expect(rowPhases).toHaveLength(withForm.length)
  expect(rowPhases.length).toBeLessThan(Object.keys(TABLE_FORMATS).length)
})

it('a damaged row is reported by id with all wrong columns and its document', async () => {
  await small.publish(space, { 'a.md': 'one', 'b.md': 'two' })
  expect(await damaged()).toEqual([])
  const [document] = small.store.rows<{ id: string }>("SELECT id FROM documents WHERE filename = 'a.md'")
  small.store.run("UPDATE documents SET created_at = -1, parser_status = 'odd' WHERE filename = 'a.md'")
  expect(await damaged()).toEqual([
    {
      ...{ code: 'row-damaged', type: 'checksum-mismatch', severity: 'critical', repairability: 'manual' },
      message: `row "${document?.id}" of table documents is damaged: column parser_status has no known value, column created_at is not a time`,
      target: { type: 'raw-object', id: document?.id, documentAssetId: document?.id },
    },
  ])
  expect(
    (await small.repair(space, 'artifact-segments')).find(({ issue }) => issue.code === 'row-damaged'),
  ).toMatchObject({ status: 'manual', action: expect.stringContaining('restore the row from a backup') })
})

it('a damaged row is repaired automatically only if compiling its document again would fix it', async () => {
  await small.publish(space, { 'a.md': passages('one', 'two') })
  const [node] = small.store.rows<{ id: string; key: number }>("SELECT id, key FROM nodes WHERE text = 'two'")
  const before = small.store.rows('SELECT * FROM nodes ORDER BY key')
  small.store.run("UPDATE nodes SET elements = '{}', kind = 'poem' WHERE text = 'two'")
  const [issue] = await damaged()
  expect(issue).toMatchObject({
    ...{
      type: 'checksum-mismatch',
      repairability: 'auto-repairable',
      target: { type: 'knowledge-node', id: node?.id },
    },
    target: { documentAssetId: small.store.rows<{ id: string }>('SELECT id FROM documents')[0]?.id },
  })
  const items = await small.repair(space, 'artifact-segments')
  expect(items.find((item) => item.issue.code === 'row-damaged')?.status).toBe('repaired')
  expect(small.store.rows('SELECT * FROM nodes ORDER BY key')).toEqual(before)
  small.store.run("UPDATE nodes SET elements = '{}', id = 'no id' WHERE text = 'two'")
  expect(await damaged()).toMatchObject([{ repairability: 'manual' }])
  small.store.run('UPDATE nodes SET id = ?, elements = ? WHERE key = ?', node?.id ?? '', '["e2"]', node?.key ?? 0)
  small.store.run("UPDATE versions SET artifact_hash = 'none'")
  const ofVersion = await damaged()
  expect(ofVersion).toMatchObject([
    {
      repairability: 'auto-repairable',
      target: { type: 'artifact-object', id: String(keyOf('SELECT key FROM versions')) },
    },
  ])
  small.store.run("UPDATE versions SET metadata = '7'")
  expect(await damaged()).toMatchObject([{ repairability: 'manual' }])
})

it('a damaged row of derived data has the severity error instead of critical', async () => {
  small.store.run(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES ('no id', ?, 1, 2, 'active', 1)`,
    space.key,
  )
  expect(await damaged()).toMatchObject([
    {
      ...{ type: 'segment-hash-mismatch', severity: 'error', target: { type: 'knowledge-path', id: 'no id' } },
      message: 'row "no id" of table vector_spaces is damaged: column id is not a uuid',
    },
  ])
})

it('the check of rows leaves bytes with a separate hash to the check of that hash', async () => {
  await small.publish(space, { 'a.md': 'one' })
  small.store.run("UPDATE versions SET artifact = x'', items = x'00'")
  expect(await damaged()).toEqual([])
})

it('a damaged row is reported by its space or by all spaces of its tenant, an unowned row by every space', async () => {
  const other = small.store.createSpace()
  const theirs = small.store.createSpace({ caller: BOB })
  small.commit(space, uuid(1), { status: 'odd' })
  small.commit(other, uuid(2), { checksum: 'odd' })
  const named = async (of: SpaceRow, caller = ADA) => (await damaged(of, caller)).map(({ target }) => target.id)
  expect([await named(space), await named(other), await named(theirs, BOB)]).toEqual([[uuid(1)], [uuid(2)], []])
  expect((await damaged(other))[0]).toMatchObject({ target: { type: 'staged-commit' } })
  small.store.run("UPDATE spaces SET created_at = -5 WHERE tenant = 'tenant-b'")
  expect([(await named(space)).length, (await named(theirs, BOB)).length]).toEqual([1, 1])
  small.store.run('DELETE FROM staged_commits')
  // Its version does not exist: otherwise no space would report it.
  small.store.run(
    "INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (99, 'image-1', 'image/png', 'odd', x'00')",
  )
  const orphan = await damaged(space)
  expect(orphan).toMatchObject([{ target: { type: 'artifact-segment' } }])
  expect(orphan[0]?.message).toContain('of table item_assets is damaged: column sha256 is not a SHA-256')
  expect(await damaged(other)).toHaveLength(1)
})

it('a missing optional value of a row is not reported as damage', async () => {
  small.commit(space, uuid(1), { checksum: null, expires_at: null })
  expect(await damaged()).toEqual([])
})

it('a damaged row of a source is reported only to readers of the source', async () => {
  small.restrict(space, uuid(70), 'eve')
  small.commit(space, uuid(1), { status: 'odd', source_id: uuid(70) })
  expect(await damaged()).toEqual([])
  expect(await damaged(space, { tenant: ADA.tenant, subject: 'eve' })).toHaveLength(1)
})

it('fsck checks every row of a large table, whether its key is a number or a text', async () => {
  small.commits(space, 0, 450)
  small.store.run("UPDATE staged_commits SET status = 'odd' WHERE id IN (?, ?, ?)", uuid(0), uuid(250), uuid(449))
  expect((await damaged()).map(({ target }) => target.id)).toEqual([uuid(0), uuid(250), uuid(449)])
  small.store.run('DELETE FROM staged_commits')
  small.store.write(function* () {
    for (let place = 0; place < 450; place++)
      yield* sql.run("INSERT INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, ?, ?, 'a life', 1)", [
        ...[ADA.tenant, String(place).padStart(64, '0')],
        place % 200 === 7 ? 'odd' : 'live',
      ])
  })
  expect(await damaged()).toHaveLength(3)
})
