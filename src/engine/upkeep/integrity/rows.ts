import type { IntegrityTarget } from '../../../contract/gateway/integrity.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { TABLE_FORMATS } from '../../store/format-tables.js'
import { type ColumnFormat, findFormatProblem, hasFormat, type TableColumnFormats } from '../../store/formats.js'
import type { Bindable, Read } from '../../store/program.js'
import {
  type AnyRow,
  findDocumentId,
  getOrderColumns,
  listTableRows,
  type OrderedTable,
} from '../rows/integrity/tables.js'
import { createFinding, type IntegrityFinding, type IntegrityScan, type RepairRemedy } from './findings.js'
import { MAX_SLICE_FINDINGS, type ScanPhase, type ScanPosition, type ScanSlice } from './phase.js'

/** at most one finding for a row */
const SLICE_ROWS = MAX_SLICE_FINDINGS
/** Bytes that other checks read and compare with their hashes. */
const CHECKED_ELSEWHERE: ReadonlySet<unknown> = new Set(['packed', 'object-bytes', 'vector', 'bytes'])
/** Columns that identify a row, best first. */
const ID_COLUMNS = ['id', 'key', 'jti']
const TARGETS: Readonly<Record<string, IntegrityTarget['type']>> = {
  documents: 'raw-object',
  versions: 'artifact-object',
  item_assets: 'artifact-segment',
  nodes: 'knowledge-node',
  staged_commits: 'staged-commit',
  vectors: 'index-projection',
}
/** Columns that reading the document again rewrites. */
const REREAD_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  versions: ['artifact_hash'],
  nodes: ['section', 'elements', 'kind', 'page', 'start_offset', 'end_offset', 'row_hash'],
}
const ADVICE =
  'restore the row from a backup, or delete what it describes: `sqlite3` on the database of a stopped daemon shows its remaining content'

/**
 * Checks every row of a table of the space, or of its tenant: each column must have the format in `format-tables.ts`.
 */
function createTablePhase(name: string, table: TableColumnFormats): ScanPhase {
  const columns = Object.entries(table.columns).filter(([, { kind }]) => !CHECKED_ELSEWHERE.has(kind))
  const selection = { name, table, columns: columns.map(([column]) => column) }
  return (scan, after) => scan.context.db.read(checkRows(scan, selection, columns, after))
}

function* checkRows(
  scan: IntegrityScan,
  selection: Omit<OrderedTable, 'order'>,
  columns: readonly [name: string, format: ColumnFormat][],
  after: ScanPosition | undefined,
): Read<ScanSlice> {
  const order = yield* getOrderColumns(selection.name)
  const table = { ...selection, order }
  const from = after === undefined ? undefined : parsePosition(String(after))
  const { names, rows } = yield* listTableRows(scan, table, from, SLICE_ROWS)
  const [isOwnIndex, isKnownIndex] = [names.indexOf('is_own'), names.indexOf('is_known')]
  const checked = columns.map(([column, { kind, optional }]) => ({ column, at: names.indexOf(column), kind, optional }))
  const findings: IntegrityFinding[] = []
  for (const row of rows) {
    if (row[isOwnIndex] !== 1 || row[isKnownIndex] !== 1) continue
    let wrong: WrongCell[] | undefined
    for (const { column, at: index, kind, optional } of checked) {
      const value = row[index]
      const what = value === null ? (optional ? undefined : 'is missing') : findFormatProblem(kind, value)
      if (what !== undefined) wrong = [...(wrong ?? []), { column, what }]
    }
    if (wrong !== undefined) findings.push(yield* createRowFinding(table, toRow(names, row), wrong))
  }
  const last = rows.at(-1)
  if (rows.length < SLICE_ROWS || last === undefined) return { scanned: rows.length, findings }
  const lastRow = toRow(names, last)
  const next = JSON.stringify(order.map((column) => lastRow[column]))
  // a key that is no longer text reads back as another: rows after it cannot be reached
  return { scanned: rows.length, findings, ...(next === after ? {} : { next }) }
}

interface WrongCell {
  column: string
  what: string
}

function toRow(names: readonly string[], cells: readonly unknown[]): AnyRow {
  return Object.fromEntries(names.map((name, index) => [name, cells[index]]))
}

function* createRowFinding(
  { name, table, order }: OrderedTable,
  row: AnyRow,
  wrong: readonly WrongCell[],
): Read<IntegrityFinding> {
  const named = ID_COLUMNS.find((column) => column in row)
  const id = named === undefined ? order.map((column) => String(row[column])).join(' ') : String(row[named])
  const target = { type: TARGETS[name] ?? 'knowledge-path', id, ...(yield* findDocument(name, row)) } as const
  const message = `row ${JSON.stringify(id)} of table ${name} is damaged: ${wrong.map(({ column, what }) => `column ${column} ${what}`).join(', ')}`
  const versionKey = row[name === 'nodes' ? 'version_key' : 'key']
  const isReadAgain = wrong.every(({ column }) => REREAD_COLUMNS[name]?.includes(column))
  const remedy: RepairRemedy =
    isReadAgain && typeof versionKey === 'number'
      ? { by: 'reading-again', versionKey }
      : { by: 'person', advice: ADVICE }
  return createFinding(table.derived ? 'segment-hash-mismatch' : 'checksum-mismatch', 'row-damaged', message, {
    target,
    remedy,
  })
}

/** The document that a row was derived from, which determines who may see it. */
function* findDocument(name: string, row: AnyRow): Read<{ documentAssetId?: string }> {
  if (name === 'documents') return { documentAssetId: String(row['id']) }
  const key = row['doc_key']
  if (typeof key !== 'number') return {}
  const documentAssetId = yield* findDocumentId(key)
  return { ...omitUndefined({ documentAssetId }) }
}

function parsePosition(after: string): Bindable[] {
  const values: unknown = JSON.parse(after)
  return Array.isArray(values)
    ? values.filter((value): value is string | number => typeof value === 'string' || typeof value === 'number')
    : []
}

/** One phase for each table with a column whose format can be violated. */
export const rowPhases: ScanPhase[] = Object.entries(TABLE_FORMATS)
  .filter(([, table]) => Object.values(table.columns).some(({ kind }) => hasFormat(kind)))
  .map(([name, table]) => createTablePhase(name, table))
