import { isRecord, textOf } from '../../lib/json/values.js'
import type { Asker } from './asker.js'
import type { Answer } from './kept.js'
import { itemsOf } from './pages.js'

/** Names of documents and virtual paths, a folder at a time: a space may have more of them than can be listed. */

const LISTED = 200
/** sources whose folders are looked into; what was uploaded comes first */
const MOST_SOURCES = 4
const UPLOADS = '/sources/uploads'
/** the beginning of an id: eight digits of its time, or more */
const ID_BEGINS = /^[0-9a-f]{8}-?[0-9a-f-]*$/i
const NIL = '00000000-0000-0000-0000-000000000000'

export function looksLikeId(wanted: string): boolean {
  return ID_BEGINS.test(wanted)
}

/** Paths of documents and of their folders that begin as wanted; ids where it looks like one. */
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
  // nearly all documents are uploads: they are looked for while it is asked what sources there are
  const others = sourceFolders(asker, space).then((roots) => Promise.all(roots.map(inRoot)))
  const answers = (await Promise.all([inRoot(UPLOADS).then((one) => [one]), others])).flat()
  return { values: answers.flatMap(({ values }) => values), isWhole: answers.every(({ isWhole }) => isWhole) }
}

/** What stands in the folder that the path is in. */
export async function virtualPaths(asker: Asker, space: string, wanted: string): Promise<Answer> {
  const cut = wanted.lastIndexOf('/') + 1
  if (cut <= 1) return { values: ['/sources/', '/knowledge/', '/evidence/', '/workspaces/'], isWhole: true }
  return await inFolder(asker, space, wanted.slice(0, cut), wanted.slice(cut))
}

/**
 * Paths in a folder, folders with a slash at their end. Of a long one the first, and those that the service finds by the
 * letters that are there.
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

/** Ids are in order, so a list begins where the wanted ones do. */
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
