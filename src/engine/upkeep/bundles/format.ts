import { KsError } from '../../../contract/errors.js'
import { DOCUMENT_TABLES, SPACE_TABLES } from '../rows/bundles/tables.js'
import type { BundleTable } from './rows.js'

/*
 * A bundle is a tar archive: `manifest.json`; for each space, in the order of ids, files of JSON lines, each for one
 * table; objects, by their hashes, before the lines that refer to them; and `end.json`, with the hash of everything
 * before it.
 */

export const BUNDLE_FORMAT = 'knowledge-spaces-bundle'
export const FORMAT_VERSION = 1

export const MANIFEST = 'manifest.json'
export const END = 'end.json'

/** Tables before the documents, which refer to them; all others follow. */
const FIRST_TABLES: ReadonlySet<string> = new Set([
  'retrieval_profiles',
  'publications',
  'vector_spaces',
  'source_readers',
  'sources',
  'retention_policies',
])
export const TABLES_BEFORE = SPACE_TABLES.map(([table]) => table).filter((table) => FIRST_TABLES.has(table))
export const TABLES_AFTER = SPACE_TABLES.map(([table]) => table).filter((table) => !FIRST_TABLES.has(table))

/** Order of tables in the files of a space; those of documents share one position. */
const TABLE_POSITIONS: ReadonlyMap<string, number> = new Map([
  ['spaces', 0],
  ...TABLES_BEFORE.map((table, index): [string, number] => [table, 1 + index]),
  ...DOCUMENT_TABLES.map((table): [string, number] => [table, 100]),
  ...TABLES_AFTER.map((table, index): [string, number] => [table, 200 + index]),
])

export function getTablePosition(table: BundleTable): number {
  return TABLE_POSITIONS.get(table) ?? -1
}

/** Name of a file of lines. @param number of the file within its space, from 1 */
export function rowsName(space: string, number: number, table: BundleTable): string {
  return `spaces/${space}/${String(number).padStart(7, '0')}-${table}.jsonl`
}

export function objectName(sha256: string): string {
  return `objects/${sha256}`
}

/** The kind of a file in a bundle, parsed from its name. */
export type BundleFileName =
  | { kind: 'rows'; space: string; number: number; table: BundleTable }
  | { kind: 'object'; sha256: string }
  | { kind: 'manifest' | 'end' }

const ROWS_NAME = /^spaces\/([0-9a-f-]{36})\/(\d{7})-([a-z_]+)\.jsonl$/
const OBJECT_NAME = /^objects\/([0-9a-f]{64})$/
const FIXED: ReadonlyMap<string, 'manifest' | 'end'> = new Map([
  [MANIFEST, 'manifest'],
  [END, 'end'],
])

/** @throws KsError `invalid-bundle` for a name that no file of a bundle has */
export function parseFileName(name: string): BundleFileName {
  const fixed = FIXED.get(name)
  if (fixed !== undefined) return { kind: fixed }
  const [, sha256] = OBJECT_NAME.exec(name) ?? []
  if (sha256 !== undefined) return { kind: 'object', sha256 }
  const [, space, number, table] = ROWS_NAME.exec(name) ?? []
  if (space === undefined || !isTable(table))
    throw invalidBundle(`holds a file ${JSON.stringify(name)}, which no bundle has`)
  return { kind: 'rows', space, number: Number(number), table }
}

function isTable(name: string | undefined): name is BundleTable {
  return name !== undefined && TABLE_POSITIONS.has(name)
}

/** @param what continues the sentence after "the bundle" */
export function invalidBundle(what: string, cause?: unknown): KsError {
  return new KsError('invalid-bundle', `the bundle ${what}`, cause === undefined ? {} : { cause })
}
