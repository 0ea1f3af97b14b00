import { BaseCommand } from '../cli/base-command.js'
import { toUnknownCommandError } from '../cli/command-not-found.js'
import { loadFullConfig } from '../cli/full-config.js'
import { KsHelp } from '../cli/help.js'
import { HELP_TOPICS } from '../cli/help-topics.js'
import { SKILL } from '../cli/skill.js'

export default class HelpCommand extends BaseCommand {
  static override summary =
    'show help for a command or a topic: all, flags, exit-codes, environment, formats, ids, agents'
  static override description =
    '`all` lists every command, `flags` the common flags. `agents` is the text of a skill for agents with a shell, with its front matter.'
  static override examples = [
    '<%= config.bin %> help ingest',
    '<%= config.bin %> help all',
    '<%= config.bin %> help agents > SKILL.md',
  ]
  static override strict = false

  async run(): Promise<void> {
    const { argv } = await this.parse(HelpCommand)
    const words = argv.map(String)
    const name = words.join(' ')
    const topic = HELP_TOPICS.get(name)
    if (topic !== undefined) return this.out.line(topic())
    if (name === 'agents') return this.out.text(SKILL)
    const config = await loadFullConfig(this.config.root)
    const help = new KsHelp(config, config.pjson.oclif.helpOptions)
    if (name === 'all' || name === 'commands') return help.showAllCommands()
    if (name === 'flags') return help.showCommonFlags()
    const id = words.join(':')
    const isKnown = id === '' || config.findTopic(id) !== undefined || config.findCommand(id) !== undefined
    if (!isKnown) throw toUnknownCommandError(words, config.commandIDs)
    await help.showHelp(words)
  }
}
