import { isUuid } from '../../../lib/ids.js'
import { AFTER_ALL_TEXTS } from '../../base/folders.js'
import type { DocumentEntry, FileEntry, NamePosition, SourcePosition } from '../rows/vfs/documents.js'
import { getIdBounds, listVisibleByName, listVisibleInSource } from './documents.js'
import type { VfsView } from './view.js'

/** maximum length of a name in a cursor; longer ones are replaced by the id of the document */
const CURSOR_NAME_LENGTH = 120

/**
 * The unique name among documents of one name: the oldest keeps the plain name, later ones get `~` and the first 8 hex
 * digits of their id. Those digits are a time, so documents of one upload share them: where the document before has the
 * same digits, the name gets the full id. A name depends only on older documents, so adding a document never renames
 * another.
 *
 * @param taken whether a folder has the plain name
 */
export async function computeUniqueName(
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
  const ambiguous = previousHasSuffix && shortenId(previous.id) === shortenId(row.id)
  return `${row.base}~${ambiguous ? row.id : shortenId(row.id)}`
}

export function shortenId(id: string): string {
  return id.slice(0, 8)
}

interface ParsedSuffix {
  base: string
  /** exclusive bounds of the matching ids */
  after: string
  before: string
}

/** Parses a name with a suffix: `report.md~0198c0de`, or the same with a full id. */
function parseSuffix(name: string): ParsedSuffix | undefined {
  const mark = name.lastIndexOf('~')
  if (mark < 1) return undefined
  const base = name.slice(0, mark)
  const id = name.slice(mark + 1)
  if (isUuid(id)) return { base, ...getIdBounds(id) }
  return /^[0-9a-f]{8}$/.test(id) ? { base, after: id, before: `${id}~` } : undefined
}

/** Finds the document of this name in a folder of a source. An unneeded suffix is accepted, too. */
export function findDocumentInFolder(
  view: VfsView,
  source: string | null,
  folder: string,
  name: string,
): Promise<FileEntry | undefined> {
  const key = (base: string, id: string): SourcePosition => [folder, base, id]
  return findByName(name, (base, after, before) =>
    listVisibleInSource(view, source, { after: key(base, after), before: key(base, before) }),
  )
}

/** Finds the document with this folder name under `/knowledge/documents`. */
export function findDocumentByName(view: VfsView, name: string): Promise<DocumentEntry | undefined> {
  const key = (base: string, id: string): NamePosition => [base, id]
  return findByName(name, (base, after, before) =>
    listVisibleByName(view, { after: key(base, after), before: key(base, before) }),
  )
}

async function findByName<Row extends DocumentEntry & Partial<Pick<FileEntry, 'name_taken'>>>(
  name: string,
  find: (base: string, after: string, before: string) => AsyncIterable<Row>,
): Promise<Row | undefined> {
  for await (const plain of find(name, '', AFTER_ALL_TEXTS)) return plain
  const suffixed = parseSuffix(name)
  if (suffixed === undefined) return undefined
  const { base, after, before } = suffixed
  const [oldest] = await takeFirst(find(base, '', AFTER_ALL_TEXTS), 1)
  const [first, second] = await takeFirst(find(base, after, before), 2)
  // of documents with the same digits, the oldest of all goes by its plain name, unless a folder has it
  return second !== undefined && first?.id === oldest?.id && !first?.name_taken ? second : first
}

async function takeFirst<Row>(rows: AsyncIterable<Row>, count: number): Promise<Row[]> {
  const first: Row[] = []
  for await (const row of rows) {
    first.push(row)
    if (first.length === count) break
  }
  return first
}

/** Whether a document's name may contain a part, given in lower case; includes a possible suffix. */
export function mayMatchName(row: DocumentEntry, part: string | undefined): boolean {
  return part === undefined || `${row.base}~${row.id}`.toLowerCase().includes(part)
}

/** A name for a cursor: empty when it is too long, so that the document's id is used. */
export function toCursorName(name: string): string {
  return name.length <= CURSOR_NAME_LENGTH ? name : ''
}
