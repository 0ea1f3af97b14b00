import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '@oclif/core/command'
import { Config } from '@oclif/core/config'
import { normalizeArgv } from '@oclif/core/help'
import type { Hook, Hooks } from '@oclif/core/interfaces'
import type { BaseCommand } from './base-command.js'
import { fail } from './fail.js'
import { guardOutput } from './guard-output.js'

/** A command as the bundle knows it: enough to find it and to load nothing else. */
export interface BundledCommand {
  /** id with colons; of an alias, that of its command */
  id: string
  strict: boolean
  /** names of its arguments */
  args: Readonly<Record<string, object>>
  load: () => Promise<{ default: CommandClass }>
}

type CommandClass = { id: string } & (new (argv: string[], config: Config) => BaseCommand)

export type BundledCommands = Readonly<Record<string, BundledCommand>>

/**
 * Runs one command line of the bundled program and sets the exit code. What oclif's own `run` does, without its reading of
 * every command's description: that is left to help and to words that name no command.
 *
 * @param root folder of package.json
 * @param commands by id with colons, aliases too
 */
export async function start(argv: string[], root: string, commands: BundledCommands): Promise<void> {
  guardOutput('ks')
  try {
    const config = new BundledConfig(root, commands)
    const line = Object.hasOwn(commands, argv[0] ?? '') ? argv : await meant(argv, commands)
    const [id = '', ...rest] = normalizeArgv(config, line)
    const isHelp = asksForHelp(line)
    const command = isHelp || !Object.hasOwn(commands, id) ? undefined : commands[id]
    if (command === undefined) {
      const { explain } = await import('./explain.js')
      await explain(line, id, root, isHelp)
      return
    }
    const { default: Loaded } = await command.load()
    Loaded.id = command.id
    await new Loaded(rest, config).start()
  } catch (error) {
    process.exitCode = await fail(error, argv, () => Object.keys(commands))
  }
}

/** The command line, or what an alias at its beginning stands for. */
async function meant(argv: string[], commands: BundledCommands): Promise<string[]> {
  const isCommand = (word: string) => Object.keys(commands).some((id) => id === word || id.startsWith(`${word}:`))
  const [first = ''] = argv
  if (first === '' || first.startsWith('-') || isCommand(first)) return argv
  const [{ withoutAlias }, { localDirs }] = await Promise.all([import('./aliases.js'), import('../local/dirs.js')])
  return withoutAlias(argv, localDirs().config, isCommand) ?? argv
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  return argv.length === 0 || words.includes('--help') || words.includes('-h')
}

/** What commands and oclif's parser ask of a `Config`, from package.json alone. */
class BundledConfig extends Config {
  private readonly known: BundledCommands

  constructor(root: string, commands: BundledCommands) {
    super({ root, userPlugins: false, devPlugins: false })
    this.known = commands
    this.root = root
    this.pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    this.name = this.pjson.name
    this.version = this.pjson.version
    this.bin = this.pjson.oclif.bin ?? this.name
    this.topicSeparator = ' '
    this.userAgent = `${this.name}/${this.version}`
  }

  override get commandIDs(): string[] {
    return Object.keys(this.known)
  }

  /** Loading a command needs no more than its words: `normalizeArgv` asks whether they may be arguments. */
  override findCommand(id: string, options: { must: true }): Command.Loadable
  override findCommand(id: string, options?: { must: boolean }): Command.Loadable | undefined
  override findCommand(id: string): Command.Loadable | undefined {
    // oclif's type wants the whole description, of which nothing else is read here
    return (Object.hasOwn(this.known, id) ? this.known[id] : undefined) as unknown as Command.Loadable | undefined
  }

  /** There are no hooks but that of unknown commands. */
  override async runHook<T extends keyof Hooks>(): Promise<Hook.Result<Hooks[T]['return']>> {
    return { successes: [], failures: [] }
  }
}
