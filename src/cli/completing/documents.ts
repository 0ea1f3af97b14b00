import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { CompletionAnswer } from './answer-cache.js'
import { getItems } from './pages.js'
import type { ServiceReader } from './service-reader.js'

/** Document names and virtual paths, one folder at a time: a space may have more than can be listed. */

const MAX_LISTED = 200
/** Number of sources whose folders are searched, after the uploads. */
const MAX_SOURCES = 4
const UPLOADS = '/sources/uploads'
/** The beginning of an id: at least the first eight hex digits. */
const ID_PREFIX = /^[0-9a-f]{8}-?[0-9a-f-]*$/i
const NIL_UUID = '00000000-0000-0000-0000-000000000000'

export function looksLikeId(prefix: string): boolean {
  return ID_PREFIX.test(prefix)
}

/** Lists paths of documents and folders with this prefix; ids if the prefix looks like one. */
export async function listDocumentNames(
  reader: ServiceReader,
  space: string,
  prefix: string,
): Promise<CompletionAnswer> {
  if (looksLikeId(prefix)) {
    const found = await listDocumentIds(reader, space, prefix)
    if (found.length > 0) return { values: found, isComplete: false }
  }
  const nameStart = prefix.lastIndexOf('/') + 1
  const [folder, name] = [prefix.slice(0, nameStart), prefix.slice(nameStart)]
  const listInRoot = async (root: string): Promise<CompletionAnswer> => {
    const { values, isComplete } = await listFolder(reader, space, `${root}/${folder}`, name)
    return { values: values.map((value) => value.slice(root.length + 1)), isComplete }
  }
  // Almost all documents are uploads: search them while the list of sources loads.
  const others = listSourceFolders(reader, space).then((roots) => Promise.all(roots.map(listInRoot)))
  const answers = (await Promise.all([listInRoot(UPLOADS).then((value) => [value]), others])).flat()
  return { values: answers.flatMap(({ values }) => values), isComplete: answers.every(({ isComplete }) => isComplete) }
}

/** Lists the folder that contains the path. */
export async function listVirtualPaths(
  reader: ServiceReader,
  space: string,
  prefix: string,
): Promise<CompletionAnswer> {
  const nameStart = prefix.lastIndexOf('/') + 1
  if (nameStart <= 1) return { values: ['/sources/', '/knowledge/', '/evidence/', '/workspaces/'], isComplete: true }
  return await listFolder(reader, space, prefix.slice(0, nameStart), prefix.slice(nameStart))
}

/**
 * Lists paths in a folder; folders end with a slash. Of a long folder, lists the first entries and those whose names
 * contain `name`.
 */
async function listFolder(
  reader: ServiceReader,
  space: string,
  folder: string,
  name: string,
): Promise<CompletionAnswer> {
  const path = encodeURIComponent(folder.replace(/\/+$/, ''))
  const query = `path=${path}&nameContains=${encodeURIComponent(name)}&limit=${MAX_LISTED}`
  const [page, found] = await Promise.all([
    reader.get(`${space}/fs/ls?path=${path}&limit=${MAX_LISTED}`).catch(() => undefined),
    name === '' ? undefined : reader.get(`${space}/fs/find?${query}`).catch(() => undefined),
  ])
  const listed = getPaths(page)
  const isComplete = !isRecord(page) || page.truncated !== true
  if (isComplete || name === '') return { values: listed, isComplete: isComplete && page !== undefined }
  return { values: [...listed, ...getPaths(found)], isComplete: isRecord(found) && found.truncated !== true }
}

function getPaths(page: unknown): string[] {
  return getItems(page).flatMap(({ path, kind }) => {
    const text = toNonEmptyString(path)
    if (text === undefined) return []
    return kind === 'directory' ? [`${text}/`] : [text]
  })
}

/** Ids are sorted: the list starts at the first id with this prefix. */
async function listDocumentIds(reader: ServiceReader, space: string, prefix: string): Promise<string[]> {
  const cursor = prefix.toLowerCase() + NIL_UUID.slice(prefix.length)
  const page = await reader.get(`${space}/documents?limit=100&cursor=${cursor}`)
  return getItems(page).flatMap(({ id }) => toNonEmptyString(id) ?? [])
}

async function listSourceFolders(reader: ServiceReader, space: string): Promise<string[]> {
  const page = await reader.get(`${space}/fs/ls?path=/sources&limit=${MAX_SOURCES}`)
  const paths = getItems(page).flatMap(({ path }) => toNonEmptyString(path) ?? [])
  return paths.filter((path) => path !== UPLOADS).slice(0, MAX_SOURCES)
}
