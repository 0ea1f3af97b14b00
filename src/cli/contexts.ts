import { readFileSync } from 'node:fs'
import { EXIT } from '../contract/errors.js'
import { findNearest } from '../lib/text/nearest.js'
import type { LocalDirs } from '../local/dirs.js'
import { CliError, usageError } from './cli-error.js'
import { findCredential, readCredentials } from './credentials.js'
import { type Env, envValue, isEnvOn } from './environment.js'
import { getFileReason } from './file-reason.js'
import { findProjectFile, type ProjectFile } from './project-file.js'
import {
  type ContextEntry,
  LOCAL_CONTEXT,
  normalizeServiceUrl,
  readUserConfig,
  type UserConfig,
} from './user-config.js'

export type CliSettingOrigin = 'flag' | 'environment' | 'project' | 'user' | 'default'

export interface SettingWithOrigin<T> {
  value: T
  origin: CliSettingOrigin
}

/** The service that a command uses, with its token. */
export type ConfiguredService =
  | { kind: 'local'; dataDir: string; token: string | undefined }
  | { kind: 'remote'; url: string; context: string | undefined; token: string | undefined }

export interface ContextFlags {
  context?: string | undefined
  url?: string | undefined
  tokenFile?: string | undefined
  space?: string | undefined
  mode?: string | undefined
  autostart?: boolean | undefined
}

export interface CommandSettings {
  service: SettingWithOrigin<ConfiguredService>
  space: SettingWithOrigin<string> | undefined
  mode: SettingWithOrigin<string> | undefined
  format: SettingWithOrigin<string> | undefined
  autostart: boolean
  /** Patterns of files that ingest excludes. */
  ignore: string[]
  project: ProjectFile | undefined
  user: UserConfig
}

export interface SettingSources {
  flags: ContextFlags
  env: Env
  cwd: string
  dirs: LocalDirs
}

/** Resolves settings from flags, environment, project file and user file, in that order. */
export function resolveSettings(sources: SettingSources): CommandSettings {
  const { flags, env, dirs } = sources
  const user = readUserConfig(dirs.config)
  const project = findProjectFile(sources.cwd)
  const chosen = chooseService(sources, project, user)
  const entry = chosen.context === undefined ? undefined : user.contexts[chosen.context]
  return {
    service: { value: toConfiguredService(chosen, sources), origin: chosen.origin },
    space: selectFirst(
      ['flag', flags.space],
      ['environment', envValue(env, 'KS_SPACE')],
      ['project', project?.space],
      ['user', entry?.space],
      ['user', user.defaults.space],
    ),
    mode: selectFirst(['flag', flags.mode], ['project', project?.mode], ['user', user.defaults.mode]),
    format: selectFirst(['environment', envValue(env, 'KS_FORMAT')], ['user', user.defaults.format]),
    autostart: isAutostartEnabled(sources, user),
    ignore: project?.ignore ?? [],
    project,
    user,
  }
}

function isAutostartEnabled({ flags, env }: SettingSources, user: UserConfig): boolean {
  if (flags.autostart !== undefined) return flags.autostart
  if (envValue(env, 'KS_AUTOSTART') !== undefined) return isEnvOn(env, 'KS_AUTOSTART')
  return user.defaults.autostart !== 'off'
}

interface ChosenService {
  origin: CliSettingOrigin
  /** Undefined for the local daemon. */
  url: string | undefined
  context: string | undefined
}

function chooseService(
  { flags, env }: SettingSources,
  project: ProjectFile | undefined,
  user: UserConfig,
): ChosenService {
  if (flags.url !== undefined && flags.context !== undefined) {
    throw usageError('--context and --url both select the service: give one of them')
  }
  if (flags.url !== undefined) return { origin: 'flag', url: normalizeServiceUrl(flags.url), context: undefined }
  if (flags.context !== undefined) return chooseContext('flag', flags.context, user)
  const [envUrl, envContext] = [envValue(env, 'KS_URL'), envValue(env, 'KS_CONTEXT')]
  if (envUrl !== undefined && envContext !== undefined) {
    throw usageError('KS_CONTEXT and KS_URL both select the service: set one of them')
  }
  if (envUrl !== undefined) return { origin: 'environment', url: normalizeServiceUrl(envUrl), context: undefined }
  if (envContext !== undefined) return chooseContext('environment', envContext, user)
  if (project?.context !== undefined) return chooseContext('project', project.context, user)
  if (user.currentContext !== undefined) return chooseContext('user', user.currentContext, user)
  return { origin: 'default', url: undefined, context: LOCAL_CONTEXT }
}

function chooseContext(origin: CliSettingOrigin, name: string, user: UserConfig): ChosenService {
  return { origin, url: requireContext(name, user)?.url, context: name }
}

/** The entry of a context; `undefined` for the local context, which needs none. @throws CliError exit 5 */
export function requireContext(name: string, user: UserConfig): ContextEntry | undefined {
  const entry = user.contexts[name]
  if (entry !== undefined || name === LOCAL_CONTEXT) return entry
  const close = findNearest(name, [...Object.keys(user.contexts), LOCAL_CONTEXT])
  throw new CliError(`unknown context ${JSON.stringify(name)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: close === undefined ? '`ks context` lists all' : `did you mean \`${close}\`? \`ks context\` lists all`,
  })
}

function toConfiguredService(chosen: ChosenService, sources: SettingSources): ConfiguredService {
  if (chosen.url === undefined) {
    return { kind: 'local', dataDir: sources.dirs.data, token: readGivenToken(sources) }
  }
  const token = findToken(chosen, chosen.url, sources)
  return { kind: 'remote', url: chosen.url, context: chosen.context, token }
}

/**
 * The token for a remote service. A token of the environment is used only if the service was chosen by a flag or the
 * environment: a project file must not redirect it. Stored tokens are used only for the origin they were stored for.
 */
function findToken(chosen: ChosenService, url: string, sources: SettingSources): string | undefined {
  const isTrusted = chosen.origin !== 'project' || sources.flags.tokenFile !== undefined
  const given = isTrusted ? readGivenToken(sources) : undefined
  if (given !== undefined) return given
  return findCredential(readCredentials(sources.dirs.config), new URL(url).origin, chosen.context)?.token
}

function readGivenToken({ flags, env }: SettingSources): string | undefined {
  const file = flags.tokenFile ?? envValue(env, 'KS_TOKEN_FILE')
  if (file === undefined) return envValue(env, 'KS_TOKEN')
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new CliError(`the token file ${file} cannot be read: ${getFileReason(cause)}`, {
      code: 'unauthenticated',
      exit: EXIT.notAllowed,
      cause,
    })
  }
  if (text === '') {
    throw new CliError(`the token file ${file} is empty`, { code: 'unauthenticated', exit: EXIT.notAllowed })
  }
  return text
}

function selectFirst(...choices: [CliSettingOrigin, string | undefined][]): SettingWithOrigin<string> | undefined {
  for (const [origin, value] of choices) {
    if (value !== undefined) return { value, origin }
  }
  return undefined
}
