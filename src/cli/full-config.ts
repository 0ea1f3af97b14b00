import { Config } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'

/**
 * Loads oclif's configuration with the descriptions of all commands, for help and completion.
 *
 * @param root folder of package.json
 */
export async function loadFullConfig(root: string): Promise<Config> {
  // Commands run compiled, whatever NODE_ENV is.
  settings.enableAutoTranspile = false
  // oclif uses our data directory through the same variable: plugins listed in a received directory must not be loaded,
  // nor a theme next to the contexts.
  Object.assign(process.env, { KS_DISABLE_THEME: '1' })
  return await Config.load({ root, userPlugins: false, devPlugins: false })
}
