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
 * @param {Record<string, object>} common flags of every command, which the manifest omits
 * @param {Record<string, string>} moved present commands by those of earlier versions
 * @returns {string} the page with the tables of this manifest
 */
export function withReference(page, manifest, common, moved) {
  return replaceBetween(page, START, END, `${formatReference(manifest, common)}\n${formatMoved(moved)}`)
}

function formatMoved(moved) {
  const rows = Object.entries(moved).map(([name, present]) => `| \`${name}\` | \`ks ${present}\` |`)
  return ['### Commands of earlier versions\n', '| earlier | now |', '|---|---|', ...rows, ''].join('\n')
}

/**
 * Replaces the text between two marks of a page.
 *
 * @param {string} page
 * @param {string} startMark
 * @param {string} endMark
 * @param {string} text
 * @returns {string} the page with the new text
 */
export function replaceBetween(page, startMark, endMark, text) {
  const start = page.indexOf(startMark)
  const end = page.indexOf(endMark)
  if (start < 0 || end < start) throw new Error(`docs/cli.md lacks ${startMark}, followed by ${endMark}`)
  return `${page.slice(0, start)}${startMark}\n\n${text}\n${page.slice(end)}`
}

function formatReference({ commands }, common) {
  const visible = Object.entries(commands)
    .filter(([, command]) => command.hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    '### Flags of every command\n',
    formatFlagTable(Object.entries(common)),
    ...visible.map(([id, command]) => formatCommand(id, command)),
  ].join('\n')
}

function formatCommand(id, command) {
  const name = `ks ${id.replaceAll(':', ' ')}`
  const lines = [`### ${name}\n`, `${toSentence(command.summary ?? command.description ?? '')}\n`]
  lines.push('```', [name, ...formatArguments(command)].join(' '), '```\n')
  const flags = Object.entries(command.flags).filter(([, { hidden }]) => hidden !== true)
  if (flags.length > 0) lines.push(formatFlagTable(flags))
  const examples = (command.examples ?? []).map((example) => String(example.command ?? example))
  if (examples.length > 0) {
    lines.push('```sh', ...examples.map((line) => line.replaceAll('<%= config.bin %>', 'ks')), '```\n')
  }
  return lines.join('\n')
}

/** @returns {string[]} the arguments of a command in its synopsis: `NAME`, `[NAME]`, `NAME...` */
export function formatArguments({ args, strict }) {
  return Object.values(args).map(({ name, required }) => {
    const word = `${name.toUpperCase()}${strict === false ? '...' : ''}`
    return required ? word : `[${word}]`
  })
}

function formatFlagTable(flags) {
  const rows = flags.map(([name, flag]) => `| ${formatFlag(name, flag)} | ${formatFlagDescription(flag)} |`)
  return ['| flag | |', '|---|---|', ...rows, ''].join('\n')
}

function formatFlag(name, { char, type, helpValue, options, allowNo }) {
  const value =
    type === 'boolean' ? '' : ` ${helpValue ?? options?.join('\\|') ?? 'value'}`.replaceAll(/(?<!\\)\|/g, '\\|')
  return `${char === undefined ? '' : `\`-${char}\`, `}\`--${allowNo ? '[no-]' : ''}${name}${value}\``
}

function formatFlagDescription({ description = '', options, default: value, multiple, helpValue }) {
  const notes = [
    ...(options !== undefined && helpValue !== undefined ? [options.join(', ')] : []),
    ...(value === undefined || value === false ? [] : [`default ${value}`]),
    ...(multiple ? ['may be repeated'] : []),
  ]
  return `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`.replaceAll('|', '\\|')
}

function toSentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'))
  const { commonFlags } = await import('../dist/cli/common-flags.js')
  const { MOVED_COMMANDS } = await import('../dist/cli/moved-commands.js')
  writeFileSync(PAGE, withReference(readFileSync(PAGE, 'utf8'), manifest, commonFlags, MOVED_COMMANDS))
}
