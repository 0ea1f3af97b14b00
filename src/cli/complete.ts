import { Client } from '../client/client.js'
import { findDaemon } from '../client/local-daemon.js'
import { isRecord, textOf } from '../lib/json/values.js'
import { localDirs } from '../local/dirs.js'
import { readAliases } from './aliases.js'
import { type Asked, askedOf, candidateLines, flagValue } from './complete-words.js'
import { resolveSettings } from './contexts.js'
import { readUserConfig } from './user-config.js'

/** Values for the completion of shells: asked of a daemon that runs, quick, and silent where there are none. */

type Kind = 'space' | 'document' | 'path' | 'context' | 'alias' | 'source' | 'job' | 'trace' | 'golden'

/** who waits for Tab waits no longer */
const WAIT_MS = 300
const ASKED_FOR = 200
const PAGE = 100

/** What the argument of a command names, by its words; a topic alone stands for those of its commands that have no line. */
export const ARGUMENTS: Readonly<Record<string, Kind>> = {
  spaces: 'space',
  jobs: 'space',
  'jobs watch': 'job',
  'jobs show': 'job',
  'jobs wait': 'job',
  'jobs cancel': 'job',
  'jobs retry': 'job',
  fsck: 'space',
  gc: 'space',
  commits: 'space',
  leases: 'space',
  'bundle export': 'space',
  docs: 'document',
  fs: 'path',
  'context use': 'context',
  'context remove': 'context',
  'alias delete': 'alias',
  sources: 'source',
  traces: 'trace',
  why: 'trace',
  golden: 'golden',
}
/** their argument is something new */
const NEW = new Set(['spaces create', 'sources add', 'golden add', 'golden import'])

const FLAGS: Readonly<Record<string, Kind>> = {
  '--space': 'space',
  '-s': 'space',
  '--doc': 'document',
  '--context': 'context',
}

/** What is to be completed. @returns undefined where nothing is known of it */
export function kindOf(
  { words, typed }: Asked,
  args: Readonly<Record<string, Kind>> = ARGUMENTS,
): { kind: Kind; head: string } | undefined {
  const flag = /^(--[\w-]+)=/.exec(typed)?.[1]
  if (flag !== undefined) return kindNamed(FLAGS, flag, `${flag}=`)
  if (typed.startsWith('-')) return undefined
  const last = words.at(-1) ?? ''
  if (Object.hasOwn(FLAGS, last)) return kindNamed(FLAGS, last, '')
  const [topic = '', verb = ''] = words.filter((word, at) => !word.startsWith('-') && !isValue(words, at))
  const both = `${topic} ${verb}`
  if (NEW.has(both)) return undefined
  return kindNamed(args, both, '') ?? kindNamed(args, topic, '')
}

function isValue(words: readonly string[], at: number): boolean {
  return Object.hasOwn(FLAGS, words[at - 1] ?? '')
}

function kindNamed(table: Readonly<Record<string, Kind>>, name: string, head: string) {
  const kind = Object.hasOwn(table, name) ? table[name] : undefined
  return kind === undefined ? undefined : { kind, head }
}

/**
 * `ks __complete SHELL …`: candidates, one a line. Whatever goes wrong, there are none.
 *
 * @param args what the arguments of the program's commands name
 */
export async function complete(
  argv: readonly string[],
  args: Readonly<Record<string, Kind>> = ARGUMENTS,
): Promise<void> {
  const timer = setTimeout(() => process.exit(0), WAIT_MS)
  try {
    const asked = askedOf(argv)
    const found = kindOf(asked, args)
    if (found === undefined) return
    const wanted = asked.typed.slice(found.head.length)
    process.stdout.write(candidateLines(await valuesOf(found.kind, wanted, asked.words), asked, found.head))
  } catch {
    // a shell that completes has no place for complaints
  } finally {
    clearTimeout(timer)
  }
}

