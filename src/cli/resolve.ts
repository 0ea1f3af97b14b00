import type { Client } from '../client/client.js'
import { paginate } from '../client/pages.js'
import { EXIT } from '../contract/errors.js'
import type { KnowledgeSpace } from '../contract/gateway/spaces.js'
import { isUuid } from '../lib/ids.js'
import { nearest } from '../lib/text/nearest.js'
import { CliError, usageError } from './cli-error.js'
import { type DocumentFinder, documentFinder } from './document-name.js'
import { endsIn, recallIds } from './recent-ids.js'

/** Resolves user input to ids: a UUID, a slug, or `#` with the last 8 hex digits. */

const TAIL = /^#?([0-9a-f]{8})$/i

export interface SpaceRef {
  id: string
  /** Absent if the id was given and not looked up. */
  space?: KnowledgeSpace
}

/** @throws CliError exit 5 with the nearest slug as a hint */
export async function resolveSpace(client: Client, text: string): Promise<SpaceRef> {
  if (isUuid(text)) return { id: text }
  const tail = TAIL.exec(text)?.[1]?.toLowerCase()
  const slugs: string[] = []
  const byTail: KnowledgeSpace[] = []
  for await (const space of allSpaces(client)) {
    if (space.slug === text) return { id: space.id, space }
    slugs.push(space.slug)
    if (tail !== undefined && endsIn(space.id, tail)) byTail.push(space)
  }
  const [only, other] = byTail
  if (only !== undefined && other === undefined) return { id: only.id, space: only }
  throw noSpace(text, slugs)
}

/**
 * Returns the only space of a service.
 *
 * @throws CliError exit 2 if it has several, exit 5 if it has none
 */
export async function onlySpace(client: Client): Promise<KnowledgeSpace> {
  const { items } = await client.request('GET /knowledge-spaces', { query: { limit: 2 } })
  const [only, other] = items
  if (only !== undefined && other === undefined) return only
  if (only === undefined) {
    const hint = '`ks ingest PATH` creates the first one'
    throw new CliError('there is no space yet', { code: 'not-found', exit: EXIT.notFound, hint })
  }
  throw usageError(
    'no space given, but there are several',
    'use `--space SLUG`; `ks spaces` lists all, `ks config set space SLUG` sets a default',
  )
}

export function allSpaces(client: Client): AsyncGenerator<KnowledgeSpace, string | undefined> {
  return paginate((query) => client.request('GET /knowledge-spaces', { query }), { pageSize: 1000 })
}

function noSpace(text: string, slugs: string[]): CliError {
  const close = nearest(text, slugs)
  let hint = '`ks spaces` lists all'
  if (close !== undefined) hint = `did you mean \`${close}\`? ${hint}`
  else if (slugs.length === 0) hint = '`ks spaces create NAME` creates the first one'
  return new CliError(`unknown space ${JSON.stringify(text)}`, { code: 'not-found', exit: EXIT.notFound, hint })
}

/**
 * Resolves documents by id, by the end of an id, or by path: as listed, its last parts, or the path of the local file.
 *
 * @throws CliError exit 5 if none matches, exit 2 if several do
 */
export async function resolveDocuments(
  client: Client,
  spaceId: string,
  words: readonly string[],
  cacheDir: string,
): Promise<string[]> {
  const finder = documentFinder(client, spaceId, cacheDir)
  const ids: string[] = []
  for (const word of words) ids.push(await documentId(finder, word, cacheDir))
  return ids
}

export async function resolveDocument(
  client: Client,
  spaceId: string,
  text: string,
  cacheDir: string,
): Promise<string> {
  return await documentId(documentFinder(client, spaceId, cacheDir), text, cacheDir)
}

async function documentId(finder: DocumentFinder, text: string, cacheDir: string): Promise<string> {
  if (isUuid(text)) return text
  const tail = TAIL.exec(text)?.[1]?.toLowerCase()
  if (tail === undefined) return await finder.byPath(text)
  const recalled = recallIds(cacheDir, tail)
  if (recalled.length === 1 && recalled[0] !== undefined) return recalled[0]
  const found = await finder.byTail(tail)
  if (found !== undefined) return found
  if (text.startsWith('#')) throw unknownTail('document', text)
  return await finder.byPath(text)
}

/** Resolves an id of a kind without a list: a UUID, or the end of an id that was shown recently. */
export function resolveId(kind: string, text: string, cacheDir: string): string {
  if (isUuid(text)) return text
  const tail = TAIL.exec(text)?.[1]?.toLowerCase()
  if (tail === undefined) throw notAnId(kind, text)
  const recalled = recallIds(cacheDir, tail)
  if (recalled.length > 1) throw usageError(`${text} is the end of ${recalled.length} ids: use the full id`)
  const [only] = recalled
  if (only === undefined) throw unknownTail(kind, text)
  return only
}

function notAnId(kind: string, text: string): CliError {
  return usageError(`${JSON.stringify(text)} is not the id of a ${kind}: a uuid, or # and its last 8 hex digits`)
}

function unknownTail(kind: string, text: string): CliError {
  return new CliError(`no recently shown ${kind} has an id that ends in ${text}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: 'use the full id: `--format json` shows it',
  })
}
