import type { Client } from '../client/client.js'
import { paginate } from '../client/pages.js'
import { EXIT } from '../contract/errors.js'
import type { KnowledgeSpace } from '../contract/gateway/spaces.js'
import { isUuid } from '../lib/ids.js'
import { findNearest } from '../lib/text/nearest.js'
import { CliError, usageError } from './cli-error.js'
import { createDocumentFinder, type DocumentFinder } from './document-name.js'
import { findRecentIds, hasIdTail } from './recent-ids.js'

/** Resolves user input to ids: a UUID, a slug, or `#` with the last 8 hex digits. */

const ID_TAIL = /^#?([0-9a-f]{8})$/i

export interface SpaceRef {
  id: string
  /** Absent if the user gave the id itself: the space was not loaded. */
  space?: KnowledgeSpace
}

/** Resolves a space by its id, slug, or the end of its id. @throws CliError exit 5 with the nearest slug as a hint */
export async function resolveSpace(client: Client, text: string): Promise<SpaceRef> {
  if (isUuid(text)) return { id: text }
  const tail = ID_TAIL.exec(text)?.[1]?.toLowerCase()
  const slugs: string[] = []
  const tailMatches: KnowledgeSpace[] = []
  const spaces = paginate((query) => client.request('GET /knowledge-spaces', { query }), { pageSize: 1000 })
  for await (const space of spaces) {
    if (space.slug === text) return { id: space.id, space }
    slugs.push(space.slug)
    if (tail !== undefined && hasIdTail(space.id, tail)) tailMatches.push(space)
  }
  const [only, second] = tailMatches
  if (only !== undefined && second === undefined) return { id: only.id, space: only }
  throw toUnknownSpaceError(text, slugs)
}

/**
 * Returns the only space of a service.
 *
 * @throws CliError exit 2 if it has several, exit 5 if it has none
 */
export async function getOnlySpace(client: Client): Promise<KnowledgeSpace> {
  const { items } = await client.request('GET /knowledge-spaces', { query: { limit: 2 } })
  const [only, second] = items
  if (only !== undefined && second === undefined) return only
  if (only === undefined) {
    const hint = '`ks ingest PATH` creates the first one'
    throw new CliError('there is no space yet', { code: 'not-found', exit: EXIT.notFound, hint })
  }
  throw usageError(
    'no space given, but there are several',
    'use `--space SLUG`; `ks spaces` lists all, `ks config space SLUG` sets a default',
  )
}

function toUnknownSpaceError(text: string, slugs: string[]): CliError {
  const nearest = findNearest(text, slugs)
  let hint = '`ks spaces` lists all'
  if (nearest !== undefined) hint = `did you mean \`${nearest}\`? ${hint}`
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
  names: readonly string[],
  cacheDir: string,
): Promise<string[]> {
  const finder = createDocumentFinder(client, spaceId, cacheDir)
  const ids: string[] = []
  for (const name of names) ids.push(await resolveDocumentId(finder, name, cacheDir))
  return ids
}

/** Like `resolveDocuments`, for one name. */
export async function resolveDocument(
  client: Client,
  spaceId: string,
  text: string,
  cacheDir: string,
): Promise<string> {
  return await resolveDocumentId(createDocumentFinder(client, spaceId, cacheDir), text, cacheDir)
}

async function resolveDocumentId(finder: DocumentFinder, text: string, cacheDir: string): Promise<string> {
  if (isUuid(text)) return text
  const tail = ID_TAIL.exec(text)?.[1]?.toLowerCase()
  if (tail === undefined) return await finder.findByPath(text)
  const recentIds = findRecentIds(cacheDir, tail)
  if (recentIds.length === 1 && recentIds[0] !== undefined) return recentIds[0]
  const matchId = await finder.findByTail(tail)
  if (matchId !== undefined) return matchId
  if (text.startsWith('#')) throw toUnknownTailError('document', text)
  return await finder.findByPath(text)
}

/** Resolves an id without a request: a UUID, or the end of a recently shown id. @param kind noun for messages */
export function resolveId(kind: string, text: string, cacheDir: string): string {
  if (isUuid(text)) return text
  const tail = ID_TAIL.exec(text)?.[1]?.toLowerCase()
  if (tail === undefined)
    throw usageError(`${JSON.stringify(text)} is not the id of a ${kind}: a uuid, or # and its last 8 hex digits`)
  const recentIds = findRecentIds(cacheDir, tail)
  if (recentIds.length > 1) throw usageError(`${text} is the end of ${recentIds.length} ids: use the full id`)
  const [only] = recentIds
  if (only === undefined) throw toUnknownTailError(kind, text)
  return only
}

/** Kinds of which `last` names the newest. */
export type NewestKind = 'trace' | 'job' | 'research task' | 'golden question' | 'golden run'

/**
 * The id of the newest item of a kind.
 *
 * @param spaceId only of this space; a research task may be of any
 * @throws CliError exit 5 if there is none
 */
export async function findNewest(client: Client, kind: NewestKind, spaceId: string | undefined): Promise<string> {
  const newest =
    spaceId === undefined ? await loadNewestTask(client, {}) : await loadNewestOfSpace(client, kind, spaceId)
  if (newest !== undefined) return newest
  const owner = spaceId === undefined ? '' : ' in this space'
  throw new CliError(`there is no ${kind}${owner} yet`, { code: 'not-found', exit: EXIT.notFound })
}

async function loadNewestOfSpace(client: Client, kind: NewestKind, id: string): Promise<string | undefined> {
  if (kind === 'research task') return await loadNewestTask(client, { knowledgeSpaceId: id })
  if (kind === 'golden question') return await loadNewestQuestion(client, id)
  const page = { path: { id }, query: { limit: 1 } }
  const { items } =
    kind === 'trace'
      ? await client.request('GET /knowledge-spaces/{id}/quality/traces', page)
      : kind === 'golden run'
        ? await client.request('GET /knowledge-spaces/{id}/golden-runs', page)
        : await client.request('GET /knowledge-spaces/{id}/jobs', page)
  return items[0]?.id
}

/** The service lists golden questions oldest first. */
async function loadNewestQuestion(client: Client, id: string): Promise<string | undefined> {
  const load = (query: { limit?: number; cursor?: string }) =>
    client.request('GET /knowledge-spaces/{id}/golden-questions', { path: { id }, query })
  let newest: string | undefined
  for await (const question of paginate(load, { pageSize: 1000 })) newest = question.id
  return newest
}

async function loadNewestTask(client: Client, filter: { knowledgeSpaceId?: string }): Promise<string | undefined> {
  const { items } = await client.request('GET /research-tasks', { query: { ...filter, limit: 1 } })
  return items[0]?.id
}

function toUnknownTailError(kind: string, text: string): CliError {
  return new CliError(`no recently shown ${kind} has an id that ends in ${text}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: 'use the full id: `--format json` shows it',
  })
}
