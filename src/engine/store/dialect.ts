import { storedAs } from './schema/ddl.js'
import { TABLES } from './schema/tables.js'
import { type SqlToken, tokenizeSql } from './sql-tokens.js'

/**
 * Translates SQL between the databases. Statements are written once, in the SQL of SQLite. Syntax that differs is
 * rewritten here; functions of SQLite that PostgreSQL lacks belong to its schema (`postgres/schema/functions.ts`). No
 * other code depends on the database. See docs/decisions/0051-one-sql-for-two-databases.md.
 */
export interface Dialect {
  /**
   * Translates a statement for this database, always with the same result for the same text. Values and their order do
   * not change.
   */
  translate(text: string): string
}

/** Columns with "key" in their names that hold text; all others hold row keys. */
const TEXT_KEYS: ReadonlySet<string> = new Set(
  Object.values(TABLES).flatMap(({ columns }) =>
    Object.entries(columns).flatMap(([name, { kind }]) =>
      name.endsWith('_key') && storedAs(kind) === 'TEXT' ? [name] : [],
    ),
  ),
)

/** Translates for PostgreSQL, each text once. */
export function createPostgresDialect(): Dialect {
  const translations = new Map<string, string>()
  return {
    translate(text) {
      let translated = translations.get(text)
      if (translated === undefined) {
        translated = toPostgres(text)
        translations.set(text, translated)
      }
      return translated
    },
  }
}

function toPostgres(text: string): string {
  const all = tokenizeSql(text)
  for (const rewrite of REWRITES) rewrite(all)
  return all.map((token) => token.before + token.text).join('')
}

/** Each changes tokens in place; a removed token has no text. Parameters are numbered last. */
const REWRITES: readonly ((all: SqlToken[]) => void)[] = [
  dropIndexHints,
  rewriteCrossJoins,
  rewriteIs,
  rewriteCalls,
  rewriteJsonEach,
  dropUnaryPlus,
  quoteMixedCase,
  nameSubqueries,
  rewriteInserts,
  qualifyUpdatedColumns,
  numberParameters,
]

function isToken(token: SqlToken | undefined, ...texts: string[]): boolean {
  return token !== undefined && (token.kind === 'word' || token.kind === 'symbol') && texts.includes(token.text)
}

/** INDEXED BY is advice for SQLite's planner. */
function dropIndexHints(all: SqlToken[]): void {
  for (let i = 0; i < all.length; i++) {
    if (!isToken(all[i], 'INDEXED')) continue
    if (isToken(all[i + 1], 'BY')) all.splice(i, 3)
    else if (isToken(all[i - 1], 'NOT')) all.splice(i - 1, 2)
  }
}

/** CROSS JOIN with a condition sets the order in which SQLite reads tables. */
function rewriteCrossJoins(all: SqlToken[]): void {
  const ends = ['CROSS', 'JOIN', 'LEFT', 'WHERE', 'GROUP', 'ORDER', 'UNION', 'LIMIT', ',', ')']
  all.forEach((token, i) => {
    if (!isToken(token, 'CROSS') || !isToken(all[i + 1], 'JOIN')) return
    let j = i + 2
    while (j < all.length && !isToken(all[j], 'ON', ...ends))
      j = isToken(all[j], '(') ? findClosingParenthesis(all, j) + 1 : j + 1
    if (isToken(all[j], 'ON')) token.text = 'INNER'
  })
}

/** SQLite's IS compares any two values; standard SQL allows only NULL, TRUE and FALSE. */
function rewriteIs(all: SqlToken[]): void {
  all.forEach((token, i) => {
    if (!isToken(token, 'IS')) return
    const isNot = isToken(all[i + 1], 'NOT')
    const operand = all[i + (isNot ? 2 : 1)]
    if (isToken(operand, 'NULL', 'TRUE', 'FALSE', 'DISTINCT')) return
    token.text = isNot ? 'IS' : 'IS NOT DISTINCT FROM'
    if (isNot) (all[i + 1] as SqlToken).text = 'DISTINCT FROM'
  })
}

