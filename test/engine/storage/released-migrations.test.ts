import { createHash } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { MIGRATIONS } from '../../../src/engine/storage/schema.js'

/** The catalogue after the released migrations; its hash changes when one of them is edited. */
const RELEASED = { count: 33, catalogue: '8ab6071fb763464ad297cdaa8ac066f7b9ec51bc683a96cc2f8018e8e9296be2' }

test('released migrations stay unchanged', () => {
  const sqlite = new Sqlite(':memory:')
  for (const step of MIGRATIONS.slice(0, RELEASED.count)) sqlite.exec(step)
  const made = sqlite.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all()
  sqlite.close()
  expect(createHash('sha256').update(JSON.stringify(made)).digest('hex')).toBe(RELEASED.catalogue)
})
