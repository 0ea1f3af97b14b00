import Sqlite from 'better-sqlite3'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { sqliteSchema } from '../../src/engine/store/schema/sqlite.js'
import { filesBelow, readFile, STATEMENT_FOLDERS } from './tree.js'

/**
 * Statements without a tenant, by reason: the file in a folder `rows` or in `store` and the start of the statement. No request reaches them
 * with an id of its own.
 */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'a check before the store opens: whether its database knows all objects': [
    'store/store-identity.ts: SELECT sha256 FROM objects',
  ],
  'a sweep over due, expired, deleted or abandoned rows of all tenants': [
    "chat/annotation-jobs.ts: UPDATE chat_annotation_jobs SET status = 'error'",
    "chat/conversations.ts: UPDATE chat_messages SET status = 'error'",
    'bundles/imports.ts: UPDATE spaces SET imported_by = NULL, deleted_at = 0 WHERE imported_by IS NOT NULL',
    'chat/files.ts: SELECT f.id, f.tenant',
    'chat/turns.ts: DELETE FROM chat_turn_requests WHERE gateway NOT IN',
    'idempotency.ts: SELECT tenant, subject, key',
    'objects.ts: UPDATE objects SET touched_at = 0',
    'objects.ts: SELECT * FROM objects INDEXED BY objects_loose',
    'job-claims.ts: UPDATE jobs INDEXED BY jobs_claimed',
    'transcripts.ts: UPDATE jobs SET run_after = 0 WHERE completed_at IS NULL',
    'purge/sessions.ts: SELECT tenant, id',
    'purge/sessions.ts: SELECT 1 one FROM chat_files',
    'purge/spaces.ts: SELECT key, id, tenant, deleted_at',
    'purge/workspaces.ts: SELECT tenant, id',
    'quality/clusters.ts: SELECT DISTINCT space_key',
    'quality/golden-runs.ts: UPDATE golden_runs SET error = ',
    'research/claims.ts: UPDATE research_tasks SET claimed_by = NULL, unclean_ends',
    'source-syncs.ts: UPDATE sources SET status = CASE',
    'source-syncs.ts: SELECT * FROM sources WHERE next_sync_at > ?',
    'staged-commits.ts: UPDATE staged_commits INDEXED BY staged_commits_unacknowledged',
    "staged-commits.ts: UPDATE staged_commits SET status = 'failed-terminal', updated_at = ? WHERE status",
  ],
  'a gateway reads its own claims, of all tenants': [
    'chat/turns.ts: SELECT tenant, message_id, stop',
    "chat/turns.ts: SELECT id FROM chat_messages WHERE status = 'running' AND claimed_by = ?",
  ],
  'a count or starting point of the complete deployment': [
    'budgets.ts: SELECT counter, sum(used) used',
    'job-claims.ts: SELECT space_key, count(*) n FROM jobs INDEXED BY jobs_claimed',
    'jobs.ts: SELECT count(*) n FROM jobs WHERE completed_at IS NULL',
    'metrics.ts: SELECT stage, count(*) n FROM jobs WHERE completed_at IS NULL',
    'jobs.ts: SELECT 1 one FROM jobs INDEXED BY jobs_claimed',
    'research/tasks.ts: SELECT count(*) n FROM research_tasks WHERE completed_at IS NULL',
    'spaces.ts: SELECT key FROM spaces WHERE deleted_at IS NULL',
    'warm-up.ts: SELECT id FROM spaces',
    'store/store-identity.ts: SELECT 1 one FROM spaces LIMIT 1',
    'store/open-objects.ts: SELECT id, opened',
  ],
  'the indexes identify a space by its id only: an imported id must be unused': [
    'bundles/imports.ts: SELECT tenant, deleted_at IS NOT NULL',
  ],
  'the search indexes identify a space by its id, and the query returns its tenant': [
    'spaces.ts: SELECT tenant FROM spaces WHERE id = ?',
  ],
  'the key of an object starts with a digest of its tenant': [
    'objects.ts: SELECT (EXISTS (SELECT 1 FROM documents WHERE object_key = wanted.key',
  ],
  'the condition is one of two, by space or by tenant': ['research/history.ts: SELECT t.tenant, t.id'],
  'a statement with a list of row keys': [
    'job-claims.ts: SELECT count(*) n FROM jobs WHERE claimed_by = ?',
    'job-claims.ts: UPDATE jobs SET claimed_by = NULL WHERE claimed_by = ?',
  ],
  'the rows are in a range of row keys of one space': ['index-rows.ts: SELECT nodes.key'],
  'compilation continues from a claimed job, and uses the ids of the job and its commit': [
    "hide-documents.ts: UPDATE jobs SET stage = 'canceled'",
    'jobs.ts: SELECT completed_at, waits > 0',
    'jobs.ts: UPDATE jobs SET stage = ?, error = ?',
    'staged-commits.ts: UPDATE staged_commits SET status = ?, updated_at = ?',
    'staged-commits.ts: UPDATE staged_commits SET resume_status',
    'staged-commits.ts: UPDATE staged_commits SET status = resume_status',
    'staged-commits.ts: UPDATE staged_commits SET status = ?, error_code = ?',
    "staged-commits.ts: UPDATE staged_commits SET status = 'failed-terminal', error_code = ?",
    "staged-commits.ts: UPDATE staged_commits SET status = 'failed-terminal', updated_at = ? WHERE id = ?",
  ],
}
const SAID = Object.values(EXCEPTIONS).flat()

