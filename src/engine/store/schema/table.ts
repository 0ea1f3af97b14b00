import { type Kind, NAMED_KINDS, type NamedKind, ownedThrough } from '../formats.js'

/** A column: what it contains, and what the two databases need to know to create it. */
export interface Column {
  kind: Kind
  /** may be NULL */
  optional?: true
  default?: string | number
  /** the database rejects values that are not of the kind */
  checked?: true
  unique?: true
  /** the primary key, assigned by the database; `reused`: a deleted row's key may be assigned again */
  rowKey?: 'ascending' | 'reused'
  /** SQL: computed from other columns; stored on PostgreSQL */
  generated?: string
  /** bundles do not contain it */
  notBundled?: true
  note?: string
}

/** An index; columns and condition are SQL of both databases. */
export interface Index {
  columns: string
  where?: string
  unique?: true
  /** statements read only this index, so on PostgreSQL it includes the tenant that the policy compares */
  covering?: true
}

/** Statements that run after a row changed, in the SQL of SQLite. */
export interface Trigger {
  /** as in `UPDATE OF deleted_at` */
  event: string
  /** separated by semicolons */
  statements: string
  /** a condition on OLD and NEW */
  when?: string
}

/** How fsck selects the rows that belong to a space: SQL over the row `t`, and `here` with `space` (a key) and `tenant`. */
type Owner = 'space' | 'tenant' | 'store' | { sql: string }

interface Description<Name extends string> {
  /** one sentence, for docs/data-model.md */
  purpose: string
  /** `space` where it is absent */
  owner?: Owner
  /** the column with the source of a row: a reader who may not read the source does not see the row in reports */
  source?: Name
  /** can be computed again from other rows and files */
  derived?: true
  /** why PostgreSQL shows the rows of all tenants to each of them */
  shared?: string
  withoutRowid?: true
  /** the row that a new store has */
  firstRow?: readonly number[]
  /** absent where a column is the row key */
  primary?: readonly Name[]
  unique?: readonly (readonly Name[])[]
  /** a row is deleted with its parent */
  parent?: { table: string; columns: readonly Name[]; key: readonly string[] }
  indexes?: Readonly<Record<string, Index>>
  triggers?: Readonly<Record<string, Trigger>>
}

/** A table; the order of its columns is that of the file. */
export interface Table extends Description<string> {
  columns: Readonly<Record<string, Column>>
}

/** A column by its kind alone; `?`: it may be NULL. */
type Short = NamedKind | `${NamedKind}?`

/** A table whose keys name columns that exist. */
export function table<Name extends string>(
  description: Description<NoInfer<Name>> & { columns: Readonly<Record<Name, Short | Column>> },
): Table {
  const columns = Object.entries<Short | Column>(description.columns)
  return { ...description, columns: Object.fromEntries(columns.map(([name, short]) => [name, column(short)])) }
}

function column(short: Short | Column): Column {
  if (typeof short !== 'string') return short
  const kind = NAMED_KINDS.find((name) => name === short)
  return kind === undefined ? { ...kindOf(short.slice(0, -1)), optional: true } : { kind }
}

function kindOf(name: string): Column {
  return { kind: NAMED_KINDS.find((kind) => kind === name) ?? [] }
}

export const rowKey: Column = { kind: 'key', rowKey: 'ascending' }
export const reusedRowKey: Column = { kind: 'key', rowKey: 'reused' }
export const checkedFlag: Column = { kind: 'flag', checked: true }

/** One of the values. `checked`: the database rejects others; a new value then takes a migration. */
export const oneOf = (values: readonly string[]): Column => ({ kind: values })
export const checked = (values: readonly string[]): Column => ({ kind: values, checked: true })
export const generated = (expression: string): Column => ({ kind: 'text', optional: true, generated: expression })
export const optional = (given: Column): Column => ({ ...given, optional: true })
export const withDefault = (given: Short | Column, value: string | number): Column => ({
  ...column(given),
  default: value,
})
export const unique = (given: Short): Column => ({ ...column(given), unique: true })
export const notBundled = (given: Short | Column): Column => ({ ...column(given), notBundled: true })
export const note = (given: Short | Column, words: string): Column => ({ ...column(given), note: words })

export const index = (columns: string, where?: string): Index => ({
  columns,
  ...(where === undefined ? {} : { where }),
})
export const uniqueIndex = (columns: string, where: string): Index => ({ columns, where, unique: true })
export const coveringIndex = (columns: string): Index => ({ columns, covering: true })

/** The rows of a space are those whose `column` names a row of `owner` in the space. */
export const through = (owner: string, id: string, column: string): Owner => ({ sql: ownedThrough(owner, id, column) })

export function after(event: string, statements: string, when?: string): Trigger {
  return { event, statements, ...(when === undefined ? {} : { when }) }
}

/** Two triggers that add the bytes of texts to the traces of a space, and subtract them when the row is deleted. */
export function traceBytes(name: string, ...texts: readonly string[]): Record<string, Trigger> {
  const lengths = (row: string) => texts.map((text) => `octet_length(${row}.${text})`)
  return {
    [`${name}_added`]: after(
      'INSERT',
      `INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, ${lengths('NEW').join(' + ')})
       ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes`,
    ),
    [`${name}_removed`]: after(
      'DELETE',
      `UPDATE space_usage SET trace_bytes = trace_bytes - ${lengths('OLD').join(' - ')} WHERE space_key = OLD.space_key`,
    ),
  }
}
