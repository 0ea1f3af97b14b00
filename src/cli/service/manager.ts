import { existsSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findDaemon, type LocalDaemon } from '../../client/local-daemon.js'
import { EXIT } from '../../contract/errors.js'
import type { LocalDirs } from '../../local/dirs.js'
import { resolveDataLayout } from '../../local/layout.js'
import { CliError } from '../cli-error.js'
import { quoteShellWord } from '../shell-word.js'
import {
  GENERATED_MARK,
  isForDataDir,
  LAUNCHD_LABEL,
  renderLaunchdPlist,
  renderSystemdUnit,
  type ServiceProgram,
} from './unit.js'

/** Service manager of this user. */
export type ManagerKind = 'systemd' | 'launchd'
export const SYSTEMD_UNIT = 'ksd.service'

export interface ServiceFile {
  kind: ManagerKind
  path: string
  /** The current content, if the file exists. */
  existing: string | undefined
}

/** Variables of directories; a service manager has none of the shell's variables. */
const FOLDER_VARIABLES = [
  'KS_CONFIG_DIR',
  'KS_CACHE_DIR',
  'KS_STATE_DIR',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
]

/** Where the service file of this user is. @throws CliError exit 9 on a platform without a supported service manager */
export function findServiceFile(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): ServiceFile {
  const kind = platform === 'linux' ? 'systemd' : platform === 'darwin' ? 'launchd' : undefined
  if (kind === undefined)
    throw new CliError(`no supported service manager on ${platform === 'win32' ? 'Windows' : platform}`, {
      code: 'not-configured',
      exit: EXIT.notConfigured,
      hint: 'commands start the daemon on demand; a task scheduler can run `ksd --mode service`',
    })
  const config =
    env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(homedir(), '.config')
  const path =
    kind === 'systemd'
      ? join(config, 'systemd', 'user', SYSTEMD_UNIT)
      : join(homedir(), 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`)
  return { kind, path, existing: existsSync(path) ? readFileSync(path, 'utf8') : undefined }
}

/** Renders the content of the service file. @param root folder of the package */
export function renderServiceFile(
  { kind }: ServiceFile,
  dirs: LocalDirs,
  root: string,
  env: NodeJS.ProcessEnv,
): string {
  const program: ServiceProgram = {
    node: process.execPath,
    ksd: join(root, 'bin', 'ksd.js'),
    dataDir: dirs.data,
    folders: Object.fromEntries(FOLDER_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    environmentFile: getEnvironmentFile(dirs),
  }
  return kind === 'systemd' ? renderSystemdUnit(program) : renderLaunchdPlist(program, resolveDataLayout(dirs.data).log)
}

/** Path of an optional file with provider keys, one `NAME=value` a line, only for the service. */
export function getEnvironmentFile(dirs: LocalDirs): string {
  return join(dirs.config, 'ksd.env')
}

export function isInstalledByUs({ existing }: ServiceFile): boolean {
  return existing?.includes(GENERATED_MARK) === true
}

/** The service file of a data directory's daemon, if `ks daemon install` wrote one. */
export function findInstalledService(dirs: LocalDirs, env: NodeJS.ProcessEnv): ServiceFile | undefined {
  if (process.platform !== 'linux' && process.platform !== 'darwin') return undefined
  const file = findServiceFile(env)
  return isInstalledByUs(file) && isForDataDir(file.kind, file.existing ?? '', dirs.data) ? file : undefined
}

/** Whether the service manager of this user is running. */
export async function isManagerRunning(kind: ManagerKind): Promise<boolean> {
  // Commands of launchd are untested.
  if (kind === 'launchd') return false
  const { execa } = await import('execa')
  const { failed } = await execa('systemctl', ['--user', 'show-environment'], { reject: false, timeout: 5000 })
  return !failed
}

/** Runs systemctl for this user's services. @throws CliError with its message */
export async function runSystemctl(...args: string[]): Promise<void> {
  const { execa } = await import('execa')
  const { failed, stderr, shortMessage } = await execa('systemctl', ['--user', ...args], { reject: false })
  if (!failed) return
  throw new CliError(`\`systemctl --user ${args.join(' ')}\` failed: ${stderr.split('\n')[0] || shortMessage}`, {
    code: 'failed',
    exit: EXIT.failed,
    hint: `\`journalctl --user -u ${SYSTEMD_UNIT}\``,
  })
}

/** Stops and removes the service. @returns whether the service manager was running and stopped it */
export async function removeService({ kind, path }: ServiceFile): Promise<boolean> {
  const hasManager = await isManagerRunning(kind)
  if (hasManager) await runSystemctl('disable', '--now', SYSTEMD_UNIT)
  rmSync(path, { force: true })
  if (hasManager) await runSystemctl('daemon-reload')
  return hasManager
}

/** Commands to run by hand if the manager is not running here or must not be called. */
export function listManualCommands(kind: ManagerKind, path: string, action: 'install' | 'uninstall'): string[] {
  if (kind === 'launchd')
    return action === 'install'
      ? [`launchctl bootstrap gui/$(id -u) ${quoteShellWord(path)}`]
      : [`launchctl bootout gui/$(id -u)/${LAUNCHD_LABEL}`]
  return action === 'install'
    ? ['systemctl --user daemon-reload', `systemctl --user enable --now ${SYSTEMD_UNIT}`]
    : [`systemctl --user disable --now ${SYSTEMD_UNIT}`]
}

/** `active`, `inactive`, `failed` and the like; undefined if unknown. */
export async function getServiceState(kind: ManagerKind): Promise<string | undefined> {
  if (kind === 'launchd') return undefined
  const { execa } = await import('execa')
  const { stdout } = await execa('systemctl', ['--user', 'is-active', SYSTEMD_UNIT], { reject: false, timeout: 5000 })
  return typeof stdout === 'string' && /^[a-z-]+$/.test(stdout) ? stdout : undefined
}

const START_TIMEOUT_MS = 30_000
const START_POLL_INTERVAL_MS = 100

/**
 * Waits until the daemon that the manager starts responds.
 *
 * @param previousInstance instance id of the daemon that is restarted, which may still respond
 * @throws CliError exit 8 on a timeout
 */
export async function waitForNewDaemon(dataDir: string, previousInstance?: string): Promise<LocalDaemon> {
  for (const startedAt = Date.now(); Date.now() - startedAt < START_TIMEOUT_MS; await sleep(START_POLL_INTERVAL_MS)) {
    const daemon = await findDaemon(dataDir)
    if (daemon !== undefined && daemon.file.instance !== previousInstance) return daemon
  }
  throw new CliError(`the service did not respond within ${START_TIMEOUT_MS / 1000} s`, {
    code: 'timeout',
    exit: EXIT.unavailable,
    hint: `\`journalctl --user -u ${SYSTEMD_UNIT}\``,
  })
}
