import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { getTypedWords } from '../../cli/argument-words.js'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith, usageError } from '../../cli/cli-error.js'
import { localPath } from '../../cli/local-path.js'
import { runCommand, startPrivateDaemon } from '../../cli/private-daemon.js'

export default class DaemonExec extends BaseCommand {
  static override summary = 'run a command with a private daemon, and exit with its exit code'
  static override examples = [
    '<%= config.bin %> daemon exec --temp -- <%= config.bin %> spaces',
    `<%= config.bin %> daemon exec --temp -- sh -euc '<%= config.bin %> ingest ./docs --space example-space --create --wait'`,
  ]
  static override strict = false
  static override args = {
    command: Args.string({ required: true, description: 'command and its arguments, after --' }),
  }
  static override flags = {
    temp: Flags.boolean({ description: 'use a temporary data directory, removed afterwards', exclusive: ['data-dir'] }),
    'data-dir': Flags.string({ ...localPath, helpValue: 'folder', description: 'data directory to use' }),
  }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(DaemonExec)
    if (!flags.temp && flags['data-dir'] === undefined) throw usageError('give `--temp` or `--data-dir`')
    const dataDir = flags['data-dir'] === undefined ? undefined : resolve(flags['data-dir'])
    const daemon = await startPrivateDaemon(dataDir)
    let code: number
    try {
      code = await runCommand(getTypedWords(raw), daemon.env)
    } finally {
      await daemon.stop()
    }
    if (code !== 0) throw new ExitWith(code)
  }
}
