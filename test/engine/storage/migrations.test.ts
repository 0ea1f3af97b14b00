import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/engine/storage/migrate.js'
import { MIGRATIONS } from '../../../src/engine/storage/schema.js'

const FOLDER = new URL('../../../src/engine/storage/migrations/', import.meta.url)
/** The catalogue after the migrations that existing stores may have: it tells when one of them is edited. */
const RELEASED = { count: 33, catalogue: '8ab6071fb763464ad297cdaa8ac066f7b9ec51bc683a96cc2f8018e8e9296be2' }

/** A store with the first `count` migrations. */
function storeOf(count: number): Sqlite.Database {
  const sqlite = new Sqlite(':memory:')
  for (const step of MIGRATIONS.slice(0, count)) sqlite.exec(step)
  sqlite.pragma(`user_version = ${count}`)
  return sqlite
}

/** The statements that made what a store has, by kind and name. */
function catalogueOf(sqlite: Sqlite.Database): unknown[] {
  return sqlite.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all()
}

function migrated(sqlite: Sqlite.Database) {
  migrate(sqlite, (work) => sqlite.transaction(work)())
  return { number: sqlite.pragma('user_version', { simple: true }), catalogue: catalogueOf(sqlite) }
}

test('the number in the name of a migration is the schema that it leads to', async () => {
  const files = readdirSync(FOLDER).sort()
  const texts = await Promise.all(
    files.map(async (file) => {
      const module: Record<string, unknown> = await import(new URL(file, FOLDER).href)
      return Object.values(module)
    }),
  )
  expect(files.map((file) => file.slice(0, 5))).toEqual(
    MIGRATIONS.map((_, place) => `${String(place + 1).padStart(4, '0')}-`),
  )
  expect(texts).toEqual(MIGRATIONS.map((text) => [text]))
})

test('a released migration is what it was', () => {
  const catalogue = JSON.stringify(catalogueOf(storeOf(RELEASED.count)))
  expect(createHash('sha256').update(catalogue).digest('hex')).toBe(RELEASED.catalogue)
})

test('a store of any earlier schema ends with the number and the catalogue of a new one', () => {
  const fresh = migrated(new Sqlite(':memory:'))
  expect(fresh.number).toBe(MIGRATIONS.length)
  for (let count = 1; count < MIGRATIONS.length; count++) expect(migrated(storeOf(count))).toEqual(fresh)
})
