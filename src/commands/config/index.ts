import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listDaemonSettings } from '../../cli/daemon-config.js'
import { listEffectiveDefaults } from '../../cli/effective-config.js'

export default class Config extends BaseCommand {
  static override isPaged = true
  static override summary = 'list settings and the origins of their values'
  static override aliases = ['config:list', 'config:ls']
  static override examples = ['<%= config.bin %> config', '<%= config.bin %> config --daemon --origin']
  static override flags = {
    daemon: Flags.boolean({ description: 'list the settings of the local daemon' }),
    origin: Flags.boolean({ description: 'show the origin of each value' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Config)
    const rows = flags.daemon ? listDaemonSettings(this.dirs.data, process.env) : listEffectiveDefaults(this.settings)
    await this.out.list(rows, {
      columns: [{ field: 'name' }, { field: 'value' }, ...(flags.origin ? [{ field: 'origin' }] : [])],
      fields: ['origin', 'about'],
      empty: '',
    })
  }
}
