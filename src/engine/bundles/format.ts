import { KsError } from '../../contract/errors.js'
import { DOCUMENT_TABLES, READS } from '../rows/bundles/tables.js'
import type { BundleTable } from './rows.js'

/*
 * A bundle is a tar archive: `manifest.json`; for each space, in the order of ids, files of JSON lines, each of one table;
 * before the lines that name them, the objects, by their hashes; and `end.json`, which has the hash of all before it.
 */

export const FORMAT = 'knowledge-spaces-bundle'
export const FORMAT_VERSION = 1

export const MANIFEST = 'manifest.json'
export const END = 'end.json'

/** Tables that come before the documents, as those refer to them; all others come behind. */
const FIRST: ReadonlySet<string> = new Set([
  ...['retrieval_profiles', 'publications', 'vector_spaces', 'source_readers', 'sources', 'retention_policies'],
])
export const TABLES_BEFORE = READS.map(([table]) => table).filter((table) => FIRST.has(table))
export const TABLES_BEHIND = READS.map(([table]) => table).filter((table) => !FIRST.has(table))

/** The place of a table in the files of a space; those of documents share one. */
const PLACES: ReadonlyMap<string, number> = new Map([
  ['spaces', 0],
  ...TABLES_BEFORE.map((table, at): [string, number] => [table, 1 + at]),
  ...DOCUMENT_TABLES.map((table): [string, number] => [table, 100]),
  ...TABLES_BEHIND.map((table, at): [string, number] => [table, 200 + at]),
])

export function placeOf(table: BundleTable): number {
  return PLACES.get(table) ?? -1
}

/** Name of a file of lines. @param number of the file within its space, from 1 on */
export function rowsName(space: string, number: number, table: BundleTable): string {
  return `spaces/${space}/${String(number).padStart(7, '0')}-${table}.jsonl`
}

export function objectName(sha256: string): string {
  return `objects/${sha256}`
}

/** What a file of a bundle is, by its name. */
export type Named =
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
export function readName(name: string): Named {
  const fixed = FIXED.get(name)
  if (fixed !== undefined) return { kind: fixed }
  const [, sha256] = OBJECT_NAME.exec(name) ?? []
  if (sha256 !== undefined) return { kind: 'object', sha256 }
  const [, space, number, table] = ROWS_NAME.exec(name) ?? []
  if (space === undefined || !isTable(table)) throw invalid(`holds a file ${JSON.stringify(name)}, which no bundle has`)
  return { kind: 'rows', space, number: Number(number), table }
}

function isTable(name: string | undefined): name is BundleTable {
  return name !== undefined && PLACES.has(name)
}

/** @param what goes on after "the bundle" */
export function invalid(what: string, cause?: unknown): KsError {
  return new KsError('invalid-bundle', `the bundle ${what}`, cause === undefined ? {} : { cause })
}