interface Found {
  file: string
  table: string
  text: string
}

/** The tables with a tenant. */
function tenantTables(): string[] {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(sqliteSchema())
  return sqlite
    .prepare<[], { name: string }>(
      `SELECT m.name FROM sqlite_schema m WHERE m.type = 'table'
         AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = 'tenant')`,
    )
    .all()
    .map(({ name }) => name)
}

/** A text, or a template with the constants of its file filled in. */
function textOf(node: ts.Expression, constants: ReadonlyMap<string, string>): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.templateSpans.reduce(
    (text, { expression, literal }) => text + (constants.get(expression.getText()) ?? ' ? ') + literal.text,
    node.head.text,
  )
}

/** The statements of a file. */
function statementsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFile(file), ts.ScriptTarget.Latest, true)
  const constants = new Map<string, string>()
  const statements: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
      const text = textOf(node.initializer, constants)
      if (text !== undefined) constants.set(node.name.getText(), text)
    }
    const text = ts.isExpression(node) ? textOf(node, constants) : undefined
    if (text === undefined) ts.forEachChild(node, visit)
    else if (/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)) statements.push(text.replace(/\s+/g, ' ').trim())
  }
  visit(source)
  return statements
}

const NO_ALIAS = 'SET|ON|WHERE|JOIN|CROSS|LEFT|INDEXED|ORDER|LIMIT|GROUP|UNION|RETURNING'

/** Whether a statement restricts the rows of a table to a tenant, or reaches them by a row key. */
function isBound(text: string, table: string): boolean {
  const inserted = new RegExp(`INTO ${table} \\(([^)]*)\\)`).exec(text)
  if (inserted !== null) return /\btenant\b/.test(inserted[1] ?? '')
  const uses = text.matchAll(new RegExp(`(?:FROM|JOIN|UPDATE) ${table}\\b(?: (?!(?:${NO_ALIAS})\\b)(\\w+))?`, 'g'))
  return [...uses].every(([, alias]) => {
    const name = alias === undefined ? `(?:${table}\\.|(?<![\\w.]))` : `(?:${alias}\\.|(?<![\\w.]))`
    const column = '(?:tenant|key|space_key|doc_key)'
    const compared = `${name}${column}\\)? (?:=|IN\\b|<|>|BETWEEN)`
    return new RegExp(`${compared}|= ${name}${column}\\b|\\(tenant, \\w+\\) (?:=|IN)`).test(text)
  })
}

const TABLES = tenantTables()
const UNBOUND: Found[] = STATEMENT_FOLDERS.flatMap(filesBelow)
  .filter((file) => !file.includes('/migrations/'))
  .flatMap((file) =>
    statementsOf(file).flatMap((text) =>
      TABLES.filter((table) => new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE) ${table}\\b`).test(text))
        .filter((table) => !isBound(text, table))
        .map((table) => ({ file, table, text })),
    ),
  )

const nameOf = ({ file, text }: Found): string => `${file.replace(/^src\/engine\/(?:\w+\/rows\/)?/, '')}: ${text}`

describe('an SQL statement on a table with a tenant', () => {
  it('names the tenant, or a row key from a row of the tenant, or has a listed reason', () => {
    const unsaid = UNBOUND.filter((found) => !SAID.some((said) => nameOf(found).startsWith(said)))
    expect(unsaid.map((found) => `${found.table}: ${nameOf(found)}`)).toEqual([])
  })

  it('exists for every exception that is listed with a reason', () => {
    expect(SAID.filter((said) => !UNBOUND.some((found) => nameOf(found).startsWith(said)))).toEqual([])
  })

  it('counts as not bound to a tenant if its tenant condition is removed', () => {
    expect(isBound('SELECT id FROM chat_messages WHERE tenant = ? AND id = ?', 'chat_messages')).toBe(true)
    expect(isBound('SELECT id FROM chat_messages WHERE id = ?', 'chat_messages')).toBe(false)
    expect(isBound('INSERT INTO chat_keys (tenant, id) VALUES (?, ?)', 'chat_keys')).toBe(true)
    expect(isBound('INSERT INTO chat_keys (id) VALUES (?)', 'chat_keys')).toBe(false)
    const joined = 'SELECT 1 FROM chat_message_files m JOIN chat_files f ON f.id = m.file_id WHERE m.tenant = ?'
    expect(isBound(joined, 'chat_message_files')).toBe(true)
    expect(isBound(joined, 'chat_files')).toBe(false)
    expect(isBound(joined.replace('ON f.id', 'ON f.tenant = m.tenant AND f.id'), 'chat_files')).toBe(true)
  })
})
