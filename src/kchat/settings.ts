import { userInfo } from 'node:os'
import { type CommandSettings, type ConfiguredService, resolveSettings } from '../cli/contexts.js'
import { envValue, isEnvOn } from '../cli/environment.js'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import { ConnectionError } from '../client/errors.js'
import { type LocalDirs, resolveLocalDirs } from '../local/dirs.js'
import type { KchatOptions } from './options.js'

const settingsByOptions = new WeakMap<KchatOptions, CommandSettings>()

/** Settings from options, environment, project and user files, resolved once per command. @throws CliError */
export function resolveCommandSettings(common: KchatOptions): CommandSettings {
  const cached = settingsByOptions.get(common)
  if (cached !== undefined) return cached
  const { context, tokenFile, autostart } = common
  // `--context` takes precedence over the environment.
  const url = common.url ?? (context === undefined ? envValue(process.env, 'KCHAT_URL') : undefined)
  const flags = { url, context, tokenFile, autostart: autostart === false ? false : undefined }
  const settings = resolveSettings({ flags, env: process.env, cwd: process.cwd(), dirs: resolveLocalDirs() })
  settingsByOptions.set(common, settings)
  return settings
}

/** The service that keys are stored for: an origin, or the data directory of a local daemon. */
export function resolveService(common: KchatOptions): { service: string; dirs: LocalDirs } {
  return { service: formatServiceName(resolveCommandSettings(common).service.value), dirs: resolveLocalDirs() }
}

export function formatServiceName(place: ConfiguredService): string {
  return place.kind === 'remote' ? place.url : `local:${place.dataDir}`
}

/** The end user of a command. */
export function selectUser({ user }: KchatOptions): string {
  return user || envValue(process.env, 'KCHAT_USER') || userInfo().username
}

export function isDebug({ debug }: KchatOptions): boolean {
  return debug === true || isEnvOn(process.env, 'KS_DEBUG')
}

/** Whether the user can be prompted: not disabled, and both stdin and stderr are terminals. */
export function canPrompt({ input }: { input?: boolean }): boolean {
  const isOff = input === false || isEnvOn(process.env, 'KS_NO_INPUT') || isEnvOn(process.env, 'CI')
  return !isOff && process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** A signal that aborts at the timeout of the command. @throws CliError exit 2 */
export async function createDeadline(common: KchatOptions): Promise<AbortSignal | undefined> {
  const timeout = common.timeout ?? envValue(process.env, 'KS_TIMEOUT')
  if (timeout === undefined) return undefined
  const { parseSpan } = await import('../cli/units.js')
  const ms = parseSpan(timeout, '--timeout')
  const controller = new AbortController()
  const timeoutError = new ConnectionError('timeout', `the command took longer than ${ms} ms (--timeout)`)
  setTimeout(() => controller.abort(timeoutError), ms).unref()
  return controller.signal
}

/** `--verbose`: prints the service, key and end user, and the origin of that choice. */
export function printService(common: KchatOptions, key: string): void {
  if (common.verbose !== true) return
  const { value, origin } = resolveCommandSettings(common).service
  const location = value.kind === 'local' ? `the local daemon of ${value.dataDir}` : value.url
  writeErr(`${tty(`kchat: using ${location} (${origin}) with ${key}`)}\n`)
}
