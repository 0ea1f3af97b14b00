import { userInfo } from 'node:os'
import { type CommonOptions, readCommonOptions } from '../cli/common-options.js'
import { type CommandSettings, resolveSettings } from '../cli/contexts.js'
import { armDeadline } from '../cli/deadline.js'
import { getEnvValue } from '../cli/environment.js'
import { parseFormat } from '../cli/output-format.js'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import { type LocalDirs, resolveLocalDirs } from '../local/dirs.js'
import type { KchatOptions } from './options.js'

const commonByOptions = new WeakMap<KchatOptions, CommonOptions>()
const settingsByOptions = new WeakMap<KchatOptions, CommandSettings>()

/** Reads the options that `ks` has, too, with values of the environment for absent ones. @throws CliError exit 2 */
export function readOptions(options: KchatOptions): CommonOptions {
  // The parser of `ks` checks the format itself.
  if (options.format !== undefined) parseFormat(options.format, '--format')
  const common = commonByOptions.get(options) ?? readCommonOptions(toFlags(options), process.env)
  commonByOptions.set(options, common)
  return common
}

/** Commander stores `--no-pager` as the option `pager` with the value false. */
function toFlags({ tokenFile, ...options }: KchatOptions): Record<string, unknown> {
  const negated = Object.entries(options).filter(([name, value]) => value === false && name !== 'color')
  return { ...options, 'token-file': tokenFile, ...Object.fromEntries(negated.map(([name]) => [`no-${name}`, true])) }
}

/** Settings from options, environment, project and user files, resolved once per command. @throws CliError */
export function resolveCommandSettings(options: KchatOptions): CommandSettings {
  const cached = settingsByOptions.get(options)
  if (cached !== undefined) return cached
  const { context, tokenFile, autostart, ...flagged } = readOptions(options).context
  // `--context` takes precedence over the environment.
  const url = flagged.url ?? (context === undefined ? getEnvValue(process.env, 'KCHAT_URL') : undefined)
  const flags = { url, context, tokenFile, autostart }
  const settings = resolveSettings({ flags, env: process.env, cwd: process.cwd(), dirs: resolveLocalDirs() })
  settingsByOptions.set(options, settings)
  return settings
}

/**
 * The folders of this user, with the file of stored keys, and the service of a command as that file names it: an
 * origin, or the data directory of a local daemon.
 */
export function resolveKeyStore(options: KchatOptions): { service: string; dirs: LocalDirs } {
  const { value } = resolveCommandSettings(options).service
  return { service: value.kind === 'remote' ? value.url : `local:${value.dataDir}`, dirs: resolveLocalDirs() }
}

/** Selects the end user of a command. */
export function selectUser({ user }: KchatOptions): string {
  return user || getEnvValue(process.env, 'KCHAT_USER') || userInfo().username
}

/** Creates a signal that aborts at the timeout of the command, if it has one. @throws CliError exit 2 */
export function createDeadline(options: KchatOptions): AbortSignal | undefined {
  const { timeoutMs } = readOptions(options)
  if (timeoutMs === undefined) return undefined
  const deadline = new AbortController()
  armDeadline(deadline, timeoutMs)
  return deadline.signal
}

/** With `--verbose`, prints the service with the origin of that choice, and the credential. */
export function printService(options: KchatOptions, credential: string): void {
  if (!readOptions(options).verbose) return
  const { value, origin } = resolveCommandSettings(options).service
  const location = value.kind === 'local' ? `the local daemon of ${value.dataDir}` : value.url
  writeErr(`${tty(`kchat: using ${location} (${origin}) with ${credential}`)}\n`)
}
