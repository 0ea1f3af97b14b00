import { readFileSync } from 'node:fs'
import { EXIT } from '../contract/errors.js'
import { findNearest } from '../lib/text/nearest.js'
import type { LocalDirs } from '../local/dirs.js'
import { CliError, usageError } from './cli-error.js'
import { findCredential, readCredentials } from './credentials.js'
import { type Env, getEnvValue, isEnvOn } from './environment.js'
import { getFileReason } from './file-reason.js'
import { readLocalPath } from './local-path.js'
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

/** The data directory or URL of a service: the key of what this machine remembers about it. */
export function toServiceKey(service: ConfiguredService): string {
  return service.kind === 'local' ? service.dataDir : service.url
}

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
  const selected = selectService(sources, project, user)
  const entry = selected.context === undefined ? undefined : user.contexts[selected.context]
  return {
    service: { value: toConfiguredService(selected, sources), origin: selected.origin },
    space: selectFirst(
      ['flag', flags.space],
      ['environment', getEnvValue(env, 'KS_SPACE')],
      ['project', project?.space],
      ['user', entry?.space],
      ['user', user.defaults.space],
    ),
    mode: selectFirst(['flag', flags.mode], ['project', project?.mode], ['user', user.defaults.mode]),
    format: selectFirst(['environment', getEnvValue(env, 'KS_FORMAT')], ['user', user.defaults.format]),
    autostart: isAutostartEnabled(sources, user),
    ignore: project?.ignore ?? [],
    project,
    user,
  }
}

function isAutostartEnabled({ flags, env }: SettingSources, user: UserConfig): boolean {
  if (flags.autostart !== undefined) return flags.autostart
  if (getEnvValue(env, 'KS_AUTOSTART') !== undefined) return isEnvOn(env, 'KS_AUTOSTART')
  return user.defaults.autostart !== 'off'
}

interface SelectedService {
  origin: CliSettingOrigin
  /** Undefined for the local daemon. */
  url: string | undefined
  context: string | undefined
}

function selectService(
  { flags, env }: SettingSources,
  project: ProjectFile | undefined,
  user: UserConfig,
): SelectedService {
  if (flags.url !== undefined && flags.context !== undefined) {
    throw usageError('--context and --url both select the service: give one of them')
  }
  if (flags.url !== undefined) return { origin: 'flag', url: normalizeServiceUrl(flags.url), context: undefined }
  if (flags.context !== undefined) return selectContext('flag', flags.context, user)
  const [envUrl, envContext] = [getEnvValue(env, 'KS_URL'), getEnvValue(env, 'KS_CONTEXT')]
  if (envUrl !== undefined && envContext !== undefined) {
    throw usageError('KS_CONTEXT and KS_URL both select the service: set one of them')
  }
  if (envUrl !== undefined) return { origin: 'environment', url: normalizeServiceUrl(envUrl), context: undefined }
  if (envContext !== undefined) return selectContext('environment', envContext, user)
  if (project?.context !== undefined) return selectContext('project', project.context, user)
  if (user.currentContext !== undefined) return selectContext('user', user.currentContext, user)
  return { origin: 'default', url: undefined, context: LOCAL_CONTEXT }
}

function selectContext(origin: CliSettingOrigin, name: string, user: UserConfig): SelectedService {
  return { origin, url: requireContext(name, user)?.url, context: name }
}

/** The entry of a context; `undefined` for the local context, which needs none. @throws CliError exit 5 */
export function requireContext(name: string, user: UserConfig): ContextEntry | undefined {
  const entry = user.contexts[name]
  if (entry !== undefined || name === LOCAL_CONTEXT) return entry
  const nearest = findNearest(name, [...Object.keys(user.contexts), LOCAL_CONTEXT])
  throw new CliError(`unknown context ${JSON.stringify(name)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: nearest === undefined ? '`ks context` lists all' : `did you mean \`${nearest}\`? \`ks context\` lists all`,
  })
}

function toConfiguredService(selected: SelectedService, sources: SettingSources): ConfiguredService {
  if (selected.url === undefined) {
    return { kind: 'local', dataDir: sources.dirs.data, token: readExplicitToken(sources) }
  }
  const token = findToken(selected, selected.url, sources)
  return { kind: 'remote', url: selected.url, context: selected.context, token }
}

/**
 * The token for a remote service. A token of the environment is used only if the service was selected by a flag or the
 * environment: a project file must not redirect it. Stored tokens are used only for the origin they were stored for.
 */
function findToken(selected: SelectedService, url: string, sources: SettingSources): string | undefined {
  const isTrusted = selected.origin !== 'project' || sources.flags.tokenFile !== undefined
  const explicitToken = isTrusted ? readExplicitToken(sources) : undefined
  if (explicitToken !== undefined) return explicitToken
  return findCredential(readCredentials(sources.dirs.config), new URL(url).origin, selected.context)?.token
}

/** The token of `--token-file`, `KS_TOKEN_FILE` or `KS_TOKEN`. @throws CliError exit 4 for an unusable file */
function readExplicitToken({ flags, env }: SettingSources): string | undefined {
  const tokenFile = flags.tokenFile ?? getEnvValue(env, 'KS_TOKEN_FILE')
  if (tokenFile === undefined) return getEnvValue(env, 'KS_TOKEN')
  const file = readLocalPath(tokenFile)
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
