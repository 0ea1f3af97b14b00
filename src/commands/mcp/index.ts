import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

export default class Mcp extends BaseCommand {
  static override summary = 'serve the Model Context Protocol on stdin and stdout, for agents'
  static override description =
    'Uses the service like every other command: starts a local daemon if none is reachable, even within a session. Writes only the protocol on stdout. `ks mcp install` configures an MCP client to start this command.'
  static override examples = ['<%= config.bin %> mcp', '<%= config.bin %> mcp --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(Mcp)
    const { createReconnectingConnection } = await import('../../cli/mcp/reconnecting-api.js')
    const { connect } = await import('../../cli/connect.js')
    const { service, space, ignore } = this.settings
    const running = connect(service.value, { autostart: false })
    const connection = createReconnectingConnection(() => this.reconnect(), running)
    await import('../../mcp/disable-schema-compilation.js')
    const { serveStdio } = await import('../../mcp/stdio.js')
    const stateDir = this.dirs.state
    await serveStdio({
      version: this.config.version,
      // A space from a project or setting is only the default; a space from the flag is the only visible one.
      selection: space?.origin === 'flag' ? { onlySpace: space.value } : { defaultSpace: space?.value },
      mayWrite: true,
      getApi: () => connection.api,
      ingester: {
        ingest: async (request) => {
          const { createLocalFiles } = await import('../../cli/mcp/local-files.js')
          const { getProtectedFiles } = await import('../../cli/own-files.js')
          const protectedFiles = getProtectedFiles(this.dirs, this.common.context.tokenFile)
          const files = createLocalFiles({
            client: connection.client,
            service: service.value,
            stateDir,
            ignore,
            protectedFiles,
          })
          return files.ingest(request)
        },
      },
    })
  }
}
