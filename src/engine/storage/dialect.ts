import { storedAs } from './schema/ddl.js'
import { TABLES } from './schema/tables.js'
import { type Token, tokens } from './sql-tokens.js'

/**
 * What the databases that the statements run on say differently. The statements are written once, in the SQL of SQLite;
 * what is syntax is rewritten here, and functions of SQLite that PostgreSQL lacks are a part of the schema there
 * (`postgres/schema/functions.ts`). Nothing else knows of it. See docs/decisions/0051-one-sql-for-two-databases.md.
 */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** A statement as this database takes it; the same text always becomes the same. Its values stay as they are, in their order. */
  translate(text: string): string
}

/** Columns with "key" in their names that contain text; all others contain row keys. */
const TEXT_KEYS: ReadonlySet<string> = new Set(
  Object.values(TABLES).flatMap(({ columns }) =>
    Object.entries(columns).flatMap(([name, { kind }]) =>
      name.endsWith('_key') && storedAs(kind) === 'TEXT' ? [name] : [],
    ),
  ),
)

/** Statements of SQLite as they are written. */
export const SQLITE: Dialect = { name: 'sqlite', translate: (text) => text }

/** Rewrites for PostgreSQL, once for each text. */
export function postgresDialect(): Dialect {
  const known = new Map<string, string>()
  return {
    name: 'postgres',
    translate(text) {
      let translated = known.get(text)
      if (translated === undefined) {
        translated = toPostgres(text)
        known.set(text, translated)
      }
      return translated
    },
  }
}

function toPostgres(text: string): string {
  const all = tokens(text)
  for (const rewrite of REWRITES) rewrite(all)
  return all.map((token) => token.before + token.text).join('')
}

/** Each changes tokens in place; one that is taken out has no text. The numbers of parameters come last. */
const REWRITES: readonly ((all: Token[]) => void)[] = [
  hints,
  joins,
  comparisons,
  calls,
  members,
  signs,
  names,
  subqueries,
  inserts,
  updates,
  parameters,
]

function is(token: Token | undefined, ...texts: string[]): boolean {
  return token !== undefined && (token.kind === 'word' || token.kind === 'symbol') && texts.includes(token.text)
}

/** INDEXED BY is advice for SQLite's planner. */
function hints(all: Token[]): void {
  for (let i = 0; i < all.length; i++) {
    if (!is(all[i], 'INDEXED')) continue
    if (is(all[i + 1], 'BY')) all.splice(i, 3)
    else if (is(all[i - 1], 'NOT')) all.splice(i - 1, 2)
  }
}

/** CROSS JOIN with a condition is SQLite's way to say in which order tables are read. */
function joins(all: Token[]): void {
  const ends = ['CROSS', 'JOIN', 'LEFT', 'WHERE', 'GROUP', 'ORDER', 'UNION', 'LIMIT', ',', ')']
  all.forEach((token, i) => {
    if (!is(token, 'CROSS') || !is(all[i + 1], 'JOIN')) return
    let j = i + 2
    while (j < all.length && !is(all[j], 'ON', ...ends)) j = is(all[j], '(') ? closing(all, j) + 1 : j + 1
    if (is(all[j], 'ON')) token.text = 'INNER'
  })
}

/** IS compares any two values in SQLite; elsewhere only with NULL, TRUE and FALSE. */
function comparisons(all: Token[]): void {
  all.forEach((token, i) => {
    if (!is(token, 'IS')) return
    const isNot = is(all[i + 1], 'NOT')
    const compared = all[i + (isNot ? 2 : 1)]
    if (is(compared, 'NULL', 'TRUE', 'FALSE', 'DISTINCT')) return
    token.text = isNot ? 'IS' : 'IS NOT DISTINCT FROM'
    if (isNot) (all[i + 1] as Token).text = 'DISTINCT FROM'
  })
}

/** Functions of other names, and types. */
function calls(all: Token[]): void {
  all.forEach((token, i) => {
    if (is(all[i + 1], '(')) {
      const isOfSeveral = hasComma(all, i + 1)
      if (is(token, 'max') && isOfSeveral) token.text = 'greatest'
      if (is(token, 'min') && isOfSeveral) token.text = 'least'
      if (is(token, 'char')) token.text = 'chr'
    }
    if (is(token, 'CAST') && is(all[i + 1], '(')) casts(all, i)
  })
}

/** A cast to INTEGER takes what is a number at the beginning of a text, and never fails. */
function casts(all: Token[], cast: number): void {
  const end = closing(all, cast + 1)
  const [call, as, type] = [all[cast], all[end - 2], all[end - 1]]
  if (call === undefined || as === undefined || type === undefined || !is(as, 'AS')) return
  if (is(type, 'REAL')) type.text = 'double precision'
  if (!is(type, 'INTEGER')) return
  call.text = 'as_integer'
  all.splice(end - 2, 2)
}

/** The elements of a list that is given as JSON: numbers where they are compared with row keys. */
function members(all: Token[]): void {
  all.forEach((token, i) => {
    if (!is(token, 'json_each') || !is(all[i + 1], '(')) return
    const end = closing(all, i + 1)
    const given = all[i + 2]
    if (given?.kind === 'parameter' && end === i + 3) given.after = '::text'
    const alias = all[end + 1]
    const compared =
      alias?.kind === 'word' && alias.text !== alias.text.toUpperCase() ? comparedWith(all, alias.text) : listed(all, i)
    if (compared !== undefined && isRowKey(compared)) token.text = 'json_each_number'
  })
}

function isRowKey(column: string): boolean {
  return (column === 'key' || column.endsWith('_key')) && !TEXT_KEYS.has(column)
}

