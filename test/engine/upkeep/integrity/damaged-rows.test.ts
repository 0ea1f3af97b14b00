import type Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { TABLE_FORMATS } from '../../../../src/engine/store/format-tables.js'
import { CHECKED_COLUMNS, disableChecks, makeDamagedValue, makeValidValue } from '../../../helpers/damage.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { allIssues, spaceWith, sql } from './space.js'

let running: TestEngine | undefined
afterEach(async () => {
  await running?.end()
  running = undefined
})

type Values = Record<string, string | number | Buffer | null>

/** An owner for rows that carry neither space nor tenant. */
const OWNER = '0198c0de-1111-7000-8000-000000000001'
const OWNERS = ['chat_apps', 'chat_conversations', 'chat_messages', 'bulk_jobs', 'research_tasks']
const OWNING = ['app_id', 'conversation_id', 'message_id', 'bulk_id', 'task_id']

/** A valid row of a table that belongs to the space and is not in use. */
function rowOf(table: string, spaceKey: number, next: number): Values {
  const columns = Object.entries(TABLE_FORMATS[table]?.columns ?? {})
  const made: Values = Object.fromEntries(
    columns.map(([name, format]) => [
      name,
      format.optional && name !== 'completed_at' ? null : makeValidValue(format, next),
    ]),
  )
  for (const name of OWNING) if (name in made) made[name] = OWNER
  if ('space_key' in made) made['space_key'] = spaceKey
  if ('tenant' in made) made['tenant'] = ADA.tenant
  if (OWNERS.includes(table)) made['id'] = OWNER
  return made
}

function insert(db: Sqlite.Database, table: string, values: Values): void {
  const names = Object.keys(values)
  const sql = `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  db.prepare(sql).run(...Object.values(values))
}

/** Removes a row by its primary key. */
function remove(db: Sqlite.Database, table: string, values: Values): void {
  const keys = db
    .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?) WHERE pk > 0')
    .all(table)
    .map(({ name }) => name)
  const sql = `DELETE FROM ${table} WHERE ${keys.map((name) => `${name} = ?`).join(' AND ')}`
  db.prepare(sql).run(...keys.map((name) => values[name] ?? null))
}

test('fsck finds damage in every column with a format, and names table, row and column', {
  timeout: 240_000,
}, async () => {
  running = await startEngine()
  const { engine, dataDir } = running
  const { id } = await spaceWith(engine, 'forms', 2)
  expect(await allIssues(engine, id)).toEqual([])
  const spaceKey = sql(dataDir, (db) => {
    disableChecks(db)
    const key = db.prepare<[string], { key: number }>('SELECT key FROM spaces WHERE id = ?').get(id)?.key ?? 0
    for (const [place, table] of OWNERS.entries()) insert(db, table, rowOf(table, key, 4000 + place))
    return key
  })
  const rowIssues = async () =>
    (await allIssues(engine, id, 'artifact-segments')).filter(({ code }) => code === 'row-damaged')
  expect(await rowIssues()).toEqual([])
  const missed: string[] = []
  for (const [place, { table, column, kind }] of CHECKED_COLUMNS.entries()) {
    const values = { ...rowOf(table, spaceKey, 5000 + place), [column]: makeDamagedValue(kind) }
    sql(dataDir, (db) => {
      disableChecks(db)
      insert(db, table, values)
    })
    const found = await rowIssues()
    sql(dataDir, (db) => remove(db, table, values))
    const named = String(values['id'] ?? values['key'] ?? values['jti'] ?? '')
    const told = found.some(
      ({ message, target }) =>
        message.includes(`of table ${table} is damaged: column ${column} `) && target.id?.includes(named),
    )
    if (!told || found.length !== 1) missed.push(`${table}.${column}: ${JSON.stringify(found)}`)
    // The owner of the other rows.
    if (OWNERS.includes(table)) sql(dataDir, (db) => insert(db, table, rowOf(table, spaceKey, 6000 + place)))
  }
  const tables = new Set(CHECKED_COLUMNS.map(({ table }) => table)).size
  process.stdout.write(
    `FIGURE damaged-cells: columns ${CHECKED_COLUMNS.length} in ${tables} tables, found ${CHECKED_COLUMNS.length - missed.length}\n`,
  )
  expect(missed).toEqual([])
})
