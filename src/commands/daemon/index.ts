import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith } from '../../cli/cli-error.js'
import { formatDaemonStatus, readDaemon } from '../../cli/daemon-status.js'
import type { InstalledService, RunningDaemonStatus, StoppedDaemonStatus } from '../../cli/json-output/daemon.js'
import { findInstalledService, getServiceState } from '../../cli/service/manager.js'
import { Client } from '../../client/client.js'
import { findDaemon } from '../../client/local-daemon.js'
import { EXIT } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class Daemon extends BaseCommand {
  static override summary = 'show the status of the local daemon; exits with 8 if it does not run'
  static override isLocalOnly = true
  static override aliases = ['daemon:status']
  static override examples = ['<%= config.bin %> daemon status', '<%= config.bin %> daemon status --format json']
  static override flags = {
    all: Flags.boolean({ description: 'also show memory, delays and the state of each part' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Daemon)
    const dataDir = this.dirs.data
    const daemon = await findDaemon(dataDir)
    const service = await this.findService()
    if (daemon === undefined) {
      if (this.out.isJson) this.out.json({ running: false, dataDir, ...service } satisfies StoppedDaemonStatus)
      else this.out.line(`not running\ndata      ${dataDir}${formatServiceLine(service)}`)
      throw new ExitWith(EXIT.unavailable)
    }
    const client = new Client(daemon.target)
    try {
      if (this.out.isJson || this.out.format === 'tsv') {
        const [status, health] = await Promise.all([
          client.request('GET /daemon/status', { query: {} }),
          client.request('GET /health', {}),
        ])
        this.out.record({ running: true, ...daemon.file, ...status, health, ...service } satisfies RunningDaemonStatus)
      } else {
        const reading = await readDaemon(client, daemon.file)
        for (const line of formatDaemonStatus(reading, { isAll: flags.all })) this.out.line(line)
        if (service.service !== undefined) this.out.line(formatServiceLine(service).trim())
      }
    } finally {
      client.close()
    }
  }

  /** The service of `ks daemon install` and its state. */
  private async findService(): Promise<{ service?: InstalledService }> {
    const file = findInstalledService(this.dirs, process.env)
    if (file === undefined) return {}
    return { service: { path: file.path, ...omitUndefined({ state: await getServiceState(file.kind) }) } }
  }
}

function formatServiceLine({ service }: { service?: InstalledService }): string {
  return service === undefined ? '' : `\nservice   ${service.state ?? 'state unknown'} · ${service.path}`
}
