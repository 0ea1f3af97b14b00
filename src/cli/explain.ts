import { unknownCommand } from './command-not-found.js'
import { KsHelp } from './help.js'
import { wholeConfig } from './whole-config.js'

/** Shows help where it is asked for or a topic is named; anything else here names no command. @throws CliError exit 2 */
export async function explain(argv: string[], id: string, root: string): Promise<void> {
  const config = await wholeConfig(root)
  const help = new KsHelp(config, config.pjson.oclif.helpOptions)
  const isHelp =
    config.findCommand(id) !== undefined || argv.length === 0 || argv.some((word) => /^(--help|-h)$/.test(word))
  if (isHelp) await help.showHelp(argv)
  else if (config.findTopic(id) !== undefined) await help.showHelp([id])
  else throw unknownCommand(id.split(':'), config.commandIDs)
}