/** The column that `alias.value` is compared with. */
function comparedWith(all: readonly Token[], alias: string): string | undefined {
  for (let i = 0; i < all.length; i++) {
    if (!is(all[i], alias) || !is(all[i + 1], '.') || !is(all[i + 2], 'value') || is(all[i + 3], '->>')) continue
    if (is(all[i - 1], '=') && all[i - 2]?.kind === 'word') return all[i - 2]?.text
    if (is(all[i + 3], '=')) return is(all[i + 5], '.') ? all[i + 6]?.text : all[i + 4]?.text
  }
  return undefined
}

/** The column of `column IN (SELECT value FROM json_each(…))`. */
function listed(all: readonly Token[], each: number): string | undefined {
  if (!is(all[each - 1], 'FROM') || !is(all[each - 2], 'value') || !is(all[each - 3], 'SELECT')) return undefined
  const column = is(all[each - 6], 'NOT') ? all[each - 7] : all[each - 6]
  return is(all[each - 5], 'IN') ? column?.text : undefined
}

/** A sign before a value keeps SQLite from using an index; PostgreSQL would look for an operator. */
function signs(all: Token[]): void {
  for (let i = 0; i < all.length; i++) {
    const before = all[i - 1]
    const isUnary =
      before === undefined ||
      (before.kind === 'symbol' && before.text !== ')') ||
      (before.kind === 'word' && before.text === before.text.toUpperCase() && /[A-Z]/.test(before.text))
    const value = all[i + 1]
    if (!is(all[i], '+') || !isUnary || value === undefined || value.kind === 'number') continue
    value.before = all[i]?.before ?? ''
    all.splice(i, 1)
  }
}

/** PostgreSQL folds names that are not quoted. */
function names(all: Token[]): void {
  for (const token of all)
    if (token.kind === 'word' && /[a-z]/.test(token.text) && /[A-Z]/.test(token.text) && !token.text.startsWith('"'))
      token.text = `"${token.text}"`
}

/** A subquery that rows come from has a name. */
function subqueries(all: Token[]): void {
  let unnamed = 0
  all.forEach((token, i) => {
    if (!is(token, '(') || !is(all[i + 1], 'SELECT', 'WITH') || !is(all[i - 1], 'FROM', 'JOIN')) return
    const end = closing(all, i)
    const next = all[end + 1]
    if (next?.kind === 'word' && (is(next, 'AS') || next.text !== next.text.toUpperCase())) return
    unnamed += 1
    const last = all[end]
    if (last !== undefined) last.after = ` unnamed_${unnamed}`
  })
}

/** INSERT OR IGNORE and INSERT OR REPLACE. */
function inserts(all: Token[]): void {
  if (!is(all[0], 'INSERT') || !is(all[1], 'OR')) return
  const table = all[4]?.text ?? ''
  const returning = all.findIndex((token) => is(token, 'RETURNING'))
  const last = all[(returning === -1 ? all.length : returning) - 1]
  if (last === undefined) return
  last.after = `${last.after} ON CONFLICT ${is(all[2], 'REPLACE') ? replacement(all, table) : 'DO NOTHING'}`
  all.splice(1, 2)
}

/** The row is replaced by its primary key; columns that the statement does not name get their default again. */
function replacement(all: readonly Token[], table: string): string {
  const { primary, columns = {} } = TABLES[table] ?? {}
  if (primary === undefined) throw new Error(`the dialect does not know how rows of ${table} are replaced`)
  const named = all.slice(6, closing(all, 5)).flatMap((token) => (token.kind === 'word' ? [token.text] : []))
  const changed = [...new Set([...named, ...Object.keys(columns)])].filter((name) => !primary.includes(name))
  return `(${primary.join(', ')}) DO UPDATE SET ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** In DO UPDATE SET a column of the row that is there is named with its table. */
function updates(all: Token[]): void {
  const set = all.findIndex((token, i) => is(token, 'SET') && is(all[i - 1], 'UPDATE') && is(all[i - 2], 'DO'))
  if (set === -1) return
  const table = all[2]?.text ?? '' // INSERT INTO table
  const isAssigned = (i: number): boolean => is(all[i + 1], '=') && is(all[i - 1], ',', 'SET')
  const assigned = new Set(all.filter((_, i) => i > set && isAssigned(i)).map((token) => token.text))
  for (let i = set + 1; i < all.length && !is(all[i], 'RETURNING'); i++) {
    const token = all[i]
    if (token?.kind === 'word' && assigned.has(token.text) && !isAssigned(i) && !is(all[i - 1], '.'))
      token.text = `${table}.${token.text}`
  }
}

/** A value that is only compared with NULL has no type. */
function parameters(all: Token[]): void {
  let count = 0
  all.forEach((token, i) => {
    if (token.kind === 'parameter') {
      count += 1
      token.text = `$${count}${is(all[i + 1], 'IS') && token.after === '' ? '::text' : ''}`
    }
    token.text += token.after
  })
}

/** The place of the parenthesis that closes the one at `open`. */
function closing(all: readonly Token[], open: number): number {
  let depth = 0
  for (let i = open; i < all.length; i++) {
    if (is(all[i], '(')) depth += 1
    if (is(all[i], ')')) depth -= 1
    if (depth === 0) return i
  }
  return all.length
}

/** Whether the parenthesis at `open` holds several values. */
function hasComma(all: readonly Token[], open: number): boolean {
  for (let i = open + 1, end = closing(all, open); i < end; i++) {
    if (is(all[i], '(')) i = closing(all, i)
    else if (is(all[i], ',')) return true
  }
  return false
}
