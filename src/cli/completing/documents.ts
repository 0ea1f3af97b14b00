import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { getItems } from './pages.js'
import type { ServiceReader } from './service-reader.js'

/** Document names and virtual paths, one folder at a time: a space may have more than can be listed. */

const MAX_ENTRIES = 200
/** Number of sources whose folders are searched, after the uploads. */
const MAX_SOURCES = 4
const UPLOADS = '/sources/uploads'
/** The beginning of an id: at least the first eight hex digits. */
const ID_PREFIX = /^[0-9a-f]{8}-?[0-9a-f-]*$/i
const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/**
 * Lists paths of documents and folders with this prefix; ids if the prefix looks like one.
 *
 * @param space path of the space in the API, `/knowledge-spaces/ID`
 */
export async function listDocumentNames(reader: ServiceReader, space: string, prefix: string): Promise<string[]> {
  if (ID_PREFIX.test(prefix)) {
    const ids = await listDocumentIds(reader, space, prefix)
    if (ids.length > 0) return ids
  }
  const nameStart = prefix.lastIndexOf('/') + 1
  const [folder, name] = [prefix.slice(0, nameStart), prefix.slice(nameStart)]
  const listInRoot = async (root: string): Promise<string[]> => {
    const paths = await listFolder(reader, space, `${root}/${folder}`, name)
    return paths.map((path) => path.slice(root.length + 1))
  }
  // Almost all documents are uploads: search them while the list of sources loads.
  const otherPaths = listSourceFolders(reader, space).then((roots) => Promise.all(roots.map(listInRoot)))
  return (await Promise.all([listInRoot(UPLOADS), otherPaths])).flat(2)
}

/** Lists the entries of the folder that contains the path. */
export async function listVirtualPaths(reader: ServiceReader, space: string, prefix: string): Promise<string[]> {
  const nameStart = prefix.lastIndexOf('/') + 1
  if (nameStart <= 1) return ['/sources/', '/knowledge/', '/evidence/', '/workspaces/']
  return await listFolder(reader, space, prefix.slice(0, nameStart), prefix.slice(nameStart))
}

/**
 * Lists paths in a folder; folders end with a slash. Of a long folder, lists the first entries and those whose names
 * contain `name`.
 */
async function listFolder(reader: ServiceReader, space: string, folder: string, name: string): Promise<string[]> {
  const path = encodeURIComponent(folder.replace(/\/+$/, ''))
  const query = `path=${path}&nameContains=${encodeURIComponent(name)}&limit=${MAX_ENTRIES}`
  const [page, matches] = await Promise.all([
    reader.get(`${space}/fs/ls?path=${path}&limit=${MAX_ENTRIES}`).catch(() => undefined),
    name === '' ? undefined : reader.get(`${space}/fs/find?${query}`).catch(() => undefined),
  ])
  const isTruncated = isRecord(page) && page.truncated === true
  return [...getPaths(page), ...(isTruncated ? getPaths(matches) : [])]
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
