import { getFlagSize } from './leading-flags.js'

/**
 * Commands of earlier versions, and the command that does the same now. Capital words are arguments of the earlier command
 * in their order, in brackets those that may be absent.
 */
export const MOVED_COMMANDS: Readonly<Record<string, string>> = {
  'alias delete': 'alias NAME --delete',
  'alias set': 'alias NAME COMMAND',
  'auth token create': 'auth token',
  'auth token revoke': 'auth token --revoke ID',
  commits: 'api listStagedCommits --paginate [--space SPACE]',
  'completion install': 'completion [SHELL] --install',
  'completion uninstall': 'completion [SHELL] --uninstall',
  'config allow-programs': 'config --allow-programs',
  'config get': 'config KEY',
  'config path': 'config --path',
  'config set': 'config KEY VALUE',
  'config unset': 'config KEY --unset',
  'context add': 'context NAME [--url URL]',
  'context remove': 'context NAME --remove',
  'context show': 'context --show',
  'context use': 'context NAME',
  'daemon run': 'daemon start --foreground',
  'daemon uninstall': 'daemon install --uninstall',
  'docs artifact': 'docs show ID --as elements',
  'docs asset': 'docs show ID --item ITEM [-o FILE]',
  'docs items': 'docs show ID --as items',
  'docs outline': 'docs show ID --as outline',
  'docs table': 'docs show ID --table NUMBER',
  'failed clusters': 'failed --clusters',
  'failed metrics': 'failed --counts',
  'failed verdict': 'failed triage ID CAUSE',
  'golden annotate': 'golden update ID [--answer CORRECTNESS]',
  'golden export': 'golden --export',
  'golden import': 'golden add --file FILE',
  'golden runs delete': 'golden delete ID --run',
  'golden runs': 'golden --runs',
  'golden show': 'golden ID',
  'graph cancel': 'graph extract --cancel',
  'graph entities': 'graph',
  'graph relations': 'api listGraphRelations --paginate [-f entityId=ENTITY]',
  'graph status': 'graph extract --status',
  'graph traverse': 'graph ENTITY',
  health: 'api getHealth',
  'jobs bulk': 'jobs show ID',
  'jobs wait': 'jobs show ID --wait',
  'jobs watch': 'jobs show ID --wait',
  'languages add': 'doctor --languages',
  languages: 'doctor --languages',
  leases: 'api listActiveLeases --paginate [--space SPACE]',
  'mcp uninstall': 'mcp install CLIENT --uninstall',
  'models detect': 'models add',
  openapi: 'api getOpenapi',
  'research events': 'research show ID --events',
  'research partials': 'research show ID --evidence',
  'research plan': 'research start TEXT --dry-run',
  'research report': 'research show ID --report',
  'retention set': 'api updateSpaceRetentionPolicy -F RULE=NUMBER',
  'retention show': 'api getSpaceRetentionPolicy',
  retention: 'api getSpaceRetentionPolicy',
  skill: 'help agents',
  'snapshots cat': 'api readWorkspaceSnapshotFile -f snapshotId=ID -f path=PATH',
  'snapshots create': 'api createWorkspaceSnapshot -f workspace=NAME',
  'snapshots delete': 'api deleteWorkspaceSnapshot -f snapshotId=ID',
  'snapshots replay': 'api replayWorkspaceSnapshot -f snapshotId=ID --paginate',
  'snapshots show': 'api getWorkspaceSnapshot -f snapshotId=ID',
  snapshots: 'api listWorkspaceSnapshots --paginate',
  'sources crawl': 'sources import ID',
  'sources files': 'sources show ID --files',
  'sources import-files': 'sources import ID [FILE]',
  'sources pages': 'sources show ID --pages',
  'sources test': 'sources show ID --test',
  'spaces cancel-embedding': 'spaces update SPACE --cancel-embedding ID',
  'spaces manifest': 'spaces show SPACE --manifest',
  'spaces profile': 'spaces show SPACE --profile',
  'spaces set-embedding': 'spaces update SPACE --embedding MODEL',
  'spaces set-profile': 'spaces update [SPACE]',
  'traces bad-case': 'golden add --trace ID',
  'traces conflicts': 'traces show ID --conflicts',
  'traces evidence': 'traces show ID --evidence',
  'traces history': 'api listMissingEvidenceHistory -f traceId=ID -f itemKey=KEY',
  'traces missing': 'traces show ID --missing',
  'traces review': 'api reviewMissingEvidence -f traceId=ID -f itemKey=KEY -f status=STATUS -F expectedRevision=0',
  'views communities': 'api materializeCommunities',
  'views community': 'graph communities',
  'views topic': 'api materializeTopic',
  views: 'graph communities',
  'watch list': 'watch',
}

const MAX_WORDS = 3

export interface MovedCommand {
  name: string
  replacement: string
}

/** The earlier command that words begin with, and its replacement. */
export function findMovedCommand(words: readonly string[]): MovedCommand | undefined {
  for (let count = Math.min(MAX_WORDS, words.length); count > 0; count--) {
    const name = words.slice(0, count).join(' ')
    const replacement = Object.hasOwn(MOVED_COMMANDS, name) ? MOVED_COMMANDS[name] : undefined
    if (replacement !== undefined) return { name, replacement }
  }
  return undefined
}

/** An argument of a replacement, such as `ID` or `RULE=NUMBER`. */
const PLACEHOLDER = /^([a-z][A-Za-z]*=)?[A-Z]+(=[A-Z]+)?$/
/** A group of words in brackets, or a word. */
const GROUPS = /\[([^\]]+)\]|\S+/g

/**
 * Replaces an earlier command by the present one: arguments take the places of the capital words, other words follow.
 *
 * @returns undefined if an argument is missing
 */
export function translateMovedCommand(
  { name, replacement }: MovedCommand,
  words: readonly string[],
): string[] | undefined {
  const { positionals, rest } = splitArguments(words.slice(name.split(' ').length))
  const translated: string[] = []
  for (const [group, optional] of replacement.matchAll(GROUPS)) {
    if (optional !== undefined && positionals.length === 0) continue
    for (const word of (optional ?? group).split(' ')) {
      const placeholder = PLACEHOLDER.exec(word)
      const value = placeholder === null ? word : positionals.shift()
      if (value === undefined) return undefined
      translated.push(`${placeholder?.[1] ?? ''}${value}`)
    }
  }
  return [...translated, ...positionals, ...rest]
}

/** Splits words into arguments and flags; only common flags are known to take a value. */
function splitArguments(words: readonly string[]): { positionals: string[]; rest: string[] } {
  const positionals: string[] = []
  const rest: string[] = []
  for (let index = 0; index < words.length; ) {
    const word = words[index] ?? ''
    const size = getFlagSize(word)
    if (size === 0 && word.startsWith('-') && word !== '-')
      return { positionals, rest: [...rest, ...words.slice(index)] }
    if (size === 0) positionals.push(word)
    else rest.push(...words.slice(index, index + size))
    index += Math.max(size, 1)
  }
  return { positionals, rest }
}
