import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { LocalDirs } from '../../local/dirs.js'
import { readAliases } from '../aliases.js'
import { readUserConfig } from '../user-config.js'
import type { AnswerCache, CompletionAnswer } from './answer-cache.js'
import { listDocumentNames, listVirtualPaths, looksLikeId } from './documents.js'
import type { CompletionKind } from './kinds.js'
import { getIds, getItems } from './pages.js'
import type { ServiceReader } from './service-reader.js'

/** Page size of lists; only the newest entries are offered. */
const PAGE_SIZE = 100
const MAX_SPACES = 500
const NONE: CompletionAnswer = { values: [], isComplete: false }

/** Where values are read, and for which space. */
export interface CompletionSources {
  reader: ServiceReader
  cache: AnswerCache
  /** Slug or id of the space, if one is named. */
  space: string | undefined
}

/** Lists values from files of this machine; `undefined` if the service has to be queried. */
export function listLocalValues(
  kind: CompletionKind,
  dirs: LocalDirs,
  program: 'ks' | 'kchat',
): readonly string[] | undefined {
  if (kind === 'alias') return Object.keys(readAliases(dirs.config, program))
  if (kind === 'context') return ['local', ...Object.keys(readUserConfig(dirs.config).contexts)]
  return undefined
}

/** Lists of the service by kind, newest first. */
const LIST_PATHS: Partial<Record<CompletionKind, (id: string) => string>> = {
  job: (id) => `/knowledge-spaces/${id}/jobs?`,
  source: (id) => `/knowledge-spaces/${id}/sources?`,
  golden: (id) => `/knowledge-spaces/${id}/golden-questions?`,
  trace: (id) => `/knowledge-spaces/${id}/quality/traces?`,
  task: (id) => `/research-tasks?knowledgeSpaceId=${id}&`,
  snapshot: () => '/agent-workspace-snapshots?',
}

/** Lists values of a kind from the service, with a short cache. */
export async function listServiceValues(
  kind: CompletionKind,
  prefix: string,
  sources: CompletionSources,
): Promise<readonly string[]> {
  if (kind === 'space')
    return (await listSpaces(sources, ({ slug }) => slug.startsWith(prefix))).map(({ slug }) => slug)
  if (kind === 'model') return await listModels(sources)
  const id = await findSpaceId(sources)
  if (id === undefined) return []
  const cacheKey = buildCacheKey(kind, id, prefix)
  const cached = sources.cache.find(cacheKey, prefix)
  if (cached !== undefined) return cached.values
  const answer = await queryValues(kind, id, prefix, sources.reader)
  sources.cache.save(cacheKey, prefix, answer)
  return answer.values
}

/** The cache key; for documents and paths one for each folder. */
function buildCacheKey(kind: CompletionKind, id: string, prefix: string): string {
  if (kind === 'document' && looksLikeId(prefix)) return `ids ${id}`
  const isByFolder = kind === 'document' || kind === 'path'
  return `${kind} ${id} ${isByFolder ? prefix.slice(0, prefix.lastIndexOf('/') + 1) : ''}`
}

async function queryValues(
  kind: CompletionKind,
  id: string,
  prefix: string,
  reader: ServiceReader,
): Promise<CompletionAnswer> {
  const space = `/knowledge-spaces/${encodeURIComponent(id)}`
  if (kind === 'document') return await listDocumentNames(reader, space, prefix)
  if (kind === 'path') return await listVirtualPaths(reader, space, prefix)
  const list = LIST_PATHS[kind]
  if (list === undefined) return NONE
  const page = await reader.get(`${list(encodeURIComponent(id))}limit=${PAGE_SIZE}`)
  return { values: getIds(page), isComplete: !isRecord(page) || page.nextCursor === undefined }
}

async function findSpaceId(sources: CompletionSources): Promise<string | undefined> {
  const { space } = sources
  const isMatch = ({ slug, id }: SpaceIdentity) => slug === space || id === space || space === undefined
  const [match, other] = (await listSpaces(sources, isMatch)).filter(isMatch)
  return other === undefined || space !== undefined ? match?.id : undefined
}

interface SpaceIdentity {
  slug: string
  id: string
}

/** Lists spaces from the cache; reloads them if no cached space matches. */
async function listSpaces(
  { reader, cache }: CompletionSources,
  isMatch: (space: SpaceIdentity) => boolean,
): Promise<SpaceIdentity[]> {
  const cached = cache.find('spaces', '')?.values.map(parseSpaceIdentity)
  if (cached?.some(isMatch) === true) return cached
  const lines = await loadSpaces(reader)
  cache.save('spaces', '', { values: lines, isComplete: true })
  return lines.map(parseSpaceIdentity)
}

function parseSpaceIdentity(line: string): SpaceIdentity {
  const [slug = '', id = ''] = line.split(' ')
  return { slug, id }
}

async function loadSpaces(reader: ServiceReader): Promise<string[]> {
  const lines: string[] = []
  for (let cursor = ''; lines.length < MAX_SPACES; ) {
    const page = await reader.get(`/knowledge-spaces?limit=${PAGE_SIZE}${cursor}`)
    lines.push(...getItems(page).map(({ slug, id }) => `${slug} ${id}`))
    const next = isRecord(page) ? toNonEmptyString(page.nextCursor) : undefined
    if (next === undefined) break
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
  return lines
}

/** Models used since the daemon started, as `plugin/provider/model`; only the operator may read them. */
async function listModels({ reader }: CompletionSources): Promise<string[]> {
  const status = await reader.get('/daemon/status')
  const used = isRecord(status) ? status.models : undefined
  const providers: unknown = isRecord(used) ? used.providers : undefined
  if (!Array.isArray(providers)) return []
  return providers.filter(isRecord).flatMap(({ pluginId, provider, circuits, contextTokens }) => {
    const known = isRecord(contextTokens) ? Object.keys(contextTokens) : []
    const tried = Array.isArray(circuits)
      ? circuits.filter(isRecord).flatMap(({ model }) => toNonEmptyString(model) ?? [])
      : []
    return [...tried, ...known].filter((name) => name !== '*').map((name) => `${pluginId}/${provider}/${name}`)
  })
}
