import type Sqlite from 'better-sqlite3'
import { TABLE_FORMATS } from '../../src/engine/store/format-tables.js'
import { type ColumnFormat, hasFormat, type Kind } from '../../src/engine/store/formats.js'

export interface CheckedColumn {
  table: string
  column: string
  kind: Kind
}

/** Every column of every table with a form that is checked. */
export const CHECKED_COLUMNS: CheckedColumn[] = Object.entries(TABLE_FORMATS).flatMap(([table, { columns }]) =>
  Object.entries(columns)
    .filter(([, { kind }]) => hasFormat(kind))
    .map(([column, { kind }]) => ({ table, column, kind })),
)

/** Makes a value of the column's type with a wrong form. */
export function makeDamagedValue(kind: Kind): string | number | Buffer {
  if (typeof kind !== 'string') return 'no-such-value'
  if (kind === 'time') return 2 ** 53
  if (kind === 'flag') return 7
  if (kind === 'sha256-bytes' || kind === 'row-hash') return Buffer.from('short')
  if (kind.startsWith('json')) return '{"half":'
  return `not one ${damageCount++}`
}

let damageCount = 0

/** Makes a value with the right form, a different one for each number. */
export function makeValidValue({ kind }: Pick<ColumnFormat, 'kind'>, next: number): string | number | Buffer {
  const hex = next.toString(16).padStart(12, '0')
  if (typeof kind !== 'string') return kind[0] ?? ''
  const values: Record<Exclude<Kind, readonly string[]>, string | number | Buffer> = {
    key: next,
    integer: next,
    number: next,
    text: `text ${next}`,
    time: 1_700_000_000_000 + next,
    flag: 0,
    bytes: Buffer.alloc(8),
    packed: Buffer.alloc(8),
    'object-bytes': Buffer.alloc(8),
    vector: Buffer.alloc(8),
    uuid: `0198c0de-0000-7000-8000-${hex}`,
    sha256: hex.padStart(64, '0'),
    'row-hash': Buffer.alloc(16, next),
    'sha256-bytes': Buffer.from(hex.padStart(64, '0'), 'hex'),
    'object-key': `${'a'.repeat(24)}/sha256/00/${hex.padStart(64, '0')}`,
    json: 'null',
    'json-object': '{}',
    'json-array': '[]',
  }
  return values[kind]
}

/** Removes triggers and disables keys and checks, so that rows can be damaged as by a broken disk. */
export function disableChecks(db: Sqlite.Database): void {
  db.pragma('foreign_keys = OFF')
  db.pragma('ignore_check_constraints = ON')
  for (const { name } of db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all())
    db.exec(`DROP TRIGGER ${name}`)
}
