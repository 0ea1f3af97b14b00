import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { Database } from '../../../src/engine/store/database.js'
import type { Damage } from '../../../src/engine/store/formats.js'
import { sql } from '../../../src/engine/store/program.js'
import { mapReadable, readablePage } from '../../../src/engine/store/readable.js'

let folder: string
let path: string
let db: Database
let told: Damage[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-formats-'))
  path = join(folder, 'main.sqlite')
  db = new Database(path, Date.now)
  told = []
  db.onDamage = (damage) => told.push(damage)
})
afterEach(async () => {
  await db.close()
  removeFolder(folder)
})

/** Corrupts the JSON of one of five golden questions, bypassing the constraints. */
function damage(): void {
  const sqlite = new Sqlite(path)
  for (let place = 0; place < 5; place++)
    sqlite
      .prepare(
        `INSERT INTO golden_questions (id, tenant, space_key, question, expected_evidence, tags, metadata, created_at, updated_at)
         VALUES (?, 't', 1, 'why?', '[]', '["a"]', '{}', 1, 1)`,
      )
      .run(`0198c0de-0000-7000-8000-00000000000${place}`)
  sqlite.prepare(`UPDATE golden_questions SET tags = '["a"' WHERE id LIKE '%2'`).run()
  sqlite.close()
}

interface Question {
  id: string
  tags: string
}
const SELECT = 'SELECT id, tags FROM golden_questions ORDER BY id'

test('reading a damaged cell throws data-damaged, is logged once, and leaves other cells readable', () => {
  damage()
  for (let round = 0; round < 2; round++) {
    const row = db.now(sql.get<Question>(`SELECT id, tags FROM golden_questions WHERE id LIKE '%2'`))
    expect(row?.id).toBe('0198c0de-0000-7000-8000-000000000002')
    expect(() => row?.tags).toThrow(expect.objectContaining({ code: 'data-damaged' }))
    expect(() => row?.tags).toThrow(/0198c0de-0000-7000-8000-000000000002.*golden_questions.*column tags is not JSON/)
  }
  expect(told).toEqual([
    { table: 'golden_questions', column: 'tags', row: '0198c0de-0000-7000-8000-000000000002', what: 'is not JSON' },
  ])
})

test('a list omits a damaged row, and its next page continues after the damaged row', () => {
  damage()
  const rows = db.now(sql.all<Question>(SELECT))
  expect(mapReadable(rows, ({ tags }) => tags)).toHaveLength(4)
  const first = readablePage(
    rows.slice(0, 4),
    3,
    ({ id, tags }) => ({ id, tags }),
    ({ id }) => id,
  )
  expect(first.items.map(({ id }) => id.at(-1))).toEqual(['0', '1'])
  expect(first.nextCursor).toMatch(/2$/)
  // When the cursor of a row cannot be read, the previous row provides it.
  const last = readablePage(
    rows.slice(0, 4),
    3,
    ({ id, tags }) => ({ id, tags }),
    ({ id, tags }) => id + tags,
  )
  expect(last.nextCursor).toMatch(/1\["a"\]$/)
})

test('a statement that reads invalid JSON in SQL fails with data-damaged', () => {
  damage()
  expect(() => db.now(sql.all(`SELECT json_extract(tags, '$[0]') FROM golden_questions`))).toThrow(
    expect.objectContaining({ code: 'data-damaged' }),
  )
})