/** Renames functions and types. */
function rewriteCalls(all: SqlToken[]): void {
  all.forEach((token, i) => {
    if (isToken(all[i + 1], '(')) {
      const hasSeveralArguments = hasComma(all, i + 1)
      if (isToken(token, 'max') && hasSeveralArguments) token.text = 'greatest'
      if (isToken(token, 'min') && hasSeveralArguments) token.text = 'least'
      if (isToken(token, 'char')) token.text = 'chr'
    }
    if (isToken(token, 'CAST') && isToken(all[i + 1], '(')) rewriteCast(all, i)
  })
}

/** SQLite's cast to INTEGER reads the number at the start of a text, and never fails. */
function rewriteCast(all: SqlToken[], cast: number): void {
  const end = findClosingParenthesis(all, cast + 1)
  const [call, as, type] = [all[cast], all[end - 2], all[end - 1]]
  if (call === undefined || as === undefined || type === undefined || !isToken(as, 'AS')) return
  if (isToken(type, 'REAL')) type.text = 'double precision'
  if (!isToken(type, 'INTEGER')) return
  call.text = 'as_integer'
  all.splice(end - 2, 2)
}

/** Elements of a JSON list become numbers where they are compared with row keys. */
function rewriteJsonEach(all: SqlToken[]): void {
  all.forEach((token, i) => {
    if (!isToken(token, 'json_each') || !isToken(all[i + 1], '(')) return
    const end = findClosingParenthesis(all, i + 1)
    const argument = all[i + 2]
    if (argument?.kind === 'parameter' && end === i + 3) argument.after = '::text'
    const alias = all[end + 1]
    const column =
      alias?.kind === 'word' && alias.text !== alias.text.toUpperCase()
        ? findComparedColumn(all, alias.text)
        : findListedColumn(all, i)
    if (column !== undefined && isRowKey(column)) token.text = 'json_each_number'
  })
}

function isRowKey(column: string): boolean {
  return (column === 'key' || column.endsWith('_key')) && !TEXT_KEYS.has(column)
}

/** Finds the column that is compared with `alias.value`. */
function findComparedColumn(all: readonly SqlToken[], alias: string): string | undefined {
  for (let i = 0; i < all.length; i++) {
    if (
      !isToken(all[i], alias) ||
      !isToken(all[i + 1], '.') ||
      !isToken(all[i + 2], 'value') ||
      isToken(all[i + 3], '->>')
    )
      continue
    if (isToken(all[i - 1], '=') && all[i - 2]?.kind === 'word') return all[i - 2]?.text
    if (isToken(all[i + 3], '=')) return isToken(all[i + 5], '.') ? all[i + 6]?.text : all[i + 4]?.text
  }
  return undefined
}

/** Finds the column of `column IN (SELECT value FROM json_each(…))`. */
function findListedColumn(all: readonly SqlToken[], each: number): string | undefined {
  if (!isToken(all[each - 1], 'FROM') || !isToken(all[each - 2], 'value') || !isToken(all[each - 3], 'SELECT'))
    return undefined
  const column = isToken(all[each - 6], 'NOT') ? all[each - 7] : all[each - 6]
  return isToken(all[each - 5], 'IN') ? column?.text : undefined
}

/** A unary plus keeps SQLite from using an index; PostgreSQL would look for an operator. */
function dropUnaryPlus(all: SqlToken[]): void {
  for (let i = 0; i < all.length; i++) {
    const before = all[i - 1]
    const isUnary =
      before === undefined ||
      (before.kind === 'symbol' && before.text !== ')') ||
      (before.kind === 'word' && before.text === before.text.toUpperCase() && /[A-Z]/.test(before.text))
    const value = all[i + 1]
    if (!isToken(all[i], '+') || !isUnary || value === undefined || value.kind === 'number') continue
    value.before = all[i]?.before ?? ''
    all.splice(i, 1)
  }
}

/** PostgreSQL lowercases names that are not quoted. */
function quoteMixedCase(all: SqlToken[]): void {
  for (const token of all)
    if (token.kind === 'word' && /[a-z]/.test(token.text) && /[A-Z]/.test(token.text) && !token.text.startsWith('"'))
      token.text = `"${token.text}"`
}

