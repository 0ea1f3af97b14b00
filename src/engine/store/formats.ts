import { KsError } from '../../contract/errors.js'
import { isUuid } from '../../lib/ids.js'
import { isObjectKey } from '../../local/file-system.js'

/**
 * Kinds of values. `key`, `integer`, `number`, `text` and `bytes` have no format beyond their type; `packed`,
 * `object-bytes` and `vector` are bytes whose hash or length is checked elsewhere.
 */
export const NAMED_KINDS = [
  'key',
  'integer',
  'number',
  'text',
  'bytes',
  'packed',
  'object-bytes',
  'vector',
  'time',
  'flag',
  'uuid',
  'sha256',
  'sha256-bytes',
  'row-hash',
  'object-key',
  'json',
  'json-object',
  'json-array',
] as const
export type NamedKind = (typeof NAMED_KINDS)[number]

/** Kind of the values of a column, or its possible texts. */
export type Kind = NamedKind | readonly string[]

/** The format of a column; one with `optional` may be NULL. */
export interface ColumnFormat {
  kind: Kind
  optional: boolean
}

/** Formats of the columns of a table, for fsck. */
export interface TableColumnFormats {
  /**
   * SQL: whether a row belongs to the checked space or its tenant; `here` has one row with the columns `space` (its key)
   * and `tenant`
   */
  owned: string
  /** the column with the source of a row: only those who may read the source see findings about the row */
  source?: string
  /** it can be derived again from other rows and files */
  derived?: true
  columns: Readonly<Record<string, ColumnFormat>>
}

/**
 * SQL: whether the row of `owner` that `column` refers to belongs to the checked space. A row without an owner belongs to
 * every space: otherwise nobody would see that its reference is damaged.
 *
 * @param id the column of the owner that `column` refers to
 */
export function ownedThrough(owner: string, id: string, column: string): string {
  const owners = `SELECT 1 FROM ${owner} o WHERE o.${id} = t.${column}`
  return `EXISTS (${owners} AND o.space_key = here.space) OR NOT EXISTS (${owners})`
}

/** maximum of a Date, in milliseconds */
const LAST_TIME = 8.64e15
const SHA256 = /^[0-9a-f]{64}$/
const SHA256_BYTES = 32
const ROW_HASH_BYTES = 16

/** @returns the problem of a value that is not NULL, such as `is not a time` */
export function findFormatProblem(kind: Kind, value: unknown): string | undefined {
  if (typeof kind !== 'string')
    return typeof value === 'string' && kind.includes(value) ? undefined : 'has no known value'
  switch (kind) {
    case 'key':
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'is not an integer'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : 'is not a number'
    case 'text':
      return typeof value === 'string' ? undefined : 'is not text'
    case 'bytes':
    case 'packed':
    case 'object-bytes':
    case 'vector':
      return value instanceof Uint8Array ? undefined : 'holds no bytes'
    case 'time':
      return isTime(value) ? undefined : 'is not a time'
    case 'flag':
      return value === 0 || value === 1 ? undefined : 'is neither 0 nor 1'
    case 'uuid':
      return typeof value === 'string' && isUuid(value) ? undefined : 'is not a uuid'
    case 'sha256':
      return typeof value === 'string' && SHA256.test(value) ? undefined : 'is not a SHA-256'
    case 'sha256-bytes':
      return isBytes(value, SHA256_BYTES) ? undefined : 'is not a SHA-256'
    case 'row-hash':
      return isBytes(value, ROW_HASH_BYTES) ? undefined : 'is not the hash of a row'
    case 'object-key':
      return typeof value === 'string' && isObjectKey(value) ? undefined : 'is not the key of an object'
    default:
      return findJsonProblem(kind, value)
  }
}

/**
 * SQL condition that a cell holds a time. Statements that select rows for removal require it: a damaged cell does not
 * prove that its row was deleted or has expired.
 */
export function sqlHoldsTime(column: string): string {
  return `${column} BETWEEN 0 AND ${LAST_TIME}`
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= LAST_TIME
}

function isBytes(value: unknown, length: number): boolean {
  return value instanceof Uint8Array && value.length === length
}

function findJsonProblem(kind: 'json' | 'json-object' | 'json-array', value: unknown): string | undefined {
  if (typeof value !== 'string') return 'is not JSON'
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch {
    return 'is not JSON'
  }
  if (kind === 'json') return undefined
  if (kind === 'json-array') return Array.isArray(parsed) ? undefined : 'is not a JSON array'
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? undefined : 'is not a JSON object'
}

/** Whether a value of the kind can be wrong though it has the type of its column. */
export function hasFormat(kind: Kind): boolean {
  return typeof kind !== 'string' || !FORMLESS.has(kind)
}

const FORMLESS: ReadonlySet<string> = new Set<NamedKind>([
  'key',
  'integer',
  'number',
  'text',
  'bytes',
  'packed',
  'object-bytes',
  'vector',
])

/** A cell that does not have the format of its column. */
export interface Damage {
  table: string
  column: string
  /** id or key of the row; `?` where the statement did not read it */
  row: string
  /** `is not JSON` */
  what: string
}

export function damagedRowError({ table, column, row, what }: Damage): KsError {
  return new KsError(
    'data-damaged',
    `row ${JSON.stringify(row)} of table ${table} is damaged: column ${column} ${what}; \`ks fsck\` names all such rows`,
  )
}
