import { userInfo } from 'node:os'
import { type Place, resolveSettings, type Settings } from '../cli/contexts.js'
import { envOn, envValue } from '../cli/environment.js'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import { ConnectionError } from '../client/errors.js'
import { type LocalDirs, localDirs } from '../local/dirs.js'
import type { Common } from './options.js'

const known = new WeakMap<Common, Settings>()

/** Settings from options, environment, project and user files, resolved once per command. @throws CliError */
export function settingsOf(common: Common): Settings {
  const before = known.get(common)
  if (before !== undefined) return before
  const { context, tokenFile, autostart } = common
  // `--context` takes precedence over the environment.
  const url = common.url ?? (context === undefined ? envValue(process.env, 'KCHAT_URL') : undefined)
  const flags = { url, context, tokenFile, autostart: autostart === false ? false : undefined }
  const settings = resolveSettings({ flags, env: process.env, cwd: process.cwd(), dirs: localDirs() })
  known.set(common, settings)
  return settings
}

/** The service that keys are stored for: an origin, or the data directory of a local daemon. */
export function serviceOf(common: Common): { service: string; dirs: LocalDirs } {
  return { service: serviceName(settingsOf(common).place.value), dirs: localDirs() }
}

export function serviceName(place: Place): string {
  return place.kind === 'remote' ? place.url : `local:${place.dataDir}`
}

/** The end user of a command. */
export function userOf({ user }: Common): string {
  return user || envValue(process.env, 'KCHAT_USER') || userInfo().username
}

export function isDebug({ debug }: Common): boolean {
  return debug === true || envOn(process.env, 'KS_DEBUG')
}

/** Whether the user can be prompted: not disabled, and both stdin and stderr are terminals. */
export function mayPrompt({ input }: { input?: boolean }): boolean {
  const isOff = input === false || envOn(process.env, 'KS_NO_INPUT') || envOn(process.env, 'CI')
  return !isOff && process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** A signal that aborts at the timeout of the command. @throws CliError exit 2 */
export async function deadlineOf(common: Common): Promise<AbortSignal | undefined> {
  const timeout = common.timeout ?? envValue(process.env, 'KS_TIMEOUT')
  if (timeout === undefined) return undefined
  const { parseSpan } = await import('../cli/units.js')
  const ms = parseSpan(timeout, '--timeout')
  const controller = new AbortController()
  const late = new ConnectionError('timeout', `the command took longer than ${ms} ms (--timeout)`)
  setTimeout(() => controller.abort(late), ms).unref()
  return controller.signal
}

/** `--verbose`: prints the service, key and end user, and the origin of that choice. */
export function printService(common: Common, key: string): void {
  if (common.verbose !== true) return
  const { value, origin } = settingsOf(common).place
  const where = value.kind === 'local' ? `the local daemon of ${value.dataDir}` : value.url
  writeErr(`${tty(`kchat: using ${where} (${origin}) with ${key}`)}\n`)
}
