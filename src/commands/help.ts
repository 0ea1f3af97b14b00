import { BaseCommand } from '../cli/base-command.js'
import { toUnknownCommandError } from '../cli/command-not-found.js'
import { loadFullConfig } from '../cli/full-config.js'
import { KsHelp } from '../cli/help.js'
import { HELP_TOPICS } from '../cli/help-topics.js'

export default class HelpCommand extends BaseCommand {
  static override summary = 'show help for a command or a topic: exit-codes, environment, formats, ids'
  static override examples = ['<%= config.bin %> help ingest', '<%= config.bin %> help exit-codes']
  static override strict = false

  async run(): Promise<void> {
    const { argv } = await this.parse(HelpCommand)
    const words = argv.map(String)
    const topic = HELP_TOPICS.get(words.join(' '))
    if (topic !== undefined) {
      this.out.line(topic())
      return
    }
    const config = await loadFullConfig(this.config.root)
    const id = words.join(':')
    const isKnown = id === '' || config.findTopic(id) !== undefined || config.findCommand(id) !== undefined
    if (!isKnown) throw toUnknownCommandError(words, config.commandIDs)
    await new KsHelp(config, config.pjson.oclif.helpOptions).showHelp(words)
  }
}
