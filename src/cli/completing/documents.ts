import { isRecord, textOf } from '../../lib/json/values.js'
import type { Asker } from './asker.js'
import type { Answer } from './kept.js'
import { itemsOf } from './pages.js'

/** Document names and virtual paths, one folder at a time: a space may have more than can be listed. */

const LISTED = 200
/** Number of sources whose folders are searched, after the uploads. */
const MOST_SOURCES = 4
const UPLOADS = '/sources/uploads'
/** The beginning of an id: at least the first eight hex digits. */
const ID_BEGINS = /^[0-9a-f]{8}-?[0-9a-f-]*$/i
const NIL = '00000000-0000-0000-0000-000000000000'

export function looksLikeId(wanted: string): boolean {
  return ID_BEGINS.test(wanted)
}

/** Lists paths of documents and folders with this prefix; ids if the prefix looks like one. */
export async function documentNames(asker: Asker, space: string, wanted: string): Promise<Answer> {
  if (looksLikeId(wanted)) {
    const found = await documentIds(asker, space, wanted)
    if (found.length > 0) return { values: found, isWhole: false }
  }
  const cut = wanted.lastIndexOf('/') + 1
  const [folder, name] = [wanted.slice(0, cut), wanted.slice(cut)]
  const inRoot = async (root: string): Promise<Answer> => {
    const { values, isWhole } = await inFolder(asker, space, `${root}/${folder}`, name)
    return { values: values.map((one) => one.slice(root.length + 1)), isWhole }
  }
  // Almost all documents are uploads: search them while the list of sources loads.
  const others = sourceFolders(asker, space).then((roots) => Promise.all(roots.map(inRoot)))
  const answers = (await Promise.all([inRoot(UPLOADS).then((one) => [one]), others])).flat()
  return { values: answers.flatMap(({ values }) => values), isWhole: answers.every(({ isWhole }) => isWhole) }
}

/** Lists the folder that contains the path. */
export async function virtualPaths(asker: Asker, space: string, wanted: string): Promise<Answer> {
  const cut = wanted.lastIndexOf('/') + 1
  if (cut <= 1) return { values: ['/sources/', '/knowledge/', '/evidence/', '/workspaces/'], isWhole: true }
  return await inFolder(asker, space, wanted.slice(0, cut), wanted.slice(cut))
}

/**
 * Lists paths in a folder; folders end with a slash. Of a long folder, lists the first entries and those whose names
 * contain `name`.
 */
async function inFolder(asker: Asker, space: string, folder: string, name: string): Promise<Answer> {
  const path = encodeURIComponent(folder.replace(/\/+$/, ''))
  const query = `path=${path}&nameContains=${encodeURIComponent(name)}&limit=${LISTED}`
  const [page, found] = await Promise.all([
    asker.get(`${space}/fs/ls?path=${path}&limit=${LISTED}`).catch(() => undefined),
    name === '' ? undefined : asker.get(`${space}/fs/find?${query}`).catch(() => undefined),
  ])
  const listed = pathsOf(page)
  const isWhole = !isRecord(page) || page.truncated !== true
  if (isWhole || name === '') return { values: listed, isWhole: isWhole && page !== undefined }
  return { values: [...listed, ...pathsOf(found)], isWhole: isRecord(found) && found.truncated !== true }
}

function pathsOf(page: unknown): string[] {
  return itemsOf(page).flatMap(({ path, kind }) => {
    const text = textOf(path)
    if (text === undefined) return []
    return kind === 'directory' ? [`${text}/`] : [text]
  })
}

/** Ids are sorted: the list starts at the first id with this prefix. */
async function documentIds(asker: Asker, space: string, wanted: string): Promise<string[]> {
  const before = wanted.toLowerCase() + NIL.slice(wanted.length)
  const page = await asker.get(`${space}/documents?limit=100&cursor=${before}`)
  return itemsOf(page).flatMap(({ id }) => textOf(id) ?? [])
}

async function sourceFolders(asker: Asker, space: string): Promise<string[]> {
  const page = await asker.get(`${space}/fs/ls?path=/sources&limit=${MOST_SOURCES}`)
  const paths = itemsOf(page).flatMap(({ path }) => textOf(path) ?? [])
  return paths.filter((path) => path !== UPLOADS).slice(0, MOST_SOURCES)
}
