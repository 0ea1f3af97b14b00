import { describe, expect, it } from 'vitest'
import { createPostgresDialect } from '../../../src/engine/store/dialect.js'
import { tokenizeSql } from '../../../src/engine/store/sql-tokens.js'

const { translate } = createPostgresDialect()

describe('a statement for PostgreSQL', () => {
  it.each([
    [
      'numbers its parameters',
      'SELECT id FROM jobs WHERE tenant = ? AND id = ?',
      'SELECT id FROM jobs WHERE tenant = $1 AND id = $2',
    ],
    [
      'keeps the content of strings and comments',
      "SELECT '? IS ?' FROM a -- IS ?\nWHERE b = ?",
      "SELECT '? IS ?' FROM a -- IS ?\nWHERE b = $1",
    ],
    [
      'turns IS into IS NOT DISTINCT FROM',
      'a IS ? AND b IS NOT ? AND c IS NOT NULL AND d IS b',
      'a IS NOT DISTINCT FROM $1 AND b IS DISTINCT FROM $2 AND c IS NOT NULL AND d IS NOT DISTINCT FROM b',
    ],
    [
      'drops INDEXED BY and NOT INDEXED',
      'FROM a INDEXED BY a_b JOIN c NOT INDEXED ON c.d = a.d',
      'FROM a JOIN c ON c.d = a.d',
    ],
    [
      'turns CROSS JOIN with a condition into INNER JOIN',
      'FROM a CROSS JOIN b CROSS JOIN c x ON x.d = a.d',
      'FROM a CROSS JOIN b INNER JOIN c x ON x.d = a.d',
    ],
    [
      'turns max and min of several values into greatest and least, but keeps max of rows',
      'max(0, a - min(b, c)) + max(a)',
      'greatest(0, a - least(b, c)) + max(a)',
    ],
    ['quotes aliases with capital letters', 'SELECT doc_key docKey FROM jobs', 'SELECT doc_key "docKey" FROM jobs'],
    [
      'gives a subquery without an alias a name',
      'FROM (SELECT a FROM (SELECT 1 a) b) WHERE a = 1',
      'FROM (SELECT a FROM (SELECT 1 a) b) unnamed_1 WHERE a = 1',
    ],
    [
      'casts to INTEGER by a function that does not fail',
      'CAST(a ->> 0 AS INTEGER) + CAST(b AS REAL)',
      'as_integer(a ->> 0) + CAST(b AS double precision)',
    ],
    ['casts a parameter to text if it is compared with NULL', '(? IS NULL OR a = ?)', '($1::text IS NULL OR a = $2)'],
    [
      'turns INSERT OR IGNORE into ON CONFLICT DO NOTHING',
      'INSERT OR IGNORE INTO a (b) SELECT ? RETURNING b',
      'INSERT INTO a (b) SELECT $1 ON CONFLICT DO NOTHING RETURNING b',
    ],
    [
      'turns INSERT OR REPLACE into an upsert',
      'INSERT OR REPLACE INTO graph_scans (space_key, node_key) VALUES (?, ?)',
      'INSERT INTO graph_scans (space_key, node_key) VALUES ($1, $2) ON CONFLICT (space_key) DO UPDATE SET node_key = excluded.node_key',
    ],
    [
      'qualifies the columns of the existing row in an upsert',
      'INSERT INTO a (b, c) VALUES (?, 1) ON CONFLICT (b) DO UPDATE SET c = max(c, 2) + excluded.c',
      'INSERT INTO a (b, c) VALUES ($1, 1) ON CONFLICT (b) DO UPDATE SET c = greatest(a.c, 2) + excluded.c',
    ],
    ['drops the plus sign that keeps SQLite from using an index', 'ORDER BY +a LIMIT +?', 'ORDER BY a LIMIT $1'],
    ['turns a literal of bytes into bytea', "SELECT x'00ff'", "SELECT '\\x00ff'::bytea"],
    [
      'reads the row keys of a JSON list as numbers',
      'FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value',
      'FROM json_each_number($1::text) wanted INNER JOIN nodes n ON n.key = wanted.value',
    ],
    [
      'reads the ids of a JSON list as texts',
      'WHERE id IN (SELECT value FROM json_each(?)) AND object_key NOT IN (SELECT value FROM json_each(?))',
      'WHERE id IN (SELECT value FROM json_each($1::text)) AND object_key NOT IN (SELECT value FROM json_each($2::text))',
    ],
  ])('%s', (_, text, translated) => {
    expect(translate(text)).toBe(translated)
  })

  it('fails for INSERT OR REPLACE into a table without a defined conflict key', () => {
    expect(() => translate('INSERT OR REPLACE INTO spaces (key) VALUES (?)')).toThrow('spaces')
  })

  it('gets the same translation each time', () => {
    expect(translate('SELECT ?')).toBe(translate('SELECT ?'))
  })
})

it('the tokens of an SQL statement join to the entire statement', () => {
  const text = "SELECT a->>'$.b', \"c\" /* why */ FROM d -- e\nWHERE f <> 1.5e3 AND g = 'it''s' || ?"
  expect(
    tokenizeSql(text)
      .map(({ before, text: piece }) => before + piece)
      .join(''),
  ).toBe(text)
})
