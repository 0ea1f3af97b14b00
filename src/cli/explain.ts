import { toUnknownCommandError } from './command-not-found.js'
import { loadFullConfig } from './full-config.js'
import { KsHelp } from './help.js'

/**
 * Shows help if it is requested or the words name a topic; otherwise rejects the command.
 *
 * @param id topic id of the words, with colons
 * @throws CliError exit 2
 */
export async function showHelpOrFail(
  argv: string[],
  id: string,
  root: string,
  isHelpRequested: boolean,
): Promise<void> {
  const config = await loadFullConfig(root)
  const help = new KsHelp(config, config.pjson.oclif.helpOptions)
  if (isHelpRequested) await help.showHelp(argv)
  else if (config.findTopic(id) !== undefined) await help.showHelp([id])
  else throw toUnknownCommandError(id.split(':'), config.commandIDs)
}
