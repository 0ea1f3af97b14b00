import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listDaemonSettings, toUnknownSettingError } from '../../cli/daemon-config.js'
import { listEffectiveDefaults } from '../../cli/effective-config.js'

export default class ConfigGet extends BaseCommand {
  static override summary = 'print the value of one setting'
  static override examples = ['<%= config.bin %> config get space', '<%= config.bin %> config get listen --daemon']
  static override args = { key: Args.string({ required: true, description: 'name of the setting' }) }
  static override flags = { daemon: Flags.boolean({ description: 'print a setting of the local daemon' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigGet)
    const rows = flags.daemon ? listDaemonSettings(this.dirs.data, process.env) : listEffectiveDefaults(this.settings)
    const row = rows.find((candidate) => candidate.name === args.key)
    if (row === undefined)
      throw toUnknownSettingError(
        args.key,
        rows.map((candidate) => candidate.name),
      )
    if (this.out.isJson) this.out.json(row)
    else this.out.line(row.value)
  }
}
