import type { Hook } from '@oclif/core/interfaces'
import { computeEditDistance, findNearest } from '../lib/text/nearest.js'
import { type CliError, usageError } from './cli-error.js'
import { findMovedCommand, type MovedCommand, translateMovedCommand } from './moved-commands.js'
import { writeErr } from './terminal-writer.js'

/** Command names of other tools, with our command. */
const COMMAND_SYNONYMS: Record<string, string> = {
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

/** An unknown command with at least this many words is probably a question. */
const MIN_QUESTION_WORDS = 3

/** Rejects an unknown command with the nearest command as a hint; never runs it. */
export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => {
  throw toUnknownCommandError(id.split(':'), config.commandIDs)
}

/**
 * Replaces a command of an earlier version by the present one, and says so at a terminal.
 *
 * @returns the same words if they are no earlier command
 * @throws CliError exit 2 with the present command if an argument is missing
 */
export function replaceMovedCommand(words: string[]): string[] {
  const moved = findMovedCommand(words)
  if (moved === undefined) return words
  const isHelp = words.includes('--help') || words.includes('-h')
  const translated = isHelp ? [...takeCommandWords(moved.replacement), '--help'] : translateMovedCommand(moved, words)
  if (translated === undefined) throw toMovedCommandError(moved)
  if (process.stderr.isTTY) writeErr(`note: \`ks ${moved.name}\` is now \`ks ${moved.replacement}\`\n`)
  return translated
}

function toMovedCommandError({ name, replacement }: MovedCommand): CliError {
  return usageError(`\`ks ${name}\` has moved`, `use \`ks ${replacement}\``)
}

/** The words of a command line before its first argument or flag. */
function takeCommandWords(line: string): string[] {
  const words = line.split(' ')
  const end = words.findIndex((word) => !/^[a-z][a-z-]+$/.test(word))
  return end === -1 ? words : words.slice(0, end)
}

/** Builds the error for words that are not a command. @param fallbackHint hint if no command is similar */
export function toUnknownCommandError(words: string[], commandIds: string[], fallbackHint?: string): CliError {
  const moved = findMovedCommand(words)
  if (moved !== undefined) return toMovedCommandError(moved)
  const typed = words.join(' ')
  const parent = words.slice(0, -1).join(':')
  if (commandIds.includes(parent) && !commandIds.some((id) => id.startsWith(`${parent}:`))) {
    const command = `ks ${toWords(parent)}`
    return usageError(`\`${command}\` takes no argument ${JSON.stringify(words.at(-1))}`, `\`${command} --help\``)
  }
  const [first = ''] = words
  if (first.startsWith('-')) return toMisplacedFlagError(first)
  const nearest = findSynonym(words, commandIds) ?? findNearestCommand(words, commandIds)
  const hint = nearest === undefined ? (fallbackHint ?? getFallbackHint(typed)) : `did you mean \`ks ${nearest}\`?`
  return usageError(`unknown command \`ks ${typed}\``, hint)
}

function toMisplacedFlagError(flag: string): CliError {
  if (/^-[vV]$/.test(flag)) return usageError(`ks has no flag \`${flag}\``, '`ks --version`')
  return usageError(`\`${flag}\` is before the command`, `flags follow it: \`ks COMMAND ${flag} …\``)
}

/** Hint without a similar command: several words are probably a question. */
function getFallbackHint(typed: string): string {
  const isQuestion = typed.split(/\s+/).length >= MIN_QUESTION_WORDS
  return isQuestion ? 'ask a question with `ks query QUESTION`' : '`ks --help` lists the commands'
}

/** The command for a synonym, or the only command that ends in this word (`grep` for `fs grep`). */
function findSynonym([first = '', second]: string[], commandIds: string[]): string | undefined {
  if (Object.hasOwn(COMMAND_SYNONYMS, first)) return COMMAND_SYNONYMS[first]
  const [only, other] = commandIds.filter((id) => id.endsWith(`:${first}`))
  return second === undefined && only !== undefined && other === undefined ? toWords(only) : undefined
}

/**
 * If the topic exists, compares the last word with the topic's commands. Otherwise the last word may be an argument.
 */
function findNearestCommand(words: string[], commandIds: string[]): string | undefined {
  const topic = words.slice(0, -1).join(':')
  const siblings = commandIds.filter((id) => topic !== '' && id.startsWith(`${topic}:`))
  if (siblings.length === 0) {
    const match = findNearest(words.join(' '), commandIds.map(toWords))
    return match ?? findNearestFirstWord(words.slice(0, -1), commandIds)
  }
  const nearest = findNearest(
    words.at(-1) ?? '',
    siblings.map((id) => id.slice(topic.length + 1)),
  )
  return nearest === undefined ? undefined : toWords(`${topic}:${nearest}`)
}

/** A single word matches a command at one wrong letter only: other words begin a question. */
function findNearestFirstWord(words: string[], commandIds: string[]): string | undefined {
  const [first = '', second] = words
  if (second !== undefined) return findNearestCommand(words, commandIds)
  return commandIds.find((id) => first.length > 2 && computeEditDistance(first, id) <= 1)
}

function toWords(id: string): string {
  return id.replaceAll(':', ' ')
}
