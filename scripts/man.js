/**
 * Writes `dist/man`: manual pages of `ks`, each of its commands, `kchat` and `ksd`, from the same texts as their help.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { formatArguments } from './cli-reference.js'
import { formatKchatArguments } from './kchat-reference.js'
import { formatManPage } from './roff.js'

const MAN = join(ROOT, 'dist', 'man')
const readJson = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))
const { version } = readJson('package.json')

rmSync(MAN, { recursive: true, force: true })
mkdirSync(MAN, { recursive: true })
for (const page of [...(await createKsPages()), await createKchatPage(), await createKsdPage()])
  writeFileSync(join(MAN, `${page.name}.1`), formatManPage({ ...page, version }))

async function createKsPages() {
  const { commands } = readJson('oclif.manifest.json')
  const { commonFlags } = await import('../dist/cli/common-flags.js')
  const { HELP_TOPICS } = await import('../dist/cli/help-topics.js')
  const visible = Object.entries(commands)
    .filter(([, { hidden }]) => hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const topics = [...HELP_TOPICS].map(([name, text]) => ({
    title: name.replaceAll('-', ' ').toUpperCase(),
    examples: text().split('\n'),
  }))
  const overview = {
    name: 'ks',
    summary: readJson('package.json').description.replace(/\.$/, ''),
    synopsis: ['ks COMMAND [ARGUMENT...] [FLAGS]'],
    sections: [
      {
        title: 'DESCRIPTION',
        text: 'Each command has a separate page, such as ks-query(1). `ks COMMAND --help` shows the same.',
      },
      { title: 'COMMANDS', terms: visible.map(([id, command]) => [`ks ${toWords(id)}`, getSummary(command)]) },
      { title: 'FLAGS OF EVERY COMMAND', terms: listFlags(commonFlags) },
      ...topics,
    ],
    seeAlso: ['ksd', 'kchat'],
  }
  return [overview, ...visible.map(([id, command]) => createCommandPage(id, command))]
}

function createCommandPage(id, command) {
  const described = Object.values(command.args).filter(({ description }) => description !== undefined)
  const flags = listFlags(command.flags)
  const examples = (command.examples ?? []).map((example) => String(example.command ?? example))
  return {
    name: `ks-${id.replaceAll(':', '-')}`,
    summary: getSummary(command),
    synopsis: [['ks', toWords(id), ...formatArguments(command), '[FLAGS]'].join(' ')],
    sections: [
      ...(command.description ? [{ title: 'DESCRIPTION', text: expandTemplate(command.description) }] : []),
      ...(described.length === 0
        ? []
        : [{ title: 'ARGUMENTS', terms: described.map(({ name, description }) => [name.toUpperCase(), description]) }]),
      ...(flags.length === 0 ? [] : [{ title: 'FLAGS', terms: flags }]),
      { title: 'COMMON FLAGS', text: 'ks(1) lists the flags of every command.' },
      ...(examples.length === 0 ? [] : [{ title: 'EXAMPLES', examples: examples.map(expandTemplate) }]),
    ],
    seeAlso: ['ks'],
  }
}

function toWords(id) {
  return id.replaceAll(':', ' ')
}

function getSummary({ summary, description = '' }) {
  return expandTemplate(summary ?? description.split('\n')[0])
}

/** Replaces the placeholders of oclif. */
function expandTemplate(text) {
  return text.replaceAll('<%= config.bin %>', 'ks').replaceAll('<%= command.id %>', '')
}

/** @returns {[string, string][]} visible flags with their descriptions, sorted by name */
function listFlags(flags) {
  return Object.entries(flags)
    .filter(([, { hidden }]) => hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { char, type, allowNo, helpValue, options, description = '', default: fallback, multiple }]) => {
      const value = type === 'boolean' ? '' : `=${helpValue ?? options?.join('|') ?? 'value'}`
      const notes = [
        ...(options !== undefined && helpValue !== undefined ? [`one of ${options.join(', ')}`] : []),
        ...(fallback === undefined || fallback === false || typeof fallback === 'function'
          ? []
          : [`default ${fallback}`]),
        ...(multiple ? ['may be repeated'] : []),
      ]
      const term = `${char === undefined ? '' : `-${char}, `}--${allowNo ? '[no-]' : ''}${name}${value}`
      return [term, `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`]
    })
}

async function createKchatPage() {
  const { buildProgram } = await import('../dist/kchat/program.js')
  const { listLeafCommands } = await import('../dist/kchat/completion.js')
  const { EXAMPLES } = await import('../dist/kchat/examples.js')
  const { ENVIRONMENT } = await import('../dist/cli/environment.js')
  const root = buildProgram()
  const leaves = listLeafCommands(root)
  const flagsByCommand = leaves.map(({ command }) => command.options.map(({ flags }) => flags))
  const shared = new Set(flagsByCommand[0]?.filter((flags) => flagsByCommand.every((list) => list.includes(flags))))
  return {
    name: 'kchat',
    summary: root.description().replace(/\.$/, ''),
    synopsis: ['kchat COMMAND [ARGUMENT...] [OPTIONS]'],
    sections: [
      {
        title: 'OPTIONS OF EVERY COMMAND',
        terms: listOptions(leaves[0].command.options.filter(({ flags }) => shared.has(flags))),
      },
      ...leaves.flatMap(({ words, command }) => {
        const name = words.join(' ')
        const terms = listOptions(command.options.filter(({ flags }) => !shared.has(flags)))
        return [
          { title: ['kchat', name, ...formatKchatArguments(command)].join(' '), text: command.description(), terms },
          ...(EXAMPLES[name] ? [{ title: `Examples of ${name}`, examples: EXAMPLES[name] }] : []),
        ]
      }),
      { title: 'ENVIRONMENT', terms: ENVIRONMENT.filter(([name]) => /^KCHAT_|_PROXY$/.test(name)) },
    ],
    seeAlso: ['ks', 'ksd'],
  }
}

async function createKsdPage() {
  const { createKsdProgram } = await import('../dist/daemon/program.js')
  const root = createKsdProgram({ run: () => undefined, migrate: () => undefined })
  return {
    name: 'ksd',
    summary: root.description().replace(/\.$/, ''),
    synopsis: ['ksd [OPTIONS]', ...root.commands.map((command) => `ksd ${command.name()} [OPTIONS]`)],
    sections: [
      { title: 'OPTIONS', terms: listOptions(root.options) },
      ...root.commands.map((command) => ({
        title: `ksd ${command.name()}`,
        text: command.description(),
        terms: listOptions(command.options),
      })),
    ],
    seeAlso: ['ks', 'ks-daemon-start', 'ks-daemon-stop'],
  }
}

/** @returns {[string, string][]} visible options with their descriptions */
function listOptions(options) {
  return options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, argChoices, defaultValue }) => {
      const notes = [
        ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
        ...(typeof defaultValue === 'string' ? [`default ${defaultValue}`] : []),
      ]
      return [flags, `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`]
    })
}
