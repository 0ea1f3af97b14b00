import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { confirm } from '../../cli/prompt.js'
import {
  findServiceFile,
  isInstalledByUs,
  isManagerRunning,
  listManualCommands,
  removeService,
} from '../../cli/service/manager.js'
import { EXIT } from '../../contract/errors.js'

export default class DaemonUninstall extends BaseCommand {
  static override summary = 'stop and remove the service of the local daemon; data stays'
  static override isLocalOnly = true
  static override examples = ['<%= config.bin %> daemon uninstall --dry-run']
  static override flags = { 'dry-run': Flags.boolean({ description: 'show what would be removed, without removing' }) }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonUninstall)
    const file = findServiceFile(process.env)
    const { kind, path, existing } = file
    if (existing !== undefined && !isInstalledByUs(file))
      throw new CliError(`${path} was not written by \`ks daemon install\``, {
        code: 'conflict',
        exit: EXIT.conflict,
        hint: 'remove it by hand if it is not needed',
      })
    const exists = existing !== undefined
    const hasManager = await isManagerRunning(kind)
    const commands = listManualCommands(kind, path, 'uninstall')
    if (exists && !flags['dry-run']) {
      if (!(await confirm(`stop the service and remove ${path}`, this.prompt))) return
      await removeService(file)
    }
    if (this.out.isJson) return this.out.json({ kind, path, removed: exists && !flags['dry-run'] })
    if (!exists) return this.out.line(`there is no service: ${path}`)
    this.out.line(`${flags['dry-run'] ? 'would be removed' : 'removed'}: ${path}`)
    if (!hasManager) this.out.note(`if it runs: ${commands.join('; ')}`)
  }
}
