import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { findDaemon } from '../../client/local-daemon.js'
import { toErrorMessage } from '../../lib/error-message.js'
import { isRecord } from '../../lib/json/values.js'
import { findDisallowedPrograms, listProviderPrograms, readAllowedPrograms } from '../../local/allowed-programs.js'
import type { LocalDirs } from '../../local/dirs.js'
import { LAYOUT_VERSION, resolveDataLayout } from '../../local/layout.js'
import { withCanonicalNames } from '../../local/setting-spellings.js'
import { SETTINGS } from '../../local/settings.js'
import { readCredentials } from '../credentials.js'
import { formatFullDisk } from '../daemon-status.js'
import { readJsonObject } from '../json-file.js'
import type { CheckFinding } from '../json-output/machine.js'
import { formatBytes } from '../units.js'
import { readUserConfig } from '../user-config.js'
import { checkPrograms } from './programs.js'

export interface DoctorOptions {
  dirs: LocalDirs
  env: NodeJS.ProcessEnv
  version: string
}

/** With less free space an ingest will probably fail. */
const MIN_FREE_BYTES = 1024 ** 3
const FREE_SPACE_FIX = 'free disk space, or move the data with KS_DATA_DIR'
const LOG_FIX = '`ks daemon logs -n 50` shows the reason'
const MIN_NODE_VERSION = [20, 20] as const

/** Runs all checks in sequence; a check that fails to run is a finding, too. */
export async function* runChecks(options: DoctorOptions): AsyncGenerator<CheckFinding> {
  yield checkNodeVersion()
  yield await checkNativeModule('better-sqlite3', 'new m(":memory:").close()')
  yield await checkNativeModule('hnswlib-node', 'new m.HierarchicalNSW("l2", 2)')
  yield await checkTantivy()
  yield checkDataDirectory(options.dirs.data)
  yield checkDiskSpace(options.dirs.data)
  yield await checkDaemon(options)
  yield* checkVectors(options)
  yield checkUserFile('config', () => readUserConfig(options.dirs.config), 'correct or remove config.json')
  yield checkUserFile('credentials', () => readCredentials(options.dirs.config), 'correct or remove credentials.json')
  yield checkDaemonConfig(options)
  yield* checkProviders(options)
  yield* checkPrograms(options.dirs.data, options.env)
}

function checkNodeVersion(): CheckFinding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isSupported = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  const finding: CheckFinding = { check: 'node', state: isSupported ? 'ok' : 'failed', found: process.version }
  return isSupported ? finding : { ...finding, fix: `install Node ${MIN_NODE_VERSION.join('.')} or newer` }
}

/** Loads a native module in a separate process, so that a broken one cannot crash this process. */
async function checkNativeModule(name: string, testCode: string): Promise<CheckFinding> {
  const failure = await findLoadFailure(name, testCode)
  if (failure === undefined) return { check: name, state: 'ok', found: 'loads and works' }
  const fix = `\`npm rebuild ${name}\` with a C++ compiler installed`
  return { check: name, state: 'failed', found: failure, fix }
}

/** @param testCode uses the module as `m` @returns the failure, or undefined */
async function findLoadFailure(name: string, testCode: string): Promise<string | undefined> {
  const code = `const m = require(${JSON.stringify(name)}); ${testCode}`
  const cwd = fileURLToPath(new URL('../../..', import.meta.url))
  const { execa } = await import('execa')
  const run = await execa(process.execPath, ['-e', code], { cwd, timeout: 20_000, reject: false })
  if (!run.failed) return undefined
  const line = run.stderr?.split('\n').find((text) => /error/i.test(text)) ?? run.shortMessage ?? ''
  return line.trim().slice(0, 200)
}

async function checkTantivy(): Promise<CheckFinding> {
  const text = readFileSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), 'utf8')
  const packageJson: unknown = JSON.parse(text)
  const optional =
    isRecord(packageJson) && isRecord(packageJson.optionalDependencies) ? packageJson.optionalDependencies : {}
  const require = createRequire(import.meta.url)
  const name = Object.keys(optional).find((key) => key.includes('tantivy') && canResolve(require, key))
  const check = 'text index'
  const fix = 'no action needed: the index of SQLite (FTS5) is used instead, slower on large spaces'
  if (name === undefined) {
    return { check, state: 'warning', found: `no Tantivy binding for ${process.platform}-${process.arch}`, fix }
  }
  const failure = await findLoadFailure(name, '')
  return failure === undefined
    ? { check, state: 'ok', found: 'Tantivy' }
    : { check, state: 'warning', found: `Tantivy does not load: ${failure}`, fix }
}

