import type { IntegrityTarget } from '../../contract/gateway/integrity.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import { quotesKnown } from '../rows/quotes.js'
import { TABLE_FORMATS } from '../storage/format-tables.js'
import { hasForm, type TableFormat, wrongWith } from '../storage/formats.js'
import type { Bindable } from '../storage/program.js'
import { type Read, sql } from '../storage/program.js'
import { type Finding, finding, type Remedy, type Scan } from './findings.js'
import { type Phase, SLICE_FINDINGS, type Slice } from './phase.js'

/** at most one finding for a row */
const SLICE_ROWS = SLICE_FINDINGS
/** Bytes that other checks read and compare with their hashes. */
const CHECKED_ELSEWHERE: ReadonlySet<unknown> = new Set(['packed', 'object-bytes', 'vector', 'bytes'])
/** Tables whose rows quote documents. */
const QUOTING: ReadonlySet<string> = new Set(['golden_questions', 'failed_queries'])
/** Columns by which a row is named, best first. */
const NAMES = ['id', 'key', 'jti']
const TARGETS: Readonly<Record<string, IntegrityTarget['type']>> = {
  documents: 'raw-object',
  versions: 'artifact-object',
  item_assets: 'artifact-segment',
  nodes: 'knowledge-node',
  staged_commits: 'staged-commit',
  vectors: 'index-projection',
}
/** Columns that reading the document again writes anew. */
const READ_AGAIN: Readonly<Record<string, readonly string[]>> = {
  versions: ['artifact_hash'],
  nodes: ['section', 'elements', 'kind', 'page', 'start_offset', 'end_offset', 'row_hash'],
}
const ADVICE =
  'take the row from a backup, or delete what it describes: `sqlite3` on the database of a stopped daemon shows what is left of it'

type Row = Record<string, unknown>

/** Every row of a table of the space, or of its tenant: each column has the format that `format-tables.ts` names. */
function tablePhase(name: string, table: TableFormat): Phase {
  const columns = Object.entries(table.columns).filter(([, { kind }]) => !CHECKED_ELSEWHERE.has(kind))
  return async (scan, after) => {
    const place = scan.context.db.now(placeOf(name))
    const rows = scan.context.db.now(
      readRows(scan, { name, table, place, columns: columns.map(([column]) => column) }, after),
    )
    const findings: Finding[] = []
    for (const row of rows) {
      if (row['is_own'] !== 1 || row['is_known'] !== 1) continue
      const wrong = columns.flatMap(([column, { kind, optional }]) => {
        const value = row[column]
        const what = value === null ? (optional ? undefined : 'is missing') : wrongWith(kind, value)
        return what === undefined ? [] : [{ column, what }]
      })
      if (wrong.length > 0) findings.push(scan.context.db.now(damaged(name, table, row, place, wrong)))
    }
    return sliceAfter(rows, place, findings, after)
  }
}

function* damaged(
  name: string,
  table: TableFormat,
  row: Row,
  place: string[],
  wrong: { column: string; what: string }[],
): Read<Finding> {
  const named = NAMES.find((column) => column in row)
  const id = named === undefined ? place.map((column) => String(row[column])).join(' ') : String(row[named])
  const target = { type: TARGETS[name] ?? 'knowledge-path', id, ...(yield* documentOf(name, row)) } as const
  const message = `row ${JSON.stringify(id)} of table ${name} is damaged: ${wrong.map(({ column, what }) => `column ${column} ${what}`).join(', ')}`
  const versionKey = row[name === 'nodes' ? 'version_key' : 'key']
  const isReadAgain = wrong.every(({ column }) => READ_AGAIN[name]?.includes(column))
  const remedy: Remedy =
    isReadAgain && typeof versionKey === 'number'
      ? { by: 'reading-again', versionKey }
      : { by: 'person', advice: ADVICE }
  return finding(table.derived ? 'segment-hash-mismatch' : 'checksum-mismatch', 'row-damaged', message, target, remedy)
}

/** The document that a row was made of, by which it is decided who may know of it. */
function* documentOf(name: string, row: Row): Read<{ documentAssetId?: string }> {
  if (name === 'documents') return { documentAssetId: String(row['id']) }
  const key = row['doc_key']
  if (typeof key !== 'number') return {}
  const [owner] = yield* sql.allAsStored<{ id: string }>('SELECT id FROM documents WHERE key = ?', [key])
  return owner === undefined ? {} : { documentAssetId: owner.id }
}

/** The columns that order a table's rows: `rowid`, or the primary key of a table without. */
function* placeOf(name: string): Read<string[]> {
  const [kind] = yield* sql.allAsStored<{ wr: number }>('SELECT wr FROM pragma_table_list(?)', [name])
  if (kind?.wr !== 1) return ['rowid']
  return (yield* sql.allAsStored<{ name: string }>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', [
    name,
  ])).map((column) => column.name)
}

interface Reading {
  name: string
  table: TableFormat
  place: string[]
  columns: string[]
}

/** The next rows of the whole table: a slice costs the same, however few of them are the space's. */
function* readRows(
  { space, reader }: Scan,
  { name, table, place, columns }: Reading,
  after: string | number | undefined,
): Read<Row[]> {
  const wanted = [...new Set([...place, ...columns])].map((column) => (column === 'rowid' ? 'rowid AS rowid' : column))
  const from = after === undefined ? undefined : placeIn(String(after))
  const inOrder = `(${place.join(', ')})`
  const known = knownSql(name, table)
  return yield* sql.allAsStored<Row>(
    `WITH here AS (SELECT ? space, ? tenant)
     SELECT t.*, (${table.owned}) IS TRUE is_own, (${known}) is_known
     FROM (SELECT ${wanted.join(', ')} FROM ${name}
           ${from === undefined ? '' : `WHERE ${inOrder} > (${place.map(() => '?').join(', ')})`}
           ORDER BY ${place.join(', ')} LIMIT ${SLICE_ROWS}) t CROSS JOIN here ORDER BY ${place.map((c) => `t.${c}`).join(', ')}`,
    [space.key, space.tenant, ...(known.includes('?') ? [askerOf(reader)] : []), ...(from ?? [])],
  )
}

function knownSql(name: string, { source }: TableFormat): string {
  if (QUOTING.has(name)) return quotesKnown('t.id')
  return source === undefined ? '1' : mayKnow(`t.${source}`)
}

function placeIn(after: string): Bindable[] {
  const values: unknown = JSON.parse(after)
  return Array.isArray(values)
    ? values.filter((value): value is string | number => typeof value === 'string' || typeof value === 'number')
    : []
}

function sliceAfter(rows: Row[], place: string[], findings: Finding[], after: string | number | undefined): Slice {
  const last = rows.at(-1)
  if (rows.length < SLICE_ROWS || last === undefined) return { scanned: rows.length, findings }
  const next = JSON.stringify(place.map((column) => last[column]))
  // a key that is not text any more reads as another: the rows behind it cannot be reached by it
  return { scanned: rows.length, findings, ...(next === after ? {} : { next }) }
}

/** One for each table with a column whose form can be wrong. */
export const rowPhases: Phase[] = Object.entries(TABLE_FORMATS)
  .filter(([, table]) => Object.values(table.columns).some(({ kind }) => hasForm(kind)))
  .map(([name, table]) => tablePhase(name, table))
