/**
 * Writes `dist/man`: a manual page for `ks`, for each of its commands, for `kchat` and for `ksd`, from what their own help
 * is made of.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { manPage } from './roff.js'

const MAN = join(ROOT, 'dist', 'man')
const json = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))
const { version } = json('package.json')

rmSync(MAN, { recursive: true, force: true })
mkdirSync(MAN, { recursive: true })
for (const page of [...(await pagesOfKs()), await pageOfKchat(), await pageOfKsd()])
  writeFileSync(join(MAN, `${page.name}.1`), manPage({ ...page, version }))

async function pagesOfKs() {
  const { commands } = json('oclif.manifest.json')
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
    summary: json('package.json').description.replace(/\.$/, ''),
    synopsis: ['ks COMMAND [ARGUMENT...] [FLAGS]'],
    sections: [
      {
        title: 'DESCRIPTION',
        text: 'Each command has a page of its own, such as ks-query(1). `ks COMMAND --help` says the same.',
      },
      { title: 'COMMANDS', terms: visible.map(([id, command]) => [`ks ${words(id)}`, summaryOf(command)]) },
      { title: 'FLAGS OF EVERY COMMAND', terms: flagTerms(commonFlags) },
      ...topics,
    ],
    seeAlso: ['ksd', 'kchat'],
  }
  return [overview, ...visible.map(([id, command]) => pageOfCommand(id, command))]
}

function pageOfCommand(id, command) {
  const args = Object.values(command.args)
  const synopsis = args.map(({ name, required }) => {
    const word = `${name.toUpperCase()}${command.strict === false ? '...' : ''}`
    return required ? word : `[${word}]`
  })
  const described = args.filter(({ description }) => description !== undefined)
  const flags = flagTerms(command.flags)
  const examples = (command.examples ?? []).map((one) => String(one.command ?? one))
  return {
    name: `ks-${id.replaceAll(':', '-')}`,
    summary: summaryOf(command),
    synopsis: [['ks', words(id), ...synopsis, '[FLAGS]'].join(' ')],
    sections: [
      ...(command.description ? [{ title: 'DESCRIPTION', text: plain(command.description) }] : []),
      ...(described.length === 0
        ? []
        : [{ title: 'ARGUMENTS', terms: described.map((one) => [one.name.toUpperCase(), one.description]) }]),
      ...(flags.length === 0 ? [] : [{ title: 'FLAGS', terms: flags }]),
      { title: 'COMMON FLAGS', text: 'Those that every command takes stand in ks(1).' },
      ...(examples.length === 0 ? [] : [{ title: 'EXAMPLES', examples: examples.map(plain) }]),
    ],
    seeAlso: ['ks'],
  }
}

function words(id) {
  return id.replaceAll(':', ' ')
}

function summaryOf({ summary, description = '' }) {
  return plain(summary ?? description.split('\n')[0])
}

function plain(text) {
  return text.replaceAll('<%= config.bin %>', 'ks').replaceAll('<%= command.id %>', '')
}

/** @returns {[string, string][]} */
function flagTerms(flags) {
  return Object.entries(flags)
    .filter(([, { hidden }]) => hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { char, type, allowNo, helpValue, options, description = '', default: value, multiple }]) => {
      const takes = type === 'boolean' ? '' : `=${helpValue ?? options?.join('|') ?? 'value'}`
      const notes = [
        ...(options !== undefined && helpValue !== undefined ? [`one of ${options.join(', ')}`] : []),
        ...(value === undefined || value === false || typeof value === 'function' ? [] : [`default ${value}`]),
        ...(multiple ? ['may be repeated'] : []),
      ]
      const term = `${char === undefined ? '' : `-${char}, `}--${allowNo ? '[no-]' : ''}${name}${takes}`
      return [term, `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`]
    })
}

async function pageOfKchat() {
  const { buildProgram } = await import('../dist/kchat/program.js')
  const { listLeafCommands } = await import('../dist/kchat/completion.js')
  const { EXAMPLES } = await import('../dist/kchat/examples.js')
  const { ENVIRONMENT } = await import('../dist/cli/environment.js')
  const root = buildProgram()
  const leaves = listLeafCommands(root)
  const ofAll = leaves.map(({ command }) => command.options.map(({ flags }) => flags))
  const shared = new Set(ofAll[0]?.filter((flags) => ofAll.every((others) => others.includes(flags))))
  return {
    name: 'kchat',
    summary: root.description().replace(/\.$/, ''),
    synopsis: ['kchat COMMAND [ARGUMENT...] [OPTIONS]'],
    sections: [
      {
        title: 'OPTIONS OF EVERY COMMAND',
        terms: optionTerms(leaves[0].command.options.filter(({ flags }) => shared.has(flags))),
      },
      ...leaves.flatMap(({ words: of, command }) => [
        {
          title: `kchat ${of.join(' ')}${argumentsOf(command)}`,
          text: command.description(),
          terms: optionTerms(command.options.filter(({ flags }) => !shared.has(flags))),
        },
        ...(EXAMPLES[of.join(' ')] ? [{ title: `Examples of ${of.join(' ')}`, examples: EXAMPLES[of.join(' ')] }] : []),
      ]),
      { title: 'ENVIRONMENT', terms: ENVIRONMENT.filter(([name]) => /^KCHAT_|_PROXY$/.test(name)) },
    ],
    seeAlso: ['ks', 'ksd'],
  }
}

async function pageOfKsd() {
  const { createKsdProgram } = await import('../dist/daemon/program.js')
  const root = createKsdProgram({ run: () => undefined, migrate: () => undefined })
  return {
    name: 'ksd',
    summary: root.description().replace(/\.$/, ''),
    synopsis: ['ksd [OPTIONS]', ...root.commands.map((command) => `ksd ${command.name()} [OPTIONS]`)],
    sections: [
      { title: 'OPTIONS', terms: optionTerms(root.options) },
      ...root.commands.map((command) => ({
        title: `ksd ${command.name()}`,
        text: command.description(),
        terms: optionTerms(command.options),
      })),
    ],
    seeAlso: ['ks', 'ks-daemon-start', 'ks-daemon-stop'],
  }
}

function argumentsOf(command) {
  return command.registeredArguments
    .map((one) => (one.required ? ` ${one.name().toUpperCase()}` : ` [${one.name().toUpperCase()}]`))
    .join('')
}

/** @returns {[string, string][]} */
function optionTerms(options) {
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
