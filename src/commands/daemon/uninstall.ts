import { rmSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { confirm } from '../../cli/prompt.js'
import { commandsFor, isOurs, managerRuns, serviceFile, systemctl, UNIT } from '../../cli/service/manager.js'
import { EXIT } from '../../contract/errors.js'

export default class DaemonUninstall extends BaseCommand {
  static override summary = 'stop and remove the service of the local daemon; data stays'
  static override examples = ['<%= config.bin %> daemon uninstall --dry-run']
  static override flags = { 'dry-run': Flags.boolean({ description: 'show what would be removed, without removing' }) }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonUninstall)
    const file = serviceFile(process.env)
    const { kind, path, before } = file
    if (before !== undefined && !isOurs(file))
      throw new CliError(`${path} was not written by \`ks daemon install\``, {
        code: 'conflict',
        exit: EXIT.conflict,
        hint: 'remove it by hand if it is not needed',
      })
    const isThere = before !== undefined
    const runs = await managerRuns(kind)
    const commands = commandsFor(kind, path, 'uninstall')
    if (isThere && !flags['dry-run']) {
      if (!(await confirm(`stop the service and remove ${path}`, this.prompt))) return
      if (runs) await systemctl('disable', '--now', UNIT)
      rmSync(path, { force: true })
      if (runs) await systemctl('daemon-reload')
    }
    if (this.out.isJson) return this.out.json({ kind, path, removed: isThere && !flags['dry-run'] })
    if (!isThere) return this.out.line(`there is no service: ${path}`)
    this.out.line(`${flags['dry-run'] ? 'would be removed' : 'removed'}: ${path}`)
    if (!runs) this.out.note(`if it runs: ${commands.join('; ')}`)
  }
}
