import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { LocalDirs } from '../../local/dirs.js'
import { readAliases } from '../aliases.js'
import { readUserConfig } from '../user-config.js'
import { listDocumentNames, listVirtualPaths } from './documents.js'
import type { CompletionKind } from './kinds.js'
import { getIds, getItems } from './pages.js'
import type { ServiceReader } from './service-reader.js'

/** Page size of lists; only the newest entries are offered. */
const PAGE_SIZE = 100
const MAX_SPACES = 500

/** Where values are read, and for which space. */
export interface CompletionSources {
  reader: ServiceReader
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

/** Paths of lists of the service by kind and space, newest first; a parameter follows. */
const LIST_PATHS: Partial<Record<CompletionKind, (id: string) => string>> = {
  job: (id) => `/knowledge-spaces/${id}/jobs?`,
  source: (id) => `/knowledge-spaces/${id}/sources?`,
  golden: (id) => `/knowledge-spaces/${id}/golden-questions?`,
  trace: (id) => `/knowledge-spaces/${id}/quality/traces?`,
  task: (id) => `/research-tasks?knowledgeSpaceId=${id}&`,
}

/** Lists values of a kind from the service. @param prefix typed start of a document or path */
export async function listServiceValues(
  kind: CompletionKind,
  prefix: string,
  sources: CompletionSources,
): Promise<readonly string[]> {
  const { reader } = sources
  if (kind === 'space') return (await listSpaces(reader)).map(({ slug }) => slug)
  if (kind === 'model') return await listModels(reader)
  const id = await findSpaceId(sources)
  if (id === undefined) return []
  const space = `/knowledge-spaces/${encodeURIComponent(id)}`
  if (kind === 'document') return await listDocumentNames(reader, space, prefix)
  if (kind === 'path') return await listVirtualPaths(reader, space, prefix)
  const getListPath = LIST_PATHS[kind]
  if (getListPath === undefined) return []
  return getIds(await reader.get(`${getListPath(encodeURIComponent(id))}limit=${PAGE_SIZE}`))
}

async function findSpaceId({ reader, space }: CompletionSources): Promise<string | undefined> {
  const [match, other] = (await listSpaces(reader)).filter(
    ({ slug, id }) => slug === space || id === space || space === undefined,
  )
  return other === undefined || space !== undefined ? match?.id : undefined
}

async function listSpaces(reader: ServiceReader): Promise<{ slug: string; id: string }[]> {
  const spaces: { slug: string; id: string }[] = []
  for (let cursor = ''; spaces.length < MAX_SPACES; ) {
    const page = await reader.get(`/knowledge-spaces?limit=${PAGE_SIZE}${cursor}`)
    spaces.push(...getItems(page).map(({ slug, id }) => ({ slug: String(slug), id: String(id) })))
    const next = isRecord(page) ? toNonEmptyString(page.nextCursor) : undefined
    if (next === undefined) break
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
  return spaces
}

/** Models used since the daemon started, as `plugin/provider/model`; only the operator may read them. */
async function listModels(reader: ServiceReader): Promise<string[]> {
  const status = await reader.get('/daemon/status')
  const models = isRecord(status) ? status.models : undefined
  const providers: unknown = isRecord(models) ? models.providers : undefined
  if (!Array.isArray(providers)) return []
  return providers.filter(isRecord).flatMap(({ pluginId, provider, circuits, contextTokens }) => {
    const configured = isRecord(contextTokens) ? Object.keys(contextTokens) : []
    const called = Array.isArray(circuits)
      ? circuits.filter(isRecord).flatMap(({ model }) => toNonEmptyString(model) ?? [])
      : []
    return [...called, ...configured].filter((name) => name !== '*').map((name) => `${pluginId}/${provider}/${name}`)
  })
}
