import { createHash } from 'node:crypto'
import { newId } from '../../../lib/ids.js'
import { TABLE_FORMATS } from '../../store/format-tables.js'
import { parseJsonCell } from '../../store/readable.js'
import type { BundleLine, BundleTable } from './rows.js'

/** Replaces the ids in lines of a bundle. */
export interface IdReplacer {
  line(table: BundleTable, line: BundleLine): BundleLine
}

/** Text columns with ids. Where a document outlives its source, `source_id` is `kept-` and the id of the source. */
const ID_TEXTS: ReadonlySet<string> = new Set(['document', 'owner', 'source_id', 'trace_id'])
/** JSON that users wrote: ids in it are not ours and do not change. */
const USER_WRITTEN_JSON: ReadonlySet<string> = new Set([
  'documents.metadata',
  'documents.validators',
  'golden_questions.expected_answer',
  'golden_questions.tags',
  'nodes.section',
  'research_tasks.metadata',
  'research_tasks.permission_scope',
  'sources.metadata',
  'sources.permission_scope',
  'versions.metadata',
])
const ID_KEY = /(?:^i|I)ds?$/
const PATH_KEY = /[pP]ath$/
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** The first digits of an id are its time, by which lists are sorted: they do not change. */
const TIME_DIGITS = 12

/**
 * Creates new ids for a copy of a space: each old id has one new id in all tables. They are computed from a salt, so
 * that a space with millions of passages needs no table of ids.
 */
export function createNewIds(): IdReplacer {
  const salt = newId()
  const id = (old: string): string => {
    const hash = createHash('sha256').update(salt).update(old).digest('hex')
    const time = old.replaceAll('-', '').slice(0, TIME_DIGITS)
    // version 7 and the variant of RFC 9562
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
  }
  const replaceInText = (text: string) => text.replace(ID, id)
  return { line: (table, line) => replaceIds(table, line, replaceInText) }
}

function replaceIds(table: BundleTable, line: BundleLine, replaceInText: (text: string) => string): BundleLine {
  const replaced: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(line)) {
    const kind = String(TABLE_FORMATS[table]?.columns[name]?.kind ?? '')
    const isId = kind === 'uuid' || ID_TEXTS.has(name)
    if (typeof value !== 'string') replaced[name] = value
    else if (isId) replaced[name] = replaceInText(value)
    else if (kind.startsWith('json') && !USER_WRITTEN_JSON.has(`${table}.${name}`))
      replaced[name] = replaceIdsInJson(table, name, value, replaceInText)
    else replaced[name] = value
  }
  return replaced
}

function replaceIdsInJson(
  table: BundleTable,
  column: string,
  json: string,
  replaceInText: (text: string) => string,
): string {
  const isList = table === 'golden_questions' && column === 'expected_evidence'
  const walk = (value: unknown, isIdKey: boolean): unknown => {
    if (typeof value === 'string') return isIdKey ? replaceInText(value) : value
    if (Array.isArray(value)) return value.map((member) => walk(member, isIdKey))
    if (typeof value !== 'object' || value === null) return value
    // keys that users chose may be `__proto__`
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, walk(member, ID_KEY.test(key) || PATH_KEY.test(key))]),
    )
  }
  return JSON.stringify(walk(parseJsonCell<unknown>(json), isList))
}
