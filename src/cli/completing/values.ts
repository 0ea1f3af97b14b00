import { isRecord, textOf } from '../../lib/json/values.js'
import type { LocalDirs } from '../../local/dirs.js'
import { readAliases } from '../aliases.js'
import { readUserConfig } from '../user-config.js'
import type { Asker } from './asker.js'
import { documentNames, looksLikeId, virtualPaths } from './documents.js'
import type { Answer, KeptAnswers } from './kept.js'
import type { Kind } from './kinds.js'
import { idsOf, itemsOf } from './pages.js'

/** Page size of lists; only the newest entries are offered. */
const PAGE = 100
const MOST_SPACES = 500
const NONE: Answer = { values: [], isWhole: false }

/** Where values are read, and for which space. */
export interface Around {
  asker: Asker
  kept: KeptAnswers
  /** Slug or id of the space, if one is named. */
  space: string | undefined
}

/** Lists values from files of this machine; `undefined` if the service has to be queried. */
export function localValues(kind: Kind, dirs: LocalDirs, program: 'ks' | 'kchat'): readonly string[] | undefined {
  if (kind === 'alias') return Object.keys(readAliases(dirs.config, program))
  if (kind === 'context') return ['local', ...Object.keys(readUserConfig(dirs.config).contexts)]
  return undefined
}

/** Lists of the service by kind, newest first. */
const LISTS: Partial<Record<Kind, (id: string) => string>> = {
  job: (id) => `/knowledge-spaces/${id}/jobs?`,
  source: (id) => `/knowledge-spaces/${id}/sources?`,
  golden: (id) => `/knowledge-spaces/${id}/golden-questions?`,
  trace: (id) => `/knowledge-spaces/${id}/quality/traces?`,
  task: (id) => `/research-tasks?knowledgeSpaceId=${id}&`,
  snapshot: () => '/agent-workspace-snapshots?',
}

/** Lists values of a kind from the service, with a short cache. */
export async function serviceValues(kind: Kind, wanted: string, around: Around): Promise<readonly string[]> {
  if (kind === 'space') return (await spacesOf(around, ({ slug }) => slug.startsWith(wanted))).map(({ slug }) => slug)
  if (kind === 'model') return await models(around)
  const id = await spaceId(around)
  if (id === undefined) return []
  const question = questionOf(kind, id, wanted)
  const known = around.kept.find(question, wanted)
  if (known !== undefined) return known.values
  const answer = await ask(kind, id, wanted, around.asker)
  around.kept.keep(question, wanted, answer)
  return answer.values
}

/** The cache key; for documents and paths one for each folder. */
function questionOf(kind: Kind, id: string, wanted: string): string {
  if (kind === 'document' && looksLikeId(wanted)) return `ids ${id}`
  const isByFolder = kind === 'document' || kind === 'path'
  return `${kind} ${id} ${isByFolder ? wanted.slice(0, wanted.lastIndexOf('/') + 1) : ''}`
}

async function ask(kind: Kind, id: string, wanted: string, asker: Asker): Promise<Answer> {
  const space = `/knowledge-spaces/${encodeURIComponent(id)}`
  if (kind === 'document') return await documentNames(asker, space, wanted)
  if (kind === 'path') return await virtualPaths(asker, space, wanted)
  const list = LISTS[kind]
  if (list === undefined) return NONE
  const page = await asker.get(`${list(encodeURIComponent(id))}limit=${PAGE}`)
  return { values: idsOf(page), isWhole: !isRecord(page) || page.nextCursor === undefined }
}

async function spaceId(around: Around): Promise<string | undefined> {
  const { space } = around
  const isMeant = ({ slug, id }: SpaceName) => slug === space || id === space || space === undefined
  const [meant, other] = (await spacesOf(around, isMeant)).filter(isMeant)
  return other === undefined || space !== undefined ? meant?.id : undefined
}

interface SpaceName {
  slug: string
  id: string
}

/** Lists spaces from the cache; reloads them if no cached space matches. */
async function spacesOf({ asker, kept }: Around, isLookedFor: (space: SpaceName) => boolean): Promise<SpaceName[]> {
  const known = kept.find('spaces', '')?.values.map(spaceName)
  if (known?.some(isLookedFor) === true) return known
  const lines = await askForSpaces(asker)
  kept.keep('spaces', '', { values: lines, isWhole: true })
  return lines.map(spaceName)
}

function spaceName(line: string): SpaceName {
  const [slug = '', id = ''] = line.split(' ')
  return { slug, id }
}

async function askForSpaces(asker: Asker): Promise<string[]> {
  const lines: string[] = []
  for (let cursor = ''; lines.length < MOST_SPACES; ) {
    const page = await asker.get(`/knowledge-spaces?limit=${PAGE}${cursor}`)
    lines.push(...itemsOf(page).map(({ slug, id }) => `${slug} ${id}`))
    const next = isRecord(page) ? textOf(page.nextCursor) : undefined
    if (next === undefined) break
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
  return lines
}

/** Models used since the daemon started, as `plugin/provider/model`; only the operator may read them. */
async function models({ asker }: Around): Promise<string[]> {
  const status = await asker.get('/daemon/status')
  const used = isRecord(status) ? status.models : undefined
  const providers: unknown = isRecord(used) ? used.providers : undefined
  if (!Array.isArray(providers)) return []
  return providers.filter(isRecord).flatMap(({ pluginId, provider, circuits, contextTokens }) => {
    const known = isRecord(contextTokens) ? Object.keys(contextTokens) : []
    const tried = Array.isArray(circuits) ? circuits.filter(isRecord).flatMap(({ model }) => textOf(model) ?? []) : []
    return [...tried, ...known].filter((name) => name !== '*').map((name) => `${pluginId}/${provider}/${name}`)
  })
}
