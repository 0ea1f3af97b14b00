import { unknownCommand } from './command-not-found.js'
import { KsHelp } from './help.js'
import { wholeConfig } from './whole-config.js'

/**
 * Shows help if it is requested or the words name a topic; otherwise rejects the command.
 *
 * @param id topic id of the words, with colons
 * @throws CliError exit 2
 */
export async function explain(argv: string[], id: string, root: string, asksForHelp: boolean): Promise<void> {
  const config = await wholeConfig(root)
  const help = new KsHelp(config, config.pjson.oclif.helpOptions)
  if (asksForHelp) await help.showHelp(argv)
  else if (config.findTopic(id) !== undefined) await help.showHelp([id])
  else throw unknownCommand(id.split(':'), config.commandIDs)
}
