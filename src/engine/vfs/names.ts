import { isUuid } from '../../lib/ids.js'
import { LAST } from '../base/folders.js'
import type { DocumentEntry, FileEntry, NameKey, SourceKey } from '../rows/vfs/documents.js'
import { boundsOf, documentsByName, documentsInSource } from './documents.js'
import type { View } from './view.js'

/** a cursor holds names up to this length; for longer ones it names the document */
const CURSOR_NAME_LENGTH = 120

/**
 * The name among namesakes: the oldest keeps the plain name, later ones get `~` and the first 8 hex digits of their id.
 * Those digits are a time, so documents of one upload share them: where the one before has the same, the whole id is
 * given. A name depends on older documents only, so adding a document never renames another.
 *
 * @param taken whether something else, a folder, has the plain name
 */
export async function nameAmong(
  row: DocumentEntry,
  taken: boolean,
  older: AsyncIterable<DocumentEntry>,
): Promise<string> {
  const before: DocumentEntry[] = []
  for await (const document of older) {
    before.push(document)
    if (before.length === 2) break
  }
  if (!taken && before.length === 0) return row.base
  const [previous] = before
  const previousHasSuffix = previous !== undefined && (taken || before.length === 2)
  const ambiguous = previousHasSuffix && shortId(previous.id) === shortId(row.id)
  return `${row.base}~${ambiguous ? row.id : shortId(row.id)}`
}

export function shortId(id: string): string {
  return id.slice(0, 8)
}

interface Suffixed {
  base: string
  /** bounds of the ids meant, both left out */
  after: string
  before: string
}

/** What a name with a suffix means: `report.md~0198c0de`, or the same with a whole id. */
function parseSuffix(name: string): Suffixed | undefined {
  const mark = name.lastIndexOf('~')
  if (mark < 1) return undefined
  const base = name.slice(0, mark)
  const id = name.slice(mark + 1)
  if (isUuid(id)) return { base, ...boundsOf(id) }
  return /^[0-9a-f]{8}$/.test(id) ? { base, after: id, before: `${id}~` } : undefined
}

/** The document of this name in a folder of a source. A suffix is understood also where it is not needed. */
export function documentInFolder(
  view: View,
  source: string | null,
  folder: string,
  name: string,
): Promise<FileEntry | undefined> {
  const key = (base: string, id: string): SourceKey => [folder, base, id]
  return namedDocument(name, (base, after, before) =>
    documentsInSource(view, source, { after: key(base, after), before: key(base, before) }),
  )
}

/** The document with this folder name under `/knowledge/documents`. */
export function documentNamed(view: View, name: string): Promise<DocumentEntry | undefined> {
  const key = (base: string, id: string): NameKey => [base, id]
  return namedDocument(name, (base, after, before) =>
    documentsByName(view, { after: key(base, after), before: key(base, before) }),
  )
}

async function namedDocument<Row extends DocumentEntry & Partial<Pick<FileEntry, 'name_taken'>>>(
  name: string,
  find: (base: string, after: string, before: string) => AsyncIterable<Row>,
): Promise<Row | undefined> {
  for await (const plain of find(name, '', LAST)) return plain
  const suffixed = parseSuffix(name)
  if (suffixed === undefined) return undefined
  const { base, after, before } = suffixed
  const [oldest] = await firstOf(find(base, '', LAST), 1)
  const [first, second] = await firstOf(find(base, after, before), 2)
  // of those with the same digits, the oldest namesake of all goes by its plain name, unless a folder has it
  return second !== undefined && first?.id === oldest?.id && !first?.name_taken ? second : first
}

async function firstOf<Row>(rows: AsyncIterable<Row>, count: number): Promise<Row[]> {
  const first: Row[] = []
  for await (const row of rows) {
    first.push(row)
    if (first.length === count) break
  }
  return first
}

/** Whether a document's name may hold a part, which is in lower case; its suffix, if it gets one, included. */
export function mayBeNamed(row: DocumentEntry, part: string | undefined): boolean {
  return part === undefined || `${row.base}~${row.id}`.toLowerCase().includes(part)
}

/** A name as a cursor carries it: empty when it is too long, then the document's id has to do. */
export function cursorName(name: string): string {
  return name.length <= CURSOR_NAME_LENGTH ? name : ''
}
