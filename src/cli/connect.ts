import { Client, type ClientOptions } from '../client/client.js'
import { findDaemon, type LocalDaemon } from '../client/local-daemon.js'
import { EXIT } from '../contract/errors.js'
import { CliError } from './cli-error.js'
import type { ConfiguredService } from './contexts.js'

export interface ConnectOptions extends ClientOptions {
  autostart: boolean
  onSlowStart?: () => void
}

/** Returns a client of the configured service; starts the local daemon if none is running. */
export async function connect(service: ConfiguredService, options: ConnectOptions): Promise<Client> {
  if (service.kind === 'remote') {
    if (service.token === undefined) throw toMissingTokenError(service)
    return new Client({ url: service.url, token: service.token }, options)
  }
  const daemon = await findOrStartDaemon(service.dataDir, options)
  return new Client(service.token === undefined ? daemon.target : { ...daemon.target, token: service.token }, options)
}

async function findOrStartDaemon(dataDir: string, options: ConnectOptions): Promise<LocalDaemon> {
  const running = await findDaemon(dataDir)
  if (running !== undefined) return running
  if (!options.autostart) {
    throw new CliError(`no daemon answers for ${dataDir}`, {
      code: 'unreachable',
      exit: EXIT.unavailable,
      hint: '`ks daemon start`',
    })
  }
  const { startDaemon } = await import('../client/start-daemon.js')
  return await startDaemon({ dataDir, args: ['--mode', 'auto'], onSlow: options.onSlowStart })
}

function toMissingTokenError(service: { url: string; context: string | undefined }): CliError {
  const flag = service.context === undefined ? `--url ${service.url}` : `--context ${service.context}`
  return new CliError(`no token for ${new URL(service.url).origin}`, {
    code: 'unauthenticated',
    exit: EXIT.notAllowed,
    hint: `\`ks auth login ${flag}\`, or KS_TOKEN_FILE`,
  })
}
