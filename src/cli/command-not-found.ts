import type { Hook } from '@oclif/core/interfaces'
import { nearest } from '../lib/text/nearest.js'
import { CliError, usageError } from './cli-error.js'

/** What other tools call it, and what it is here. */
const OTHER_WORDS: Record<string, string> = {
  add: 'ingest PATH',
  ask: 'query QUESTION',
  chat: 'query QUESTION --session last',
  delete: 'docs delete',
  import: 'ingest PATH',
  find: 'search WORDS',
  index: 'ingest PATH',
  info: 'doctor',
  init: 'quickstart',
  list: 'docs',
  login: 'auth login',
  ls: 'docs',
  remove: 'docs delete',
  rm: 'docs delete',
  serve: 'daemon start',
  start: 'daemon start',
  status: 'daemon status',
  stop: 'daemon stop',
  sync: 'watch FOLDER',
  upload: 'ingest PATH',
  version: '--version',
}

/** Unknown commands are refused with the nearest one as a hint; it is never run. */
export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => {
  throw unknownCommand(id.split(':'), config.commandIDs)
}

/** The refusal of words that name no command. */
export function unknownCommand(words: string[], commandIds: string[]): CliError {
  const typed = words.join(' ')
  const before = words.slice(0, -1).join(':')
  if (commandIds.includes(before) && !commandIds.some((id) => id.startsWith(`${before}:`))) {
    const command = `ks ${spaced(before)}`
    return usageError(`\`${command}\` takes no argument ${JSON.stringify(words.at(-1))}`, `\`${command} --help\``)
  }
  const close = otherWord(words, commandIds) ?? nearestCommand(words, commandIds)
  return new CliError(`unknown command \`ks ${typed}\``, {
    code: 'usage',
    exit: 2,
    hint: close === undefined ? '`ks --help` lists the commands' : `did you mean \`ks ${close}\`?`,
  })
}

/** A word of other tools, or the last word of the one command that ends in it (`grep` for `fs grep`). */
function otherWord([first = '', second]: string[], commandIds: string[]): string | undefined {
  if (Object.hasOwn(OTHER_WORDS, first)) return OTHER_WORDS[first]
  const ending = commandIds.filter((id) => id.endsWith(`:${first}`))
  const [only] = ending
  return second === undefined && ending.length === 1 && only !== undefined ? spaced(only) : undefined
}

/** Where the first words are right, only the last one is looked at. */
function nearestCommand(words: string[], commandIds: string[]): string | undefined {
  const topic = words.slice(0, -1).join(':')
  const siblings = commandIds.filter((id) => topic !== '' && id.startsWith(`${topic}:`))
  if (siblings.length === 0) return nearest(words.join(' '), commandIds.map(spaced))
  const close = nearest(
    words.at(-1) ?? '',
    siblings.map((id) => id.slice(topic.length + 1)),
  )
  return close === undefined ? undefined : spaced(`${topic}:${close}`)
}

function spaced(id: string): string {
  return id.replaceAll(':', ' ')
}