/** PostgreSQL requires a name for a subquery in FROM. */
function nameSubqueries(all: SqlToken[]): void {
  let unnamed = 0
  all.forEach((token, i) => {
    if (!isToken(token, '(') || !isToken(all[i + 1], 'SELECT', 'WITH') || !isToken(all[i - 1], 'FROM', 'JOIN')) return
    const end = findClosingParenthesis(all, i)
    const next = all[end + 1]
    if (next?.kind === 'word' && (isToken(next, 'AS') || next.text !== next.text.toUpperCase())) return
    unnamed += 1
    const last = all[end]
    if (last !== undefined) last.after = ` unnamed_${unnamed}`
  })
}

/** Rewrites INSERT OR IGNORE and INSERT OR REPLACE. */
function rewriteInserts(all: SqlToken[]): void {
  if (!isToken(all[0], 'INSERT') || !isToken(all[1], 'OR')) return
  const table = all[4]?.text ?? ''
  const returning = all.findIndex((token) => isToken(token, 'RETURNING'))
  const last = all[(returning === -1 ? all.length : returning) - 1]
  if (last === undefined) return
  last.after = `${last.after} ON CONFLICT ${isToken(all[2], 'REPLACE') ? buildReplaceClause(all, table) : 'DO NOTHING'}`
  all.splice(1, 2)
}

/** The row is replaced by its primary key; columns that the statement omits are reset to their default. */
function buildReplaceClause(all: readonly SqlToken[], table: string): string {
  const { primary, columns = {} } = TABLES[table] ?? {}
  if (primary === undefined) throw new Error(`the dialect has no rule for INSERT OR REPLACE into ${table}`)
  const insertedColumns = all
    .slice(6, findClosingParenthesis(all, 5))
    .flatMap((token) => (token.kind === 'word' ? [token.text] : []))
  const changed = [...new Set([...insertedColumns, ...Object.keys(columns)])].filter((name) => !primary.includes(name))
  return `(${primary.join(', ')}) DO UPDATE SET ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** In DO UPDATE SET, a column of the existing row is qualified with its table. */
function qualifyUpdatedColumns(all: SqlToken[]): void {
  const set = all.findIndex(
    (token, i) => isToken(token, 'SET') && isToken(all[i - 1], 'UPDATE') && isToken(all[i - 2], 'DO'),
  )
  if (set === -1) return
  const table = all[2]?.text ?? '' // INSERT INTO table
  const isAssigned = (i: number): boolean => isToken(all[i + 1], '=') && isToken(all[i - 1], ',', 'SET')
  const assigned = new Set(all.filter((_, i) => i > set && isAssigned(i)).map((token) => token.text))
  for (let i = set + 1; i < all.length && !isToken(all[i], 'RETURNING'); i++) {
    const token = all[i]
    if (token?.kind === 'word' && assigned.has(token.text) && !isAssigned(i) && !isToken(all[i - 1], '.'))
      token.text = `${table}.${token.text}`
  }
}

/** PostgreSQL cannot infer the type of a value that is only compared with NULL. */
function numberParameters(all: SqlToken[]): void {
  let count = 0
  all.forEach((token, i) => {
    if (token.kind === 'parameter') {
      count += 1
      token.text = `$${count}${isToken(all[i + 1], 'IS') && token.after === '' ? '::text' : ''}`
    }
    token.text += token.after
  })
}

/** Index of the parenthesis that closes the one at index `open`. */
function findClosingParenthesis(all: readonly SqlToken[], open: number): number {
  let depth = 0
  for (let i = open; i < all.length; i++) {
    if (isToken(all[i], '(')) depth += 1
    if (isToken(all[i], ')')) depth -= 1
    if (depth === 0) return i
  }
  return all.length
}

/** Whether the parenthesis at index `open` contains several values. */
function hasComma(all: readonly SqlToken[], open: number): boolean {
  for (let i = open + 1, end = findClosingParenthesis(all, open); i < end; i++) {
    if (isToken(all[i], '(')) i = findClosingParenthesis(all, i)
    else if (isToken(all[i], ',')) return true
  }
  return false
}
