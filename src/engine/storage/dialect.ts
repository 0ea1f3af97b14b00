import { type Token, tokens } from './sql-tokens.js'

/**
 * Translates SQL between the databases. Statements are written once, in the SQL of SQLite. Syntax that differs is
 * rewritten here; functions of SQLite that PostgreSQL lacks belong to its schema (`postgres/schema/functions.ts`). No
 * other code depends on the database. See docs/decisions/0051-one-sql-for-two-databases.md.
 */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /**
   * Translates a statement for this database, always with the same result for the same text. Values and their order do
   * not change.
   */
  translate(text: string): string
}

/** Conflict target of a table that INSERT OR REPLACE writes, and columns that such a statement omits. */
interface Replaced {
  key: readonly string[]
  /** columns that are reset to their default */
  reset?: readonly string[]
}

const REPLACED: Readonly<Record<string, Replaced>> = {
  conflict_claims: { key: ['version_key'] },
  conflict_verdicts: { key: ['space_key', 'pair'] },
  embedding_migration_refusals: { key: ['space_key', 'node_key'] },
  gc_outcomes: { key: ['space_key', 'idempotency_key', 'target'] },
  graph_model_reads: { key: ['node_key', 'model'] },
  graph_scans: { key: ['space_key'] },
  graph_versions: { key: ['version_key'] },
  idempotency: { key: ['tenant', 'subject', 'key'], reset: ['status', 'headers', 'body'] },
  page_index: { key: ['version_key'] },
  picture_descriptions: { key: ['doc_key', 'model', 'picture'] },
  picture_readings: { key: ['doc_key'] },
  revoked_tokens: { key: ['jti'] },
  semantic_builds: { key: ['space_key', 'kind'] },
  semantic_reports: { key: ['view_key'] },
  vector_refusals: { key: ['space_key', 'node_key'] },
}

/** Columns with "key" in their names that hold text; all others hold row keys. */
const TEXT_KEYS: ReadonlySet<string> = new Set([
  'alias_key',
  'canonical_key',
  'cluster_key',
  'idempotency_key',
  'item_key',
  'object_key',
  'published_object_key',
  'query_key',
])

/** Leaves statements as they are. */
export const SQLITE: Dialect = { name: 'sqlite', translate: (text) => text }

/** Translates for PostgreSQL, each text once. */
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

/** Each changes tokens in place; a removed token has no text. Parameters are numbered last. */
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

/** CROSS JOIN with a condition sets the order in which SQLite reads tables. */
function joins(all: Token[]): void {
  const ends = ['CROSS', 'JOIN', 'LEFT', 'WHERE', 'GROUP', 'ORDER', 'UNION', 'LIMIT', ',', ')']
  all.forEach((token, i) => {
    if (!is(token, 'CROSS') || !is(all[i + 1], 'JOIN')) return
    let j = i + 2
    while (j < all.length && !is(all[j], 'ON', ...ends)) j = is(all[j], '(') ? closing(all, j) + 1 : j + 1
    if (is(all[j], 'ON')) token.text = 'INNER'
  })
}

/** SQLite's IS compares any two values; standard SQL allows only NULL, TRUE and FALSE. */
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

/** Renames functions and types. */
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

/** SQLite's cast to INTEGER reads the number at the start of a text, and never fails. */
function casts(all: Token[], cast: number): void {
  const end = closing(all, cast + 1)
  const [call, as, type] = [all[cast], all[end - 2], all[end - 1]]
  if (call === undefined || as === undefined || type === undefined || !is(as, 'AS')) return
  if (is(type, 'REAL')) type.text = 'double precision'
  if (!is(type, 'INTEGER')) return
  call.text = 'as_integer'
  all.splice(end - 2, 2)
}

/** Elements of a JSON list become numbers where they are compared with row keys. */
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

/** Finds the column that is compared with `alias.value`. */
function comparedWith(all: readonly Token[], alias: string): string | undefined {
  for (let i = 0; i < all.length; i++) {
    if (!is(all[i], alias) || !is(all[i + 1], '.') || !is(all[i + 2], 'value') || is(all[i + 3], '->>')) continue
    if (is(all[i - 1], '=') && all[i - 2]?.kind === 'word') return all[i - 2]?.text
    if (is(all[i + 3], '=')) return is(all[i + 5], '.') ? all[i + 6]?.text : all[i + 4]?.text
  }
  return undefined
}

/** Finds the column of `column IN (SELECT value FROM json_each(…))`. */
function listed(all: readonly Token[], each: number): string | undefined {
  if (!is(all[each - 1], 'FROM') || !is(all[each - 2], 'value') || !is(all[each - 3], 'SELECT')) return undefined
  const column = is(all[each - 6], 'NOT') ? all[each - 7] : all[each - 6]
  return is(all[each - 5], 'IN') ? column?.text : undefined
}

/** A unary plus keeps SQLite from using an index; PostgreSQL would look for an operator. */
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

/** PostgreSQL lowercases names that are not quoted. */
function names(all: Token[]): void {
  for (const token of all)
    if (token.kind === 'word' && /[a-z]/.test(token.text) && /[A-Z]/.test(token.text) && !token.text.startsWith('"'))
      token.text = `"${token.text}"`
}

/** PostgreSQL requires a name for a subquery in FROM. */
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

/** Rewrites INSERT OR IGNORE and INSERT OR REPLACE. */
function inserts(all: Token[]): void {
  if (!is(all[0], 'INSERT') || !is(all[1], 'OR')) return
  const table = all[4]?.text ?? ''
  const returning = all.findIndex((token) => is(token, 'RETURNING'))
  const last = all[(returning === -1 ? all.length : returning) - 1]
  if (last === undefined) return
  last.after = `${last.after} ON CONFLICT ${is(all[2], 'REPLACE') ? replacement(all, table) : 'DO NOTHING'}`
  all.splice(1, 2)
}

function replacement(all: readonly Token[], table: string): string {
  const of = REPLACED[table]
  if (of === undefined) throw new Error(`the dialect has no rule for INSERT OR REPLACE into ${table}`)
  const named = all.slice(6, closing(all, 5)).filter((token) => token.kind === 'word')
  const columns = [...named.map((token) => token.text), ...(of.reset ?? [])].filter((name) => !of.key.includes(name))
  return `(${of.key.join(', ')}) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** In DO UPDATE SET, a column of the existing row is qualified with its table. */
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

/** PostgreSQL cannot infer the type of a value that is only compared with NULL. */
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

/** Index of the parenthesis that closes the one at index `open`. */
function closing(all: readonly Token[], open: number): number {
  let depth = 0
  for (let i = open; i < all.length; i++) {
    if (is(all[i], '(')) depth += 1
    if (is(all[i], ')')) depth -= 1
    if (depth === 0) return i
  }
  return all.length
}

/** Whether the parenthesis at index `open` contains several values. */
function hasComma(all: readonly Token[], open: number): boolean {
  for (let i = open + 1, end = closing(all, open); i < end; i++) {
    if (is(all[i], '(')) i = closing(all, i)
    else if (is(all[i], ',')) return true
  }
  return false
}
