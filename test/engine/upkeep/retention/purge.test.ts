import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

let home: TestEngine
afterEach(() => home.end())

const TOLD: { fields: object; text: string }[] = []
const log = {
  debug() {},
  info() {},
  warn: (fields: object, text: string) => void TOLD.push({ fields, text }),
  error: (fields: object, text: string) => void TOLD.push({ fields, text }),
}

const rows = <T>(sql: string) => rowsOf(home.dataDir).all<T>(sql)

const spoil = (sql: string, ...values: string[]) => rowsOf(home.dataDir).run(sql, ...values)

test('a purge logs an invalid object key in a row, and removes all other deleted rows and bytes', async () => {
  home = await startEngine({ log })
  const { id } = await home.engine.spaces.create(ADA, { name: 'Sea', slug: 'sea' })
  const [first, second] = await ingest(home.engine, ADA, id, { 'a.md': '# Tides\n\nEbb.', 'b.md': '# Winds\n\nTrade.' })
  const write = (name: string) => home.engine.fs.write(ADA, id, { path: `/workspaces/w/${name}`, content: name })
  for (const name of ['c.md', 'd.md']) await write(name)
  const keys = rows<{ object_key: string }>('SELECT object_key FROM workspace_files ORDER BY key')
  await spoil("UPDATE documents SET object_key = '../../etc/passwd' WHERE id = ?", first.asset.id)
  await spoil("UPDATE workspace_files SET object_key = '' WHERE object_key = ?", keys[0]?.object_key ?? '')
  await home.engine.fs.rm(ADA, id, { path: '/workspaces/w', recursive: 'true' })
  const { items } = await home.engine.documents.delete(ADA, id, [first.asset.id, second.asset.id])
  expect(items.map(({ status, objectDeleted }) => [status, objectDeleted])).toEqual([
    ['deleted', false],
    ['deleted', true],
  ])
  await until(() => rows('SELECT 1 FROM documents').length + rows('SELECT 1 FROM workspace_files').length === 0)
  await until(() => !existsSync(join(home.dataDir, 'objects', keys[1]?.object_key ?? '')))
  expect(existsSync(join(home.dataDir, 'objects', second.asset.objectKey))).toBe(false)
  expect(new Set(TOLD.map(({ text }) => text))).toEqual(
    new Set(['a row contains an invalid object key; nothing was removed for it']),
  )
  expect(TOLD.map(({ fields }) => fields)).toContainEqual({ key: '../../etc/passwd' })
})

/** A value that the column accepts and that is no time. */
const NO_TIME = '9007199254740992'

test('a purge keeps rows with a damaged deletion time, and removes deleted rows', async () => {
  home = await startEngine({ log })
  const { spaces, sources, snapshots, documents, fs } = home.engine
  const damaged = await spaces.create(ADA, { name: 'Bay', slug: 'bay' })
  const deleted = await spaces.create(ADA, { name: 'Gulf', slug: 'gulf' })
  const { id } = await spaces.create(ADA, { name: 'Sea', slug: 'sea' })
  const [first, second] = await ingest(home.engine, ADA, id, { 'a.md': '# Tides\n\nEbb.', 'b.md': '# Winds\n\nTrade.' })
  await fs.write(ADA, id, { path: '/workspaces/w/c.md', content: 'notes' })
  const snapshot = () => snapshots.create(ADA, { knowledgeSpaceId: id, workspace: 'w' })
  const made = [await snapshot(), await snapshot()] as const
  const about = { name: 'S', type: 'upload' as const, metadata: {}, permissionScope: ['ada'] }
  const of = [
    await sources.create(ADA, id, { ...about, uri: 'upload:s' }),
    await sources.create(ADA, id, { ...about, uri: 'upload:t' }),
  ] as const
  for (const [table, row] of [
    ['spaces', damaged.id],
    ['documents', first.asset.id],
    ['workspace_snapshots', made[0].id],
    ['sources', of[0].id],
  ] as const)
    await spoil(`UPDATE ${table} SET deleted_at = ${NO_TIME} WHERE id = ?`, row)

  await spaces.delete(ADA, deleted.id)
  await documents.delete(ADA, id, [second.asset.id])
  await snapshots.delete(ADA, made[1].id)
  await sources.delete(ADA, id, of[1].id, { documents: 'keep' })
  const ids = (table: string) => rows<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`).map((row) => row.id)
  await until(() =>
    ['spaces', 'documents', 'workspace_snapshots', 'sources'].every(
      (table) => !ids(table).some((one) => [deleted.id, second.asset.id, made[1].id, of[1].id].includes(one)),
    ),
  )
  expect(ids('spaces')).toEqual([damaged.id, id])
  expect(ids('documents')).toEqual([first.asset.id])
  expect(ids('workspace_snapshots')).toEqual([made[0].id])
  expect(ids('sources')).toEqual([of[0].id])
  expect(existsSync(join(home.dataDir, 'objects', first.asset.objectKey))).toBe(true)
})
