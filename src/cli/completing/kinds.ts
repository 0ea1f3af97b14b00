import type { CompletionLine } from './completion-line.js'

/** What a word of a command line names, so that its values can be looked up. */
export type CompletionKind =
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
  | 'app'
  | 'key'
  | 'conversation'
  | 'annotation'
  | 'model'

/** One kind for all arguments of a command, or one for each position; `undefined` at positions without completion. */
export type ArgumentKinds = CompletionKind | readonly (CompletionKind | undefined)[]

/** Kinds of a program's arguments and flag values. */
export interface CompletionNames {
  /** By the words of a command; a topic alone covers its commands without an entry of their own. */
  args: Readonly<Record<string, ArgumentKinds>>
  flags: Readonly<Record<string, CompletionKind>>
}

/** Flags of every command that are followed by a value. */
const FLAGS_WITH_VALUE = new Set(
  '--format --fields --jq --template --url --token-file --timeout --limit --cursor --user'.split(' '),
)

/**
 * Finds what the typed word names.
 *
 * @returns the kind and the `--flag=` before the value, empty without one; undefined if the kind is unknown
 */
export function findCompletionKind(
  { words, typed }: CompletionLine,
  names: CompletionNames,
): { kind: CompletionKind; flagPrefix: string } | undefined {
  const flag = /^(--[\w-]+)=/.exec(typed)?.[1]
  if (flag !== undefined) return findKind(names.flags, flag, `${flag}=`)
  if (typed.startsWith('-') && typed !== '-') return undefined
  const last = words.at(-1) ?? ''
  if (Object.hasOwn(names.flags, last)) return findKind(names.flags, last, '')
  const argumentWords = words.filter((word, index) => !word.startsWith('-') && !isFlagValue(words, index, names))
  for (const length of [3, 2, 1]) {
    const command = argumentWords.slice(0, length).join(' ')
    if (argumentWords.length < length || !Object.hasOwn(names.args, command)) continue
    const kinds = names.args[command]
    const kind = typeof kinds === 'string' ? kinds : kinds?.[argumentWords.length - length]
    return kind === undefined ? undefined : { kind, flagPrefix: '' }
  }
  return undefined
}

function isFlagValue(words: readonly string[], index: number, { flags }: CompletionNames): boolean {
  const previous = words[index - 1] ?? ''
  return Object.hasOwn(flags, previous) || FLAGS_WITH_VALUE.has(previous)
}

function findKind(table: Readonly<Record<string, CompletionKind>>, name: string, flagPrefix: string) {
  const kind = Object.hasOwn(table, name) ? table[name] : undefined
  return kind === undefined ? undefined : { kind, flagPrefix }
}

/** Flags that `ks` and `kchat` share. */
const SHARED_FLAGS = { '--space': 'space', '--context': 'context' } as const

/** Kinds of `ks`. A topic's entry would cover its create commands, too, so those have an empty entry. */
export const KS_NAMES: CompletionNames = {
  args: {
    spaces: 'space',
    'spaces create': [],
    jobs: 'space',
    'jobs show': 'job',
    'jobs cancel': 'job',
    'jobs retry': 'job',
    fsck: 'space',
    gc: 'space',
    'bundle export': 'space',
    docs: 'document',
    fs: 'path',
    'fs grep': [undefined, 'path'],
    'fs sh': [],
    context: 'context',
    alias: ['alias'],
    sources: 'source',
    'sources add': [],
    'sources import': ['source'],
    research: 'task',
    'research start': [],
    traces: 'trace',
    why: ['trace'],
    golden: 'golden',
    'golden add': [],
  },
  flags: {
    ...SHARED_FLAGS,
    '-s': 'space',
    '--doc': 'document',
    '--source': 'source',
    '--embedding': 'model',
    '--reasoning-model': 'model',
    '--rerank-model': 'model',
  },
}

/** Kinds of `kchat`. */
export const KCHAT_NAMES: CompletionNames = {
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
