/** Writes the command tables of `docs/cli.md` from the manifest of the compiled commands. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './build.js'

const PAGE = join(ROOT, 'docs', 'cli.md')
const START = '<!-- commands: written by npm run build -->'
const END = '<!-- end of commands -->'

/**
 * @param {string} page the text of docs/cli.md
 * @param {{ commands: Record<string, object> }} manifest
 * @param {Record<string, object>} common flags that every command takes; the manifest leaves them out
 * @returns {string} the page with the tables of this manifest
 */
export function withReference(page, manifest, common) {
  const from = page.indexOf(START)
  const to = page.indexOf(END)
  if (from < 0 || to < from) throw new Error(`docs/cli.md has no place for the commands (${START})`)
  return `${page.slice(0, from)}${START}\n\n${reference(manifest, common)}\n${page.slice(to)}`
}

function reference({ commands }, common) {
  const visible = Object.entries(commands)
    .filter(([, command]) => command.hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    '### Flags of every command\n',
    flagTable(Object.entries(common)),
    ...visible.map(([id, command]) => commandSection(id, command)),
  ].join('\n')
}

function commandSection(id, command) {
  const name = `ks ${id.replaceAll(':', ' ')}`
  const words = Object.values(command.args).map((arg) => argumentWord(arg, command.strict === false))
  const lines = [`### ${name}\n`, `${sentence(command.summary ?? command.description ?? '')}\n`]
  lines.push('```', [name, ...words].join(' '), '```\n')
  const own = Object.entries(command.flags).filter(([, { hidden }]) => hidden !== true)
  if (own.length > 0) lines.push(flagTable(own))
  const examples = (command.examples ?? []).map((example) => String(example.command ?? example))
  if (examples.length > 0) {
    lines.push('```sh', ...examples.map((line) => line.replaceAll('<%= config.bin %>', 'ks')), '```\n')
  }
  return lines.join('\n')
}

function argumentWord({ name, required }, many) {
  const word = `${name.toUpperCase()}${many ? '...' : ''}`
  return required ? word : `[${word}]`
}

function flagTable(flags) {
  const rows = flags.map(([name, flag]) => `| ${flagWord(name, flag)} | ${flagText(flag)} |`)
  return ['| flag | |', '|---|---|', ...rows, ''].join('\n')
}

function flagWord(name, { char, type, helpValue, options, allowNo }) {
  const value =
    type === 'boolean' ? '' : ` ${helpValue ?? options?.join('\\|') ?? 'value'}`.replaceAll(/(?<!\\)\|/g, '\\|')
  return `${char === undefined ? '' : `\`-${char}\`, `}\`--${allowNo ? '[no-]' : ''}${name}${value}\``
}

function flagText({ description = '', options, default: value, multiple, helpValue }) {
  const notes = [
    ...(options !== undefined && helpValue !== undefined ? [options.join(', ')] : []),
    ...(value === undefined || value === false ? [] : [`default ${value}`]),
    ...(multiple ? ['may be repeated'] : []),
  ]
  return `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`.replaceAll('|', '\\|')
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'))
  const { commonFlags } = await import('../dist/cli/common-flags.js')
  writeFileSync(PAGE, withReference(readFileSync(PAGE, 'utf8'), manifest, commonFlags))
}
