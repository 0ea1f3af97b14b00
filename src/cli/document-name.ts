import { resolve, sep } from 'node:path'
import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { paginate } from '../client/pages.js'
import { EXIT } from '../contract/errors.js'
import { findNearest } from '../lib/text/nearest.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'
import { CliError, usageError } from './cli-error.js'
import { formatShortId } from './columns.js'
import { hasIdTail, saveRecentIds } from './recent-ids.js'

interface NamedDocument {
  id: string
  filename: string
}

/** Number of documents that the error for an ambiguous name lists. */
const MAX_SHOWN_CANDIDATES = 5

/** Finds ids of documents of a space. Loads the list of documents at the first use. */
export interface DocumentFinder {
  /** @throws CliError exit 5 if no document matches, exit 2 if several do */
  findByPath(text: string): Promise<string>
  /** @param tail last hex digits of an id */
  findByTail(tail: string): Promise<string | undefined>
}

export function createDocumentFinder(client: Client, spaceId: string, cacheDir: string): DocumentFinder {
  let loading: Promise<NamedDocument[]> | undefined
  const loadOnce = (): Promise<NamedDocument[]> => {
    loading ??= loadDocuments(client, spaceId)
    return loading
  }
  return {
    async findByPath(text) {
      const documents = await loadOnce()
      const path = text
        .normalize('NFC')
        .replaceAll('\\', '/')
        .replace(/^(?:\.\/+)+/, '')
      const exact = documents.filter(({ filename }) => filename === path)
      const matches = exact.length > 0 ? exact : documents.filter(({ filename }) => filename.endsWith(`/${path}`))
      const [only, second] = matches
      if (only === undefined)
        return (await findByLocalFile(client, spaceId, documents, text)) ?? throwUnknownDocument(text, documents)
      if (second === undefined) return only.id
      return throwAmbiguousName(text, matches, cacheDir)
    },
    async findByTail(tail) {
      return (await loadOnce()).find(({ id }) => hasIdTail(id, tail))?.id
    },
  }
}

async function loadDocuments(client: Client, spaceId: string): Promise<NamedDocument[]> {
  const pages = paginate(
    (query) => client.request('GET /knowledge-spaces/{id}/documents', { path: { id: spaceId }, query }),
    { pageSize: 100 },
  )
  const documents: NamedDocument[] = []
  for await (const { id, filename } of pages) documents.push({ id, filename })
  return documents
}

/** Finds the document of a local file. Its path is the end of the file's path, from the ingested folder on. */
async function findByLocalFile(
  client: Client,
  spaceId: string,
  documents: readonly NamedDocument[],
  text: string,
): Promise<string | undefined> {
  const path = resolve(text)
  const normalized = path.split(sep).join('/').normalize('NFC')
  const names = new Set(documents.flatMap(({ filename }) => (normalized.endsWith(`/${filename}`) ? [filename] : [])))
  for (const filename of names) {
    const files = await loadLocalFiles(client, spaceId, filename)
    const [document] = files.find((file) => file.path === path)?.documents ?? []
    if (document !== undefined) return document.id
  }
  return undefined
}

async function loadLocalFiles(client: Client, spaceId: string, filename: string) {
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

/** Lists matches with the ends of their ids, and saves these ids: the next command can name a document by them. */
function throwAmbiguousName(text: string, matches: readonly NamedDocument[], cacheDir: string): never {
  const shown = matches.slice(0, MAX_SHOWN_CANDIDATES)
  saveRecentIds(
    cacheDir,
    shown.map(({ id }) => id),
  )
  const names = shown.map(({ id, filename }) => `${formatShortId(id)} ${filename}`).join(', ')
  const more = matches.length > shown.length ? ` and ${formatCount(matches.length - shown.length)} more` : ''
  throw usageError(
    `${JSON.stringify(text)} matches ${pluralize(matches.length, 'document')}: ${names}${more}`,
    'use an id or a longer path',
  )
}

function throwUnknownDocument(text: string, documents: readonly NamedDocument[]): never {
  const nearest = findNearest(
    text,
    documents.map(({ filename }) => filename),
  )
  throw new CliError(`no document has the path ${JSON.stringify(text)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: nearest === undefined ? '`ks docs` lists all' : `did you mean \`${nearest}\`?`,
  })
}
