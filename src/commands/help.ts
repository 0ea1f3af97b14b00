import { BaseCommand } from '../cli/base-command.js'
import { unknownCommand } from '../cli/command-not-found.js'
import { KsHelp } from '../cli/help.js'
import { HELP_TOPICS } from '../cli/help-topics.js'
import { wholeConfig } from '../cli/whole-config.js'

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
    const config = await wholeConfig(this.config.root)
    const id = words.join(':')
    const isKnown = id === '' || config.findTopic(id) !== undefined || config.findCommand(id) !== undefined
    if (!isKnown) throw unknownCommand(words, config.commandIDs)
    await new KsHelp(config, config.pjson.oclif.helpOptions).showHelp(words)
  }
}
