import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { stopDaemon } from '../../cli/daemon-control.js'
import type { DaemonStopOutput, StopManner } from '../../cli/json-output/daemon.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class DaemonStop extends BaseCommand {
  static override summary = 'stop the local daemon and wait until it has exited'
  static override isLocalOnly = true
  static override examples = ['<%= config.bin %> daemon stop', '<%= config.bin %> daemon stop --force']
  static override flags = { force: Flags.boolean({ description: 'kill it if it has not exited after 10 s' }) }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStop)
    const stopped = await stopDaemon({ dataDir: this.dirs.data, force: flags.force })
    const result: DaemonStopOutput = {
      stopped: stopped !== undefined,
      ...omitUndefined({ pid: stopped?.pid, manner: stopped?.manner }),
    }
    if (this.out.isJson) this.out.json(result)
    else this.out.line(stopped === undefined ? 'no daemon is running' : STOP_MESSAGES[stopped.manner](stopped.pid))
  }
}

const DURABILITY_NOTE = 'acknowledged writes are not lost'

const STOP_MESSAGES: Record<StopManner, (pid: number) => string> = {
  'in-order': (pid) => `stopped: pid ${pid}`,
  'at-once': (pid) => `stopped: pid ${pid}, without a complete shutdown (its log has the reason); ${DURABILITY_NOTE}`,
  killed: (pid) => `killed: pid ${pid}, because it did not exit; ${DURABILITY_NOTE}`,
}
