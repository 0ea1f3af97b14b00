import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { rowsOf } from '../../helpers/databases.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { until } from '../../helpers/until.js'

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

test('what is no key of an object is told, and keeps nothing else from being removed', async () => {
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
    new Set(['a row named an object by what is no key; nothing was removed for it']),
  )
  expect(TOLD.map(({ fields }) => fields)).toContainEqual({ key: '../../etc/passwd' })
})
