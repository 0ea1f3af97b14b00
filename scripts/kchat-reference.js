/** Writes the tables of `kchat` in `docs/cli.md` from the compiled program. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './build.js'

const PAGE = join(ROOT, 'docs', 'cli.md')
const START = '<!-- kchat: written by npm run build -->'
const END = '<!-- end of kchat -->'

/**
 * @param {string} page the text of docs/cli.md
 * @param {{ words: string[], command: import('commander').Command, examples: readonly string[] }[]} commands
 * @returns {string} the page with the tables of these commands
 */
export function withKchat(page, commands) {
  const from = page.indexOf(START)
  const to = page.indexOf(END)
  if (from < 0 || to < from) throw new Error(`docs/cli.md has no place for the commands of kchat (${START})`)
  const shared = optionsOf(commands.find(({ words }) => words[0] === 'stop')?.command)
  const sections = commands.map((command) => section(command, new Set(shared.map(({ long }) => long))))
  const text = ['### Options of every command of kchat\n', table(shared), ...sections].join('\n')
  return `${page.slice(0, from)}${START}\n\n${text}\n${page.slice(to)}`
}

function section({ words, command, examples }, shared) {
  const name = `kchat ${words.join(' ')}`
  const lines = [`### ${name}\n`, `${command.description()}\n`, '```', [name, argumentsOf(command)].join(' ').trim()]
  lines.push('```\n')
  const own = optionsOf(command).filter(({ long }) => !shared.has(long))
  if (own.length > 0) lines.push(table(own))
  lines.push('```sh', ...examples, '```\n')
  return lines.join('\n')
}

function argumentsOf(command) {
  return command.registeredArguments
    .map((argument) => (argument.required ? argument.name().toUpperCase() : `[${argument.name().toUpperCase()}]`))
    .join(' ')
}

function optionsOf(command) {
  return (command?.options ?? []).filter(({ hidden }) => !hidden)
}

function table(options) {
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

/** The commands of the compiled program with their examples. */
export async function kchatCommands() {
  const { buildProgram } = await import('../dist/kchat/program.js')
  const { listLeafCommands } = await import('../dist/kchat/completion.js')
  const { EXAMPLES } = await import('../dist/kchat/examples.js')
  return listLeafCommands(buildProgram()).map((command) => ({
    ...command,
    examples: EXAMPLES[command.words.join(' ')] ?? [],
  }))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(PAGE, withKchat(readFileSync(PAGE, 'utf8'), await kchatCommands()))
