import { Config } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'

/**
 * oclif with the descriptions of all commands, as help and completion need them.
 *
 * @param root folder of package.json
 */
export async function wholeConfig(root: string): Promise<Config> {
  // Commands run compiled, whatever NODE_ENV says.
  settings.enableAutoTranspile = false
  // oclif's data directory is ours as well, under the same variable: what a received one lists as plugins is not code to
  // us. Nor is a theme, beside the contexts, a thing that we have.
  Object.assign(process.env, { KS_DISABLE_THEME: '1' })
  return await Config.load({ root, userPlugins: false, devPlugins: false })
}