function canResolve(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name)
    return true
  } catch {
    return false
  }
}

function checkDataDirectory(dataDir: string): CheckFinding {
  const check = 'data directory'
  const problem = findFolderProblem(dataDir)
  if (problem !== undefined)
    return { check, state: 'failed', found: problem, fix: 'choose another directory with KS_DATA_DIR' }
  if (!existsSync(dataDir)) return { check, state: 'ok', found: `${dataDir} will be created when a daemon starts` }
  const mode = statSync(dataDir).mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    const found = `${dataDir} is accessible to others: mode ${mode.toString(8)}`
    return { check, state: 'failed', found, fix: `\`chmod 700 ${dataDir}\`` }
  }
  const layout = resolveDataLayout(dataDir)
  const version = existsSync(layout.version) ? Number(readFileSync(layout.version, 'utf8')) : LAYOUT_VERSION
  if (version > LAYOUT_VERSION) {
    const found = `${dataDir} has layout ${version}, this version supports up to ${LAYOUT_VERSION}`
    return { check, state: 'failed', found, fix: 'use a newer version of ks' }
  }
  const key = layout.signingKey
  if (existsSync(key) && process.platform !== 'win32' && (statSync(key).mode & 0o077) !== 0) {
    return { check, state: 'failed', found: `${key} is readable by others`, fix: `\`chmod 600 ${key}\`` }
  }
  // While this file exists, objects that the database does not know are kept; its first line is the reason.
  if (existsSync(layout.keepUnknown)) {
    const [reason = ''] = readFileSync(layout.keepUnknown, 'utf8').split('\n')
    return { check, state: 'warning', found: reason.slice(0, 400), fix: `${layout.keepUnknown} lists possible fixes` }
  }
  return { check, state: 'ok', found: dataDir }
}

/** Why a folder cannot be created or written, or `undefined`. */
function findFolderProblem(folder: string): string | undefined {
  const existing = findExistingFolder(folder)
  if (!statSync(existing).isDirectory()) return `${folder} cannot be created: ${existing} is not a folder`
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return existing === folder
      ? `${folder} cannot be written`
      : `${folder} cannot be created: ${existing} is not writable`
  }
}

/** The folder itself, or its nearest existing ancestor. */
function findExistingFolder(folder: string): string {
  return existsSync(folder) ? folder : findExistingFolder(dirname(folder))
}

function checkDiskSpace(dataDir: string): CheckFinding {
  const { bavail, bsize } = statfsSync(findExistingFolder(dataDir))
  const freeBytes = bavail * bsize
  const [check, found] = ['disk', `${formatBytes(freeBytes)} free`]
  return freeBytes < MIN_FREE_BYTES
    ? { check, state: 'warning', found, fix: FREE_SPACE_FIX }
    : { check, state: 'ok', found }
}

async function checkDaemon({ dirs, version }: DoctorOptions): Promise<CheckFinding> {
  const check = 'daemon'
  const daemon = await findDaemon(dirs.data)
  if (daemon === undefined) {
    const { isLocked } = await import('../../local/lock.js')
    if (!isLocked(resolveDataLayout(dirs.data).lock))
      return { check, state: 'ok', found: 'not running; commands start it' }
    const fix = '`ks daemon stop --force`, then `ks daemon logs -n 50`'
    return { check, state: 'failed', found: 'a process locks the data directory but does not respond', fix }
  }
  if (daemon.file.version !== version) {
    const found = `version ${daemon.file.version} is running, ks is ${version}`
    return { check, state: 'warning', found, fix: '`ks daemon restart`' }
  }
  const client = new Client(daemon.target)
  try {
    const { storage, damage } = await client.request('GET /daemon/status', { query: {} })
    if (damage !== undefined) return { check, state: 'failed', found: damage, fix: 'restore a backup: `ks restore`' }
    if (storage?.isFull === true)
      return { check, state: 'failed', found: `the disk is ${formatFullDisk(storage)}`, fix: FREE_SPACE_FIX }
    await client.request('GET /knowledge-spaces', { query: { limit: 1 } })
    const health = await client.request('GET /health', {})
    const failed = Object.entries(health.components).flatMap(([name, ok]) => (ok ? [] : [name]))
    if (failed.length === 0) return { check, state: 'ok', found: `pid ${daemon.file.pid}, ${daemon.file.url}` }
    return { check, state: 'failed', found: `failed: ${failed.join(', ')}`, fix: LOG_FIX }
  } catch (error) {
    const message = toErrorMessage(error)
    if (error instanceof ApiError && error.status === 401)
      return { check, state: 'failed', found: `token refused: ${message}`, fix: '`ks daemon restart` renews it' }
    return { check, state: 'failed', found: `request failed: ${message}`, fix: LOG_FIX }
  } finally {
    client.close()
  }
}

