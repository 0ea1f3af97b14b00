import { isUuid } from '../../../lib/ids.js'
import { hasMoreValuesThan, nestsDeeperThan } from '../../../lib/json/depth.js'
import type { Bindable } from '../../base/statements.js'
import { TABLE_FORMATS } from '../../store/format-tables.js'
import { findFormatProblem, type Kind } from '../../store/formats.js'
import type { BundleRow } from '../rows/bundles/read.js'
import { type ImportTable, listBundleColumns, SPACE_COLUMNS } from '../rows/bundles/tables.js'
import { BUNDLE_LIMITS } from './limits.js'

/** A row as a line of a bundle: its columns, and references to its owners by public ids. */
export type BundleLine = Readonly<Record<string, unknown>>

/** Tables of a bundle: those with rows of the space, and the row of the space itself. */
export type BundleTable = ImportTable | 'spaces'

/** @returns what is wrong with a value, if anything: `is not a uuid` */
type ValueCheck = (value: unknown) => string | undefined

const BYTES: ReadonlySet<Kind> = new Set<Kind>([
  'bytes',
  'packed',
  'object-bytes',
  'vector',
  'row-hash',
  'sha256-bytes',
])
const NUMBERS: ReadonlySet<Kind> = new Set<Kind>(['key', 'integer', 'time', 'flag'])
const JSONS: ReadonlySet<Kind> = new Set<Kind>(['json', 'json-object', 'json-array'])

/** Canonical base64: no other spelling of the same bytes. */
const checkBase64: ValueCheck = (value) =>
  typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value ? undefined : 'is not base64'
const checkCount: ValueCheck = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? undefined : 'is not a number of 0 or more'
const checkId: ValueCheck = (value) => (typeof value === 'string' && isUuid(value) ? undefined : 'is not a uuid')

/** Replies of models about a passage: the model, the hash of its input, and its reply. */
export type ModelReads = [model: string, textHash: string, said: string][]

const checkReads: ValueCheck = (value) =>
  Array.isArray(value) && value.every(isRead) ? undefined : 'is not a list of model replies about a passage'

function isRead(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && value.every((part) => checkText(part) === undefined)
}

interface LineField {
  check: ValueCheck
  optional: boolean
}

const createField = (check: ValueCheck, optional = false): LineField => ({ check, optional })
const VERSION = { document: createField(checkId), version: createField(checkCount) }

/** Fields of lines in addition to the columns of their tables. */
const REFERENCES: Partial<Record<BundleTable, Readonly<Record<string, LineField>>>> = {
  // count of its passages that follow: none where they were purged after a newer version
  versions: { document: createField(checkId), nodes: createField(checkCount) },
  version_parts: VERSION,
  item_assets: VERSION,
  nodes: { ...VERSION, vector: createField(checkBase64, true), reads: createField(checkReads, true) },
}

/** The columns of a table in its lines. */
function getLineColumns(table: BundleTable): readonly string[] {
  return table === 'spaces' ? SPACE_COLUMNS : listBundleColumns(table)
}

/**
 * Formats a line of a bundle, its keys in order, without NULL values. @throws KsError `data-damaged` for a damaged cell
 */
export function formatLine(table: BundleTable, row: BundleRow, references: BundleLine = {}): string {
  const values = new Map<string, unknown>(Object.entries(references))
  for (const column of getLineColumns(table)) values.set(column, toJson(row[column]))
  const names = [...values.keys()].filter((name) => values.get(name) !== undefined).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(values.get(name))}`).join()}}`
}

function toJson(cell: unknown): unknown {
  if (cell === null) return undefined
  return cell instanceof Uint8Array ? toBase64(cell) : cell
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

const fields = new Map<BundleTable, ReadonlyMap<string, LineField>>()

function getFields(table: BundleTable): ReadonlyMap<string, LineField> {
  const cached = fields.get(table)
  if (cached !== undefined) return cached
  const lineFields = new Map<string, LineField>(Object.entries(REFERENCES[table] ?? {}))
  for (const column of getLineColumns(table)) {
    const format = TABLE_FORMATS[table]?.columns[column]
    if (format === undefined) throw new Error(`column ${column} of ${table} has no format`)
    lineFields.set(column, { check: (value) => findValueProblem(format.kind, value), optional: format.optional })
  }
  fields.set(table, lineFields)
  return lineFields
}

/** Finds what is wrong with a line of a table: `has no id`. */
export function findLineProblem(table: BundleTable, line: unknown): string | undefined {
  if (!isLine(line)) return 'is not a JSON object'
  const lineFields = getFields(table)
  for (const name of Object.keys(line)) if (!lineFields.has(name)) return `has a key ${JSON.stringify(name)}`
  for (const [name, { check, optional }] of lineFields) {
    const value = line[name]
    if (value === undefined) {
      if (!optional) return `has no ${name}`
      continue
    }
    const problem = check(value)
    if (problem !== undefined) return `has a ${name} that ${problem}`
  }
  return undefined
}

export function isLine(value: unknown): value is BundleLine {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function findValueProblem(kind: Kind, value: unknown): string | undefined {
  if (BYTES.has(kind)) return checkBase64(value)
  if (NUMBERS.has(kind)) return checkCount(value) ?? findFormatProblem(kind, value)
  if (kind === 'number') return findFormatProblem(kind, value)
  return checkText(value) ?? (JSONS.has(kind) ? findJsonProblem(kind, String(value)) : findFormatProblem(kind, value))
}

function checkText(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'is not text'
  if (value.length > BUNDLE_LIMITS.text) return `is longer than ${BUNDLE_LIMITS.text} characters`
  return value.isWellFormed() ? undefined : 'is not Unicode'
}

function findJsonProblem(kind: Kind, value: string): string | undefined {
  if (nestsDeeperThan(value, BUNDLE_LIMITS.depth)) return `is nested deeper than ${BUNDLE_LIMITS.depth} levels`
  if (hasMoreValuesThan(value, BUNDLE_LIMITS.values)) return `has more than ${BUNDLE_LIMITS.values} values`
  return findFormatProblem(kind, value)
}

/** A cell of a checked line. */
export function toCell(table: BundleTable, line: BundleLine, column: string): Bindable {
  const value = line[column]
  if (value === undefined) return null
  const kind = TABLE_FORMATS[table]?.columns[column]?.kind
  if (kind !== undefined && BYTES.has(kind)) return toBytes(value)
  if (typeof value === 'string' || typeof value === 'number') return value
  throw new Error(`column ${column} of ${table} is of no type of the database`)
}

export function toBytes(value: unknown): Buffer {
  return Buffer.from(toCheckedText(value), 'base64')
}

/** A text of a checked line. */
export function toCheckedText(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a line was not checked')
  return value
}

/** A number of a checked line. */
export function toCheckedNumber(value: unknown): number {
  if (typeof value !== 'number') throw new Error('a line was not checked')
  return value
}
