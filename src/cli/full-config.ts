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
  // oclif reads plugins from KS_DATA_DIR and a theme from KS_CONFIG_DIR: `ks` uses the same folders. Neither is loaded:
  // a data directory may come from another person and name plugins.
  Object.assign(process.env, { KS_DISABLE_THEME: '1' })
  return await Config.load({ root, userPlugins: false, devPlugins: false })
}
