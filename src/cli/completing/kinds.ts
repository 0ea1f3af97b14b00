import type { Asked } from './words.js'

/** What a word of a command line names, so that values for it can be looked up. */
export type Kind =
  | 'space'
  | 'document'
  | 'path'
  | 'context'
  | 'alias'
  | 'source'
  | 'job'
  | 'task'
  | 'trace'
  | 'golden'
  | 'snapshot'
  | 'app'
  | 'key'
  | 'conversation'
  | 'annotation'
  | 'model'

/** One for all arguments of a command, or one for each place; undefined where nothing is known of a place. */
export type Places = Kind | readonly (Kind | undefined)[]

/** What the words of a program name. */
export interface Names {
  /** by the words of a command; a topic alone stands for those of its commands that have no line */
  args: Readonly<Record<string, Places>>
  flags: Readonly<Record<string, Kind>>
}

/** flags of every command whose next word is their value */
const VALUED = new Set(
  '--format --fields --jq --template --url --token-file --timeout --limit --cursor --user'.split(' '),
)

/** What is to be completed. @returns undefined where nothing is known of it */
export function kindOf({ words, typed }: Asked, names: Names): { kind: Kind; head: string } | undefined {
  const flag = /^(--[\w-]+)=/.exec(typed)?.[1]
  if (flag !== undefined) return kindNamed(names.flags, flag, `${flag}=`)
  if (typed.startsWith('-') && typed !== '-') return undefined
  const last = words.at(-1) ?? ''
  if (Object.hasOwn(names.flags, last)) return kindNamed(names.flags, last, '')
  const plain = words.filter((word, at) => !word.startsWith('-') && !isValue(words, at, names))
  for (const length of [3, 2, 1]) {
    const command = plain.slice(0, length).join(' ')
    if (plain.length < length || !Object.hasOwn(names.args, command)) continue
    const places = names.args[command]
    const kind = typeof places === 'string' ? places : places?.[plain.length - length]
    return kind === undefined ? undefined : { kind, head: '' }
  }
  return undefined
}

function isValue(words: readonly string[], at: number, { flags }: Names): boolean {
  const before = words[at - 1] ?? ''
  return Object.hasOwn(flags, before) || VALUED.has(before)
}

function kindNamed(table: Readonly<Record<string, Kind>>, name: string, head: string) {
  const kind = Object.hasOwn(table, name) ? table[name] : undefined
  return kind === undefined ? undefined : { kind, head }
}

/** flags that `ks` and `kchat` have both */
const SHARED_FLAGS = { '--space': 'space', '--context': 'context' } as const

/** What the words of `ks` name. A topic's own line would stand for its new things, too, so those have an empty one. */
export const KS: Names = {
  args: {
    spaces: 'space',
    'spaces create': [],
    'spaces cancel-embedding': ['space'],
    'spaces set-embedding': ['space', 'model'],
    jobs: 'space',
    'jobs watch': 'job',
    'jobs show': 'job',
    'jobs wait': 'job',
    'jobs cancel': 'job',
    'jobs retry': 'job',
    'jobs bulk': [],
    fsck: 'space',
    gc: 'space',
    commits: 'space',
    leases: 'space',
    'bundle export': 'space',
    docs: 'document',
    'docs asset': ['document'],
    'docs table': ['document'],
    fs: 'path',
    'fs grep': [undefined, 'path'],
    'context use': 'context',
    'context remove': 'context',
    'alias delete': 'alias',
    sources: 'source',
    'sources add': [],
    'sources import': ['source'],
    'sources import-files': ['source'],
    research: 'task',
    'research plan': [],
    'research start': [],
    traces: 'trace',
    'traces history': ['trace'],
    'traces review': ['trace'],
    why: ['trace'],
    golden: 'golden',
    'golden add': [],
    'golden import': [],
    snapshots: 'snapshot',
    'snapshots create': [],
    'snapshots cat': ['snapshot'],
  },
  flags: {
    ...SHARED_FLAGS,
    '-s': 'space',
    '--doc': 'document',
    '--source': 'source',
    '--snapshot': 'snapshot',
    '--embedding': 'model',
    '--reasoning-model': 'model',
    '--rerank-model': 'model',
  },
}

/** What the words of `kchat` name. */
export const KCHAT: Names = {
  args: {
    use: 'key',
    apps: 'app',
    'apps create': [],
    'apps keys': 'app',
    'apps keys revoke': ['app'],
    history: 'conversation',
    conversations: 'conversation',
    'conversations rename': ['conversation'],
    'conversations set-var': ['conversation'],
    'annotations update': 'annotation',
    'annotations delete': 'annotation',
    'alias delete': 'alias',
  },
  flags: {
    ...SHARED_FLAGS,
    '--app': 'key',
    '--conversation': 'conversation',
    '--model': 'model',
    '--speech-to-text-model': 'model',
    '--text-to-speech-model': 'model',
  },
}
