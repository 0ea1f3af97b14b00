import { describe, expect, it } from 'vitest'
import { createPostgresDialect } from '../../../src/engine/storage/dialect.js'
import { tokenizeSql } from '../../../src/engine/storage/sql-tokens.js'

const { translate } = createPostgresDialect()

describe('a statement for PostgreSQL', () => {
  it.each([
    [
      'numbers its parameters',
      'SELECT id FROM jobs WHERE tenant = ? AND id = ?',
      'SELECT id FROM jobs WHERE tenant = $1 AND id = $2',
    ],
    [
      'keeps what stands in texts and comments',
      "SELECT '? IS ?' FROM a -- IS ?\nWHERE b = ?",
      "SELECT '? IS ?' FROM a -- IS ?\nWHERE b = $1",
    ],
    [
      'compares with IS as with any value',
      'a IS ? AND b IS NOT ? AND c IS NOT NULL AND d IS b',
      'a IS NOT DISTINCT FROM $1 AND b IS DISTINCT FROM $2 AND c IS NOT NULL AND d IS NOT DISTINCT FROM b',
    ],
    [
      'lets go of advice for a planner',
      'FROM a INDEXED BY a_b JOIN c NOT INDEXED ON c.d = a.d',
      'FROM a JOIN c ON c.d = a.d',
    ],
    [
      'joins by a condition',
      'FROM a CROSS JOIN b CROSS JOIN c x ON x.d = a.d',
      'FROM a CROSS JOIN b INNER JOIN c x ON x.d = a.d',
    ],
    [
      'takes the greatest of several values, and the largest of rows',
      'max(0, a - min(b, c)) + max(a)',
      'greatest(0, a - least(b, c)) + max(a)',
    ],
    ['quotes names that would be folded', 'SELECT doc_key docKey FROM jobs', 'SELECT doc_key "docKey" FROM jobs'],
    [
      'names the rows of a subquery',
      'FROM (SELECT a FROM (SELECT 1 a) b) WHERE a = 1',
      'FROM (SELECT a FROM (SELECT 1 a) b) unnamed_1 WHERE a = 1',
    ],
    [
      'casts to INTEGER without failing',
      'CAST(a ->> 0 AS INTEGER) + CAST(b AS REAL)',
      'as_integer(a ->> 0) + CAST(b AS double precision)',
    ],
    ['knows the type of a value that may be missing', '(? IS NULL OR a = ?)', '($1::text IS NULL OR a = $2)'],
    [
      'ignores a row that is there',
      'INSERT OR IGNORE INTO a (b) SELECT ? RETURNING b',
      'INSERT INTO a (b) SELECT $1 ON CONFLICT DO NOTHING RETURNING b',
    ],
    [
      'replaces a row',
      'INSERT OR REPLACE INTO graph_scans (space_key, node_key) VALUES (?, ?)',
      'INSERT INTO graph_scans (space_key, node_key) VALUES ($1, $2) ON CONFLICT (space_key) DO UPDATE SET node_key = excluded.node_key',
    ],
    [
      'names the row that is there in an upsert',
      'INSERT INTO a (b, c) VALUES (?, 1) ON CONFLICT (b) DO UPDATE SET c = max(c, 2) + excluded.c',
      'INSERT INTO a (b, c) VALUES ($1, 1) ON CONFLICT (b) DO UPDATE SET c = greatest(a.c, 2) + excluded.c',
    ],
    ['lets go of a sign that keeps an index from being used', 'ORDER BY +a LIMIT +?', 'ORDER BY a LIMIT $1'],
    ['writes bytes as PostgreSQL does', "SELECT x'00ff'", "SELECT '\\x00ff'::bytea"],
    [
      'takes row keys of a list as numbers',
      'FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value',
      'FROM json_each_number($1::text) wanted INNER JOIN nodes n ON n.key = wanted.value',
    ],
    [
      'takes ids of a list as texts',
      'WHERE id IN (SELECT value FROM json_each(?)) AND object_key NOT IN (SELECT value FROM json_each(?))',
      'WHERE id IN (SELECT value FROM json_each($1::text)) AND object_key NOT IN (SELECT value FROM json_each($2::text))',
    ],
  ])('%s', (_, text, translated) => {
    expect(translate(text)).toBe(translated)
  })

  it('fails when no replacement of its rows is defined', () => {
    expect(() => translate('INSERT OR REPLACE INTO spaces (key) VALUES (?)')).toThrow('spaces')
  })

  it('gets translated once', () => {
    expect(translate('SELECT ?')).toBe(translate('SELECT ?'))
  })
})

it('the tokens of a statement join to the entire statement', () => {
  const text = "SELECT a->>'$.b', \"c\" /* why */ FROM d -- e\nWHERE f <> 1.5e3 AND g = 'it''s' || ?"
  expect(
    tokenizeSql(text)
      .map(({ before, text: piece }) => before + piece)
      .join(''),
  ).toBe(text)
})
