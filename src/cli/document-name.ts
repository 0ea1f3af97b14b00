import { resolve, sep } from 'node:path'
import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { paginate } from '../client/pages.js'
import { EXIT } from '../contract/errors.js'
import { nearest } from '../lib/text/nearest.js'
import { CliError, usageError } from './cli-error.js'
import { shortId } from './columns.js'
import { endsIn, rememberIds } from './recent-ids.js'

interface Named {
  id: string
  filename: string
}

/** Number of documents that the error for an ambiguous name lists. */
const CANDIDATES = 5

/** Finds documents of a space by path or by the end of an id. The list is loaded at the first use. */
export interface DocumentFinder {
  /** @throws CliError exit 5 if no document matches, exit 2 if several do */
  byPath(text: string): Promise<string>
  byTail(tail: string): Promise<string | undefined>
}

export function documentFinder(client: Client, spaceId: string, cacheDir: string): DocumentFinder {
  let list: Promise<Named[]> | undefined
  const all = (): Promise<Named[]> => {
    list ??= documentsOf(client, spaceId)
    return list
  }
  return {
    async byPath(text) {
      const documents = await all()
      const path = text
        .normalize('NFC')
        .replaceAll('\\', '/')
        .replace(/^(?:\.\/+)+/, '')
      const exact = documents.filter(({ filename }) => filename === path)
      const found = exact.length > 0 ? exact : documents.filter(({ filename }) => filename.endsWith(`/${path}`))
      const [only, other] = found
      if (only === undefined)
        return (await ofLocalFile(client, spaceId, documents, text)) ?? throwUnknown(text, documents)
      if (other === undefined) return only.id
      throw ambiguous(text, found, cacheDir)
    },
    async byTail(tail) {
      return (await all()).find(({ id }) => endsIn(id, tail))?.id
    },
  }
}

async function documentsOf(client: Client, spaceId: string): Promise<Named[]> {
  const pages = paginate(
    (query) => client.request('GET /knowledge-spaces/{id}/documents', { path: { id: spaceId }, query }),
    { pageSize: 100 },
  )
  const documents: Named[] = []
  for await (const { id, filename } of pages) documents.push({ id, filename })
  return documents
}

/** Finds the document of a local file: folders above the ingested one are not part of its path. */
async function ofLocalFile(
  client: Client,
  spaceId: string,
  documents: readonly Named[],
  text: string,
): Promise<string | undefined> {
  const path = resolve(text)
  const shown = path.split(sep).join('/').normalize('NFC')
  const names = new Set(documents.flatMap(({ filename }) => (shown.endsWith(`/${filename}`) ? [filename] : [])))
  for (const filename of names) {
    const known = await localFiles(client, spaceId, filename)
    const [document] = known.find((file) => file.path === path)?.documents ?? []
    if (document !== undefined) return document.id
  }
  return undefined
}

async function localFiles(client: Client, spaceId: string, filename: string) {
  try {
    const { items } = await client.request('GET /knowledge-spaces/{id}/local-files', {
      path: { id: spaceId },
      query: { filename },
    })
    return items
  } catch (error) {
    // The files belong to another machine, or this user may not list them.
    if (error instanceof ApiError) return []
    throw error
  }
}

function ambiguous(text: string, found: readonly Named[], cacheDir: string): CliError {
  const shown = found.slice(0, CANDIDATES)
  rememberIds(
    cacheDir,
    shown.map(({ id }) => id),
  )
  const names = shown.map(({ id, filename }) => `${shortId(id)} ${filename}`).join(', ')
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : ''
  return usageError(
    `${JSON.stringify(text)} matches ${found.length} documents: ${names}${more}`,
    'use an id or a longer path',
  )
}

function throwUnknown(text: string, documents: readonly Named[]): never {
  const close = nearest(
    text,
    documents.map(({ filename }) => filename),
  )
  throw new CliError(`no document has the path ${JSON.stringify(text)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: close === undefined ? '`ks docs` lists all' : `did you mean \`${close}\`?`,
  })
}