async function valuesOf(kind: Kind, wanted: string, words: readonly string[]): Promise<string[]> {
  const dirs = localDirs()
  if (kind === 'alias') return Object.keys(readAliases(dirs.config))
  if (kind === 'context') return ['local', ...Object.keys(readUserConfig(dirs.config).contexts)]
  const flags = {
    context: flagValue(words, ['--context']),
    url: flagValue(words, ['--url']),
    tokenFile: flagValue(words, ['--token-file']),
  }
  const space = flagValue(words, ['--space', '-s'])
  const settings = resolveSettings({
    flags: { ...flags, space, mode: undefined, autostart: false },
    env: process.env,
    cwd: process.cwd(),
    dirs,
  })
  const place = settings.place.value
  const target =
    place.kind === 'remote' ? { url: place.url, token: place.token } : (await findDaemon(place.dataDir))?.target
  if (target?.token === undefined) return []
  const client = new Client({ ...target, token: place.token ?? target.token })
  try {
    return await asked(client, kind, wanted, settings.space?.value)
  } finally {
    client.close()
  }
}

async function asked(client: Client, kind: Kind, wanted: string, space: string | undefined): Promise<string[]> {
  const { items: spaces } = await client.request('GET /knowledge-spaces', { query: { limit: ASKED_FOR } })
  if (kind === 'space') return spaces.map(({ slug }) => slug)
  const id =
    spaces.find((one) => one.slug === space || one.id === space)?.id ??
    (spaces.length === 1 ? spaces[0]?.id : undefined)
  if (id === undefined) return []
  const path = { id }
  const query = { limit: PAGE }
  switch (kind) {
    case 'document':
      return await documents(client, id, wanted)
    case 'path':
      return await virtualPaths(client, id, wanted)
    case 'job':
      return idsOf(await client.request('GET /knowledge-spaces/{id}/jobs', { path, query }))
    case 'source':
      return idsOf(await client.request('GET /knowledge-spaces/{id}/sources', { path, query }))
    case 'golden':
      return idsOf(await client.request('GET /knowledge-spaces/{id}/golden-questions', { path, query }))
    case 'trace':
      return idsOf(await client.request('GET /knowledge-spaces/{id}/quality/traces', { path, query }))
    default:
      return []
  }
}

function idsOf(page: unknown): string[] {
  const items: unknown[] = isRecord(page) && Array.isArray(page.items) ? page.items : []
  return items.filter(isRecord).flatMap(({ id }) => textOf(id) ?? [])
}

/** Paths of documents that begin as wanted; ids where it looks like one. */
async function documents(client: Client, id: string, wanted: string): Promise<string[]> {
  const name = wanted.slice(wanted.lastIndexOf('/') + 1)
  if (name === '' || /^[0-9a-f]{1,8}-?[0-9a-f-]*$/i.test(wanted)) {
    const { items } = await client.request('GET /knowledge-spaces/{id}/documents', {
      path: { id },
      query: { limit: PAGE },
    })
    const ids = items.map((item) => item.id).filter((one) => name !== '' && one.startsWith(wanted))
    if (name === '' || ids.length > 0) return [...items.map(({ filename }) => filename), ...ids]
  }
  const query = { path: '/knowledge/documents', nameContains: name, limit: ASKED_FOR }
  const { items } = await client.request('GET /knowledge-spaces/{id}/fs/find', { path: { id }, query })
  return items.flatMap(({ metadata }) => textOf(isRecord(metadata) ? metadata.filename : undefined) ?? [])
}

/** What stands in the folder that the path is in. */
async function virtualPaths(client: Client, id: string, wanted: string): Promise<string[]> {
  const folder = wanted.slice(0, wanted.lastIndexOf('/'))
  if (folder === '') return ['/sources/', '/knowledge/', '/evidence/', '/workspaces/']
  const query = { path: folder, limit: ASKED_FOR }
  const { items } = await client.request('GET /knowledge-spaces/{id}/fs/ls', { path: { id }, query })
  return items.map(({ path }) => path)
}
