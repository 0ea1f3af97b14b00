import { Client, type ClientOptions } from '../client/client.js'
import { findDaemon, type LocalDaemon } from '../client/local-daemon.js'
import { EXIT } from '../contract/errors.js'
import { CliError } from './cli-error.js'
import type { Place } from './contexts.js'

export interface ConnectOptions extends ClientOptions {
  autostart: boolean
  /** Called when the daemon takes long to start. */
  onSlowStart?: () => void
}

/** Returns a client of the configured service; starts the local daemon if none is running. */
export async function connect(place: Place, options: ConnectOptions): Promise<Client> {
  if (place.kind === 'remote') {
    if (place.token === undefined) throw noToken(place)
    return new Client({ url: place.url, token: place.token }, options)
  }
  const daemon = await localDaemon(place.dataDir, options)
  return new Client(place.token === undefined ? daemon.target : { ...daemon.target, token: place.token }, options)
}

async function localDaemon(dataDir: string, options: ConnectOptions): Promise<LocalDaemon> {
  const found = await findDaemon(dataDir)
  if (found !== undefined) return found
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

function noToken(place: { url: string; context: string | undefined }): CliError {
  const where = place.context === undefined ? `--url ${place.url}` : `--context ${place.context}`
  return new CliError(`no token for ${new URL(place.url).origin}`, {
    code: 'unauthenticated',
    exit: EXIT.notAllowed,
    hint: `\`ks auth login ${where}\`, or KS_TOKEN_FILE`,
  })
}