/** Checks the vectors of a running daemon; `checkDaemon` reports a missing one. */
async function* checkVectors({ dirs }: DoctorOptions): AsyncGenerator<CheckFinding> {
  const daemon = await findDaemon(dirs.data)
  if (daemon === undefined) return
  const { checkSpaceVectors } = await import('./vectors.js')
  const client = new Client(daemon.target)
  try {
    yield* checkSpaceVectors(client)
  } catch (error) {
    const message = toErrorMessage(error)
    yield { check: 'vectors', state: 'warning', found: `cannot be checked: ${message}` }
  } finally {
    client.close()
  }
}

function checkUserFile(check: string, read: () => unknown, fix: string): CheckFinding {
  try {
    read()
    return { check, state: 'ok', found: 'readable' }
  } catch (error) {
    return { check, state: 'failed', found: toErrorMessage(error), fix }
  }
}

function checkDaemonConfig({ dirs }: DoctorOptions): CheckFinding {
  const check = 'daemon config'
  const path = resolveDataLayout(dirs.data).config
  try {
    const unknown = Object.keys(withCanonicalNames(readJsonObject(path))).filter((key) => !Object.hasOwn(SETTINGS, key))
    if (unknown.length === 0) return { check, state: 'ok', found: existsSync(path) ? path : 'defaults' }
    const fix = `remove ${unknown.join(', ')} from ${path}`
    return { check, state: 'failed', found: `unknown settings: ${unknown.join(', ')}`, fix }
  } catch (error) {
    const found = toErrorMessage(error)
    return { check, state: 'failed', found, fix: `correct or remove ${path}` }
  }
}

/** Checks whether providers could be called, without calling them: calls cost money. */
function* checkProviders({ dirs, env }: DoctorOptions): Generator<CheckFinding> {
  const envText = env[SETTINGS.providers.env]
  let providers: ReturnType<typeof SETTINGS.providers.read>
  try {
    providers = SETTINGS.providers.read(
      envText || (readJsonObject(resolveDataLayout(dirs.data).config).providers ?? []),
    )
  } catch (error) {
    const found = `providers must be ${toErrorMessage(error)}`
    yield { check: 'providers', state: 'failed', found, fix: '`ks config providers --daemon` shows them' }
    return
  }
  if (providers.length === 0) yield { check: 'providers', state: 'ok', found: 'built-in models only' }
  for (const provider of providers) {
    const check = `provider ${provider.provider}`
    const { apiKeyEnv } = provider
    // A config.json may come with a received data directory; the environment is always this user's.
    const [disallowed] = envText
      ? []
      : findDisallowedPrograms(listProviderPrograms(provider), readAllowedPrograms(dirs.config))
    if (disallowed !== undefined) {
      const found = `disabled: its program ${JSON.stringify(disallowed)} is not allowed on this machine`
      yield { check, state: 'warning', found, fix: '`ks config --allow-programs`, then `ks daemon restart`' }
    } else if (apiKeyEnv !== undefined && !env[apiKeyEnv]) {
      const fix = `set ${apiKeyEnv}, then \`ks daemon restart\``
      yield { check, state: 'warning', found: `key variable ${apiKeyEnv} is not set here`, fix }
    } else {
      yield { check, state: 'ok', found: provider.baseUrl ?? 'programs of this machine' }
    }
  }
}
