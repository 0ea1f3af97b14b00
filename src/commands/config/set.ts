import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { readConfiguredPrograms, setDaemonSetting, toUnknownSettingError } from '../../cli/daemon-config.js'
import {
  checkDefaultValue,
  isDefaultKey,
  listDefaultKeys,
  readUserConfig,
  writeUserConfig,
} from '../../cli/user-config.js'
import { allowPrograms } from '../../local/allowed-programs.js'

export default class ConfigSet extends BaseCommand {
  static override summary = 'change a setting'
  static override examples = [
    '<%= config.bin %> config set space example-space',
    '<%= config.bin %> config set compilation inline --daemon',
  ]
  static override args = {
    key: Args.string({ required: true, description: 'name of the setting' }),
    value: Args.string({ required: true, description: 'value; lists and objects of the daemon as JSON' }),
  }
  static override flags = { daemon: Flags.boolean({ description: 'change a setting of the local daemon' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigSet)
    if (flags.daemon) {
      setDaemonSetting(this.dirs.data, args.key, args.value)
      // A program that the user types here is allowed on this machine.
      if (args.key === 'providers' || args.key === 'converters') {
        allowPrograms(this.dirs.config, readConfiguredPrograms(this.dirs.data))
      }
      this.out.note('hint: `ks daemon restart` applies it')
      return
    }
    if (!isDefaultKey(args.key)) throw toUnknownSettingError(args.key, listDefaultKeys())
    const config = readUserConfig(this.dirs.config)
    config.defaults[args.key] = checkDefaultValue(args.key, args.value)
    writeUserConfig(this.dirs.config, config)
  }
}
