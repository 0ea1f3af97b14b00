import { toUnknownCommandError } from './command-not-found.js'
import { loadFullConfig } from './full-config.js'
import { KsHelp } from './help.js'

/**
 * Shows help if it is requested or the words name a topic; otherwise rejects the command.
 *
 * @param root folder of package.json
 * @param id the words of the command line, joined by colons
 * @throws CliError exit 2
 */
export async function showHelpOrFail(
  root: string,
  { argv, id, isHelpRequested }: { argv: string[]; id: string; isHelpRequested: boolean },
): Promise<void> {
  const config = await loadFullConfig(root)
  const help = new KsHelp(config, config.pjson.oclif.helpOptions)
  if (isHelpRequested) await help.showHelp(argv)
  else if (config.findTopic(id) !== undefined) await help.showHelp([id])
  else throw toUnknownCommandError(id.split(':'), config.commandIDs)
}
