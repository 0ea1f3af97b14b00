import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { setDaemonSetting, toUnknownSettingError } from '../../cli/daemon-config.js'
import { isDefaultKey, listDefaultKeys, readUserConfig, writeUserConfig } from '../../cli/user-config.js'

export default class ConfigUnset extends BaseCommand {
  static override summary = 'reset a setting to its default'
  static override examples = ['<%= config.bin %> config unset space']
  static override args = { key: Args.string({ required: true, description: 'name of the setting' }) }
  static override flags = { daemon: Flags.boolean({ description: 'reset a setting of the local daemon' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigUnset)
    if (flags.daemon) {
      setDaemonSetting(this.dirs.data, args.key, undefined)
      this.out.note('hint: `ks daemon restart` applies it')
      return
    }
    if (!isDefaultKey(args.key)) throw toUnknownSettingError(args.key, listDefaultKeys())
    const config = readUserConfig(this.dirs.config)
    delete config.defaults[args.key]
    writeUserConfig(this.dirs.config, config)
  }
}
