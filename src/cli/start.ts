import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '@oclif/core/command'
import { Config } from '@oclif/core/config'
import { normalizeArgv } from '@oclif/core/help'
import type { Hook, Hooks } from '@oclif/core/interfaces'
import type { BaseCommand } from './base-command.js'
import { reportFailure } from './fail.js'
import { guardOutput } from './guard-output.js'

/** A command of the bundle: enough to find it without loading others. */
export interface BundledCommand {
  /** Id with colons; for an alias, the id of its command. */
  id: string
  strict: boolean
  /** Names of its arguments. */
  args: Readonly<Record<string, object>>
  load: () => Promise<{ default: CommandClass }>
}

type CommandClass = { id: string } & (new (argv: string[], config: Config) => BaseCommand)

export type BundledCommands = Readonly<Record<string, BundledCommand>>

/**
 * Runs one command line of the bundled program and sets the exit code. Does the work of oclif's `run` without loading
 * the descriptions of all commands, which only help and unknown commands need.
 *
 * @param root folder of package.json
 * @param commands by id with colons, including aliases
 */
export async function start(argv: string[], root: string, commands: BundledCommands): Promise<void> {
  guardOutput('ks')
  try {
    const config = new BundledConfig(root, commands)
    const [first = ''] = argv
    const { leading, rest } = first.startsWith('-') ? await splitLeadingFlags(argv) : { leading: [], rest: argv }
    const typed = Object.hasOwn(commands, rest[0] ?? '') ? rest : await expandAlias(rest, commands)
    const words = await replaceMoved(typed, config, commands)
    const [id = '', ...args] = normalizeArgv(config, words)
    const isHelp = isHelpRequested(words)
    const command = isHelp || !Object.hasOwn(commands, id) ? undefined : commands[id]
    if (command === undefined) {
      const { showHelpOrFail } = await import('./explain.js')
      await showHelpOrFail(root, { argv: words, id, isHelpRequested: isHelp })
      return
    }
    const { default: Loaded } = await command.load()
    Loaded.id = command.id
    await new Loaded([...leading, ...args], config).start()
  } catch (error) {
    process.exitCode = await reportFailure(error, argv, () => Object.keys(commands))
  }
}

/** Words that may be a command of an earlier version below the present one. */
const MAY_HAVE_MOVED = /^[a-z][a-z-]+$/

/** The words with the present command in place of one of an earlier version. @throws CliError exit 2 */
async function replaceMoved(words: string[], config: Config, commands: BundledCommands): Promise<string[]> {
  const [id = '', argument = ''] = normalizeArgv(config, words)
  if (Object.hasOwn(commands, id) && !MAY_HAVE_MOVED.test(argument)) return words
  const { replaceMovedCommand } = await import('./command-not-found.js')
  return replaceMovedCommand(words)
}

async function splitLeadingFlags(argv: readonly string[]): Promise<{ leading: string[]; rest: string[] }> {
  const module = await import('./leading-flags.js')
  return module.splitLeadingFlags(argv)
}

/** The command line, or its expansion if it starts with an alias. */
async function expandAlias(argv: string[], commands: BundledCommands): Promise<string[]> {
  const isCommand = (word: string) => Object.keys(commands).some((id) => id === word || id.startsWith(`${word}:`))
  const [first = ''] = argv
  if (first === '' || first.startsWith('-') || isCommand(first)) return argv
  const [{ resolveAlias }, { resolveLocalDirs }] = await Promise.all([
    import('./aliases.js'),
    import('../local/dirs.js'),
  ])
  return resolveAlias(argv, resolveLocalDirs().config, isCommand) ?? argv
}

function isHelpRequested(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  return argv.length === 0 || words.includes('--help') || words.includes('-h')
}

/** A `Config` built from package.json only, with the members that commands and oclif's parser need. */
class BundledConfig extends Config {
  private readonly bundled: BundledCommands

  constructor(root: string, commands: BundledCommands) {
    super({ root, userPlugins: false, devPlugins: false })
    this.bundled = commands
    this.root = root
    this.pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    this.name = this.pjson.name
    this.version = this.pjson.version
    this.bin = this.pjson.oclif.bin ?? this.name
    this.topicSeparator = ' '
    this.userAgent = `${this.name}/${this.version}`
  }

  override get commandIDs(): string[] {
    return Object.keys(this.bundled)
  }

  /** Loading a command needs no description; `normalizeArgv` checks only whether words may be arguments. */
  override findCommand(id: string, options: { must: true }): Command.Loadable
  override findCommand(id: string, options?: { must: boolean }): Command.Loadable | undefined
  override findCommand(id: string): Command.Loadable | undefined {
    // The type of oclif requires the full description, which is not read here.
    return (Object.hasOwn(this.bundled, id) ? this.bundled[id] : undefined) as unknown as Command.Loadable | undefined
  }

  /** There are no hooks except for unknown commands. */
  override async runHook<T extends keyof Hooks>(): Promise<Hook.Result<Hooks[T]['return']>> {
    return { successes: [], failures: [] }
  }
}
