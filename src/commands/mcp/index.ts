import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

export default class Mcp extends BaseCommand {
  static override summary = 'serve the Model Context Protocol on stdin and stdout, for agents'
  static override description =
    'A client of the service like every other command: a local daemon is started when none answers, also in the middle of a session. Nothing but the protocol is written on stdout. `ks mcp install` writes the configuration of a client that starts this.'
  static override examples = ['<%= config.bin %> mcp', '<%= config.bin %> mcp --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(Mcp)
    const { reconnecting } = await import('../../cli/mcp/reconnecting.js')
    const { connect } = await import('../../cli/connect.js')
    const { place, space, ignore } = this.settings
    const running = connect(place.value, { autostart: false })
    const connection = reconnecting(() => this.reconnected(), running)
    await import('../../mcp/interpreted.js')
    const { serveStdio } = await import('../../mcp/stdio.js')
    const stateDir = this.dirs.state
    await serveStdio({
      version: this.config.version,
      // what a project or a setting names is a default; only the flag hides the others
      view: space?.origin === 'flag' ? { only: space.value } : { preferred: space?.value },
      mayWrite: true,
      api: () => connection.api,
      local: {
        ingest: async (request) => {
          const { localFiles } = await import('../../cli/mcp/local-files.js')
          const { ownFiles } = await import('../../cli/own-files.js')
          const own = ownFiles(this.dirs, this.common.context.tokenFile)
          const files = localFiles({ client: connection.client, place: place.value, stateDir, ignore, own })
          return files.ingest(request)
        },
      },
    })
  }
}
