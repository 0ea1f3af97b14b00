import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { TABLE_FORMATS } from '../../../src/engine/store/format-tables.js'
import { findFormatProblem, hasFormat, type Kind, ownedThrough } from '../../../src/engine/store/formats.js'
import { createRowGuard, isDamaged } from '../../../src/engine/store/guarded-rows.js'

const bytes = (length: number) => new Uint8Array(length)

describe('the format of a column', () => {
  it.each<[Kind, unknown[], unknown[], string]>([
    ['key', [0, 1, -1], [1.5, '1', 2 ** 53], 'is not an integer'],
    ['integer', [0, -7], [0.1, true, '1'], 'is not an integer'],
    ['number', [0.5, -1, 0], [Number.NaN, Number.POSITIVE_INFINITY, '1'], 'is not a number'],
    ['text', ['', 'a'], [1, bytes(1)], 'is not text'],
    ['bytes', [bytes(0)], ['a'], 'holds no bytes'],
    ['packed', [bytes(1)], ['a'], 'holds no bytes'],
    ['object-bytes', [bytes(1)], [1], 'holds no bytes'],
    ['vector', [bytes(1)], ['a'], 'holds no bytes'],
    ['time', [0, 8.64e15], [-1, 8.64e15 + 2, 1.5, '1'], 'is not a time'],
    ['flag', [0, 1], [2, -1, true, '1'], 'is neither 0 nor 1'],
    ['uuid', ['0198c0de-0000-7000-8000-000000000000'], ['0198c0de', 1], 'is not a uuid'],
    [
      'sha256',
      ['a'.repeat(64), '0'.repeat(64)],
      ['A'.repeat(64), 'a'.repeat(63), 'a'.repeat(65), 1],
      'is not a SHA-256',
    ],
    ['sha256-bytes', [bytes(32)], [bytes(31), bytes(33), 'a'.repeat(32)], 'is not a SHA-256'],
    ['row-hash', [bytes(16)], [bytes(15), bytes(32), 'a'.repeat(16)], 'is not the hash of a row'],
    ['object-key', [], ['../up', '', 1], 'is not the key of an object'],
    ['json', ['1', 'null', '{}', '[]'], ['', '{', 1], 'is not JSON'],
    ['json-object', ['{}'], ['[]', 'null', '1', '"a"'], 'is not a JSON object'],
    ['json-object', [], ['{', 1], 'is not JSON'],
    ['json-array', ['[]'], ['{}', 'null', '1'], 'is not a JSON array'],
    ['json-array', [], ['[', 1], 'is not JSON'],
    [['on', 'off'], ['on', 'off'], ['', 'On', 1], 'has no known value'],
  ])('accepts valid values of the kind %j, and describes invalid values', (kind, right, wrong, what) => {
    expect(right.map((value) => findFormatProblem(kind, value))).toEqual(right.map(() => undefined))
    expect(wrong.map((value) => findFormatProblem(kind, value))).toEqual(wrong.map(() => what))
  })

  it('can be stricter than the type of the column for some kinds', () => {
    const formless: Kind[] = ['key', 'integer', 'number', 'text', 'bytes', 'packed', 'object-bytes', 'vector']
    const formed: Kind[] = ['time', 'flag', 'uuid', 'sha256', 'sha256-bytes', 'row-hash', 'object-key', 'json', ['on']]
    expect(formless.map(hasFormat)).toEqual(formless.map(() => false))
    expect(formed.map(hasFormat)).toEqual(formed.map(() => true))
  })
})

it('the list of allowed values of a column has no empty and no repeated value', () => {
  for (const [name, { columns }] of Object.entries(TABLE_FORMATS))
    for (const [column, { kind }] of Object.entries(columns))
      if (typeof kind === 'object')
        expect({
          column: `${name}.${column}`,
          odd: kind.filter((value, at) => !/^[\w-]+$/.test(value) || kind.indexOf(value) !== at),
        }).toEqual({
          ...{ column: `${name}.${column}`, odd: [] },
        })
})

it('a row with a missing owner row belongs to every space, any other row to the space of its owner', () => {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(`CREATE TABLE owners (id TEXT, space_key INTEGER); INSERT INTO owners VALUES ('a', 1), ('b', 2);
    CREATE TABLE things (owner TEXT); INSERT INTO things VALUES ('a'), ('b'), ('gone')`)
  const owned = sqlite
    .prepare(`SELECT t.owner FROM things t, (SELECT 1 AS space) here WHERE ${ownedThrough('owners', 'id', 'owner')}`)
    .pluck()
    .all()
  sqlite.close()
  expect(owned).toEqual(['a', 'gone'])
})

describe('the guard of rows', () => {
  const column = (name: string, of: string | null = name, table: string | null = 'golden_questions') => ({
    ...{ name, table, column: of },
  })

  it('reports damaged columns under any alias, and throws when their values are read', () => {
    expect(
      createRowGuard([column('question'), column('n', null, null), column('x', 'unknown')], () => {}),
    ).toBeUndefined()
    const told: unknown[] = []
    const guard = createRowGuard([column('key', 'id'), column('labels', 'tags'), column('made', 'created_at')], (one) =>
      told.push(one),
    )
    const row = { key: '0198c0de-0000-7000-8000-000000000000', labels: '[', made: -1 }
    guard?.(row)
    expect(told).toEqual([
      { table: 'golden_questions', column: 'tags', row: row.key, what: 'is not JSON' },
      { table: 'golden_questions', column: 'created_at', row: row.key, what: 'is not a time' },
    ])
    expect(isDamaged(row)).toBe(true)
    expect(Object.keys(row)).toEqual(['key', 'labels', 'made'])
    expect(() => row.labels).toThrow(expect.objectContaining({ code: 'data-damaged' }))
  })

  it('ignores valid, missing and NULL values', () => {
    const told: unknown[] = []
    const guard = createRowGuard([column('tags')], (one) => told.push(one))
    const whole = { tags: '[]' }
    for (const row of [whole, { tags: null }, undefined]) guard?.(row)
    expect(told).toEqual([])
    expect(isDamaged(whole)).toBe(false)
  })

  it('names a damaged row by its id, or by "?" without an id', () => {
    const named = (row: Record<string, unknown>, ...columns: string[]) => {
      let name = ''
      createRowGuard(
        ['parser_status', ...columns].map((one) => column(one, one, 'documents')),
        (damage) => {
          name = damage.row
        },
      )?.({ parser_status: 'lost', ...row })
      return name
    }
    const id = '0198c0de-0000-7000-8000-000000000000'
    expect(named({ id, key: 5 }, 'key', 'id')).toBe(id)
    expect(named({})).toBe('?')
  })
})
