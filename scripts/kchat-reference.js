/** Writes the tables of `kchat` in `docs/cli.md` from the compiled program. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './build.js'
import { replaceBetween } from './cli-reference.js'

const PAGE = join(ROOT, 'docs', 'cli.md')
const START = '<!-- kchat: written by npm run build -->'
const END = '<!-- end of kchat -->'

/**
 * @param {string} page the text of docs/cli.md
 * @param {{ words: string[], command: import('commander').Command, examples: readonly string[] }[]} commands
 * @returns {string} the page with the tables of these commands
 */
export function withKchat(page, commands) {
  // `stop` has only the options of every command
  const shared = listOptions(commands.find(({ words }) => words[0] === 'stop')?.command)
  const sections = commands.map((command) => formatCommand(command, new Set(shared.map(({ long }) => long))))
  const text = ['### Options of every command of kchat\n', formatOptionTable(shared), ...sections].join('\n')
  return replaceBetween(page, START, END, text)
}

function formatCommand({ words, command, examples }, shared) {
  const name = `kchat ${words.join(' ')}`
  const lines = [
    `### ${name}\n`,
    `${command.description()}\n`,
    '```',
    [name, ...formatKchatArguments(command)].join(' '),
  ]
  lines.push('```\n')
  const options = listOptions(command).filter(({ long }) => !shared.has(long))
  if (options.length > 0) lines.push(formatOptionTable(options))
  lines.push('```sh', ...examples, '```\n')
  return lines.join('\n')
}

/** @returns {string[]} the arguments of a command in its synopsis: `NAME`, `[NAME]` */
export function formatKchatArguments(command) {
  return command.registeredArguments.map((argument) =>
    argument.required ? argument.name().toUpperCase() : `[${argument.name().toUpperCase()}]`,
  )
}

function listOptions(command) {
  return (command?.options ?? []).filter(({ hidden }) => !hidden)
}

function formatOptionTable(options) {
  const rows = options.map(({ flags, description, argChoices, mandatory }) => {
    const notes = [
      ...(argChoices ?? []).slice(0, 1).map(() => argChoices.join(', ')),
      ...(mandatory ? ['required'] : []),
    ]
    return `| \`${flags}\` | ${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`} |`.replaceAll(
      /(?<=[^ |])\|(?=[^ |])/g,
      '\\|',
    )
  })
  return ['| option | |', '|---|---|', ...rows, ''].join('\n')
}

/** Lists the commands of the compiled program with their examples. */
export async function listKchatCommands() {
  const { buildProgram } = await import('../dist/kchat/program.js')
  const { listLeafCommands } = await import('../dist/kchat/completion.js')
  const { EXAMPLES } = await import('../dist/kchat/examples.js')
  return listLeafCommands(buildProgram()).map((command) => ({
    ...command,
    examples: EXAMPLES[command.words.join(' ')] ?? [],
  }))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(PAGE, withKchat(readFileSync(PAGE, 'utf8'), await listKchatCommands()))
