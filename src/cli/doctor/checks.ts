import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '../../client/client.js'
import { findDaemon } from '../../client/local-daemon.js'
import { isRecord } from '../../lib/json/values.js'
import { allowedPrograms, disallowedPrograms, programsOf } from '../../local/allowed-programs.js'
import type { LocalDirs } from '../../local/dirs.js'
import { dataLayout, LAYOUT_VERSION } from '../../local/layout.js'
import { withCanonicalNames } from '../../local/setting-spellings.js'
import { SETTINGS } from '../../local/settings.js'
import { readCredentials } from '../credentials.js'
import { fullDisk } from '../daemon-status.js'
import { readJsonObject } from '../json-file.js'
import { bytes } from '../units.js'
import { readUserConfig } from '../user-config.js'
import type { Finding } from './finding.js'
import { programs } from './programs.js'

export interface DoctorOptions {
  dirs: LocalDirs
  env: NodeJS.ProcessEnv
  version: string
}

/** With less free space an ingest will probably fail. */
const LOW_DISK = 1024 ** 3
const MORE_ROOM = 'free disk space, or move the data with KS_DATA_DIR'
const NODE_AT_LEAST = [20, 20] as const

/** Runs all checks in sequence; a check that fails to run is a finding, too. */
export async function* findings(options: DoctorOptions): AsyncGenerator<Finding> {
  yield nodeVersion()
  yield await nativeModule('better-sqlite3', 'new m(":memory:").close()', true)
  yield await nativeModule('hnswlib-node', 'new m.HierarchicalNSW("l2", 2)', true)
  yield await tantivy()
  yield dataDirectory(options.dirs.data)
  yield diskSpace(options.dirs.data)
  yield await daemon(options)
  yield* vectors(options)
  yield userFile('config', () => readUserConfig(options.dirs.config), 'correct or remove config.json')
  yield userFile('credentials', () => readCredentials(options.dirs.config), 'correct or remove credentials.json')
  yield daemonConfig(options)
  yield* providers(options)
  yield* programs(options.dirs.data, options.env)
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const enough = major > NODE_AT_LEAST[0] || (major === NODE_AT_LEAST[0] && minor >= NODE_AT_LEAST[1])
  const finding: Finding = { check: 'node', state: enough ? 'ok' : 'failed', found: process.version }
  return enough ? finding : { ...finding, fix: `install Node ${NODE_AT_LEAST.join('.')} or newer` }
}

/** Loads a native module in a separate process, so that a broken one cannot crash this process. */
async function nativeModule(name: string, use: string, needed: boolean): Promise<Finding> {
  const failure = await tryModule(name, use)
  if (failure === undefined) return { check: name, state: 'ok', found: 'loads and works' }
  const fix = `\`npm rebuild ${name}\` with a C++ compiler installed`
  return { check: name, state: needed ? 'failed' : 'warning', found: failure, fix }
}

/** @returns the failure, or undefined */
async function tryModule(name: string, use: string): Promise<string | undefined> {
  const code = `const m = require(${JSON.stringify(name)}); ${use}`
  const cwd = fileURLToPath(new URL('../../..', import.meta.url))
  const { execa } = await import('execa')
  const run = await execa(process.execPath, ['-e', code], { cwd, timeout: 20_000, reject: false })
  if (!run.failed) return undefined
  const line = run.stderr?.split('\n').find((text) => /error/i.test(text)) ?? run.shortMessage ?? ''
  return line.trim().slice(0, 200)
}

async function tantivy(): Promise<Finding> {
  const packages = readFileSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), 'utf8')
  const parsed: unknown = JSON.parse(packages)
  const optional = isRecord(parsed) && isRecord(parsed.optionalDependencies) ? parsed.optionalDependencies : {}
  const require = createRequire(import.meta.url)
  const name = Object.keys(optional).find((one) => one.includes('tantivy') && canResolve(require, one))
  const check = 'text index'
  const fix = 'no action needed: the index of SQLite (FTS5) is used instead, slower on large spaces'
  if (name === undefined) {
    return { check, state: 'warning', found: `no Tantivy binding for ${process.platform}-${process.arch}`, fix }
  }
  const failure = await tryModule(name, '')
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

function dataDirectory(dataDir: string): Finding {
  const check = 'data directory'
  const problem = problemOfFolder(dataDir)
  if (problem !== undefined)
    return { check, state: 'failed', found: problem, fix: 'choose another directory with KS_DATA_DIR' }
  if (!existsSync(dataDir)) return { check, state: 'ok', found: `${dataDir} will be created when a daemon starts` }
  const mode = statSync(dataDir).mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    const found = `${dataDir} is accessible to others: mode ${mode.toString(8)}`
    return { check, state: 'failed', found, fix: `\`chmod 700 ${dataDir}\`` }
  }
  const layout = dataLayout(dataDir)
  const version = existsSync(layout.version) ? Number(readFileSync(layout.version, 'utf8')) : LAYOUT_VERSION
  if (version > LAYOUT_VERSION) {
    const found = `${dataDir} has layout ${version}, this version supports up to ${LAYOUT_VERSION}`
    return { check, state: 'failed', found, fix: 'use a newer version of ks' }
  }
  const key = layout.signingKey
  if (existsSync(key) && process.platform !== 'win32' && (statSync(key).mode & 0o077) !== 0) {
    return { check, state: 'failed', found: `${key} is readable by others`, fix: `\`chmod 600 ${key}\`` }
  }
  if (existsSync(layout.keepUnknown)) {
    const [why = ''] = readFileSync(layout.keepUnknown, 'utf8').split('\n')
    return { check, state: 'warning', found: why.slice(0, 400), fix: `${layout.keepUnknown} lists possible fixes` }
  }
  return { check, state: 'ok', found: dataDir }
}

/** Why a folder cannot be created or written, or `undefined`. */
function problemOfFolder(folder: string): string | undefined {
  const there = nearestFolder(folder)
  if (!statSync(there).isDirectory()) return `${folder} cannot be created: ${there} is not a folder`
  try {
    accessSync(there, constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return there === folder ? `${folder} cannot be written` : `${folder} cannot be created: ${there} is not writable`
  }
}

/** The folder itself, or its nearest existing ancestor. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder))
}

function diskSpace(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(nearestFolder(dataDir))
  const free = bavail * bsize
  const finding: Finding = { check: 'disk', state: free < LOW_DISK ? 'warning' : 'ok', found: `${bytes(free)} free` }
  return free < LOW_DISK ? { ...finding, fix: MORE_ROOM } : finding
}

async function daemon({ dirs, version }: DoctorOptions): Promise<Finding> {
  const check = 'daemon'
  const found = await findDaemon(dirs.data)
  if (found === undefined) {
    const { isLocked } = await import('../../local/lock.js')
    if (!isLocked(dataLayout(dirs.data).lock)) return { check, state: 'ok', found: 'not running; commands start it' }
    const fix = '`ks daemon stop --force`, then `ks daemon logs -n 50`'
    return { check, state: 'failed', found: 'a process locks the data directory but does not respond', fix }
  }
  if (found.file.version !== version) {
    const text = `version ${found.file.version} is running, ks is ${version}`
    return { check, state: 'warning', found: text, fix: '`ks daemon restart`' }
  }
  const client = new Client(found.target)
  try {
    const { storage, damage } = await client.request('GET /daemon/status', { query: {} })
    if (damage !== undefined)
      return { check, state: 'failed', found: damage, fix: 'restore a backup: `ks restore`' }
    if (storage?.isFull === true)
      return { check, state: 'failed', found: `the disk is ${fullDisk(storage)}`, fix: MORE_ROOM }
    await client.request('GET /knowledge-spaces', { query: { limit: 1 } })
    const health = await client.request('GET /health', {})
    const broken = Object.entries(health.components).flatMap(([name, ok]) => (ok ? [] : [name]))
    if (broken.length === 0) return { check, state: 'ok', found: `pid ${found.file.pid}, ${found.file.url}` }
    return { check, state: 'failed', found: `failed: ${broken.join(', ')}`, fix: '`ks daemon logs -n 50` shows the reason' }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return {
      check,
      state: 'failed',
      found: `request refused: ${said}`,
      fix: '`ks daemon restart` renews the token',
    }
  } finally {
    client.close()
  }
}

/** Checks the vectors of a running daemon; a missing daemon has its own check. */
async function* vectors({ dirs }: DoctorOptions): AsyncGenerator<Finding> {
  const found = await findDaemon(dirs.data)
  if (found === undefined) return
  const { vectorFindings } = await import('./vectors.js')
  const client = new Client(found.target)
  try {
    yield* vectorFindings(client)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    yield { check: 'vectors', state: 'warning', found: `cannot be checked: ${said}` }
  } finally {
    client.close()
  }
}

function userFile(check: string, read: () => unknown, fix: string): Finding {
  try {
    read()
    return { check, state: 'ok', found: 'readable' }
  } catch (error) {
    return { check, state: 'failed', found: error instanceof Error ? error.message : String(error), fix }
  }
}

function daemonConfig({ dirs }: DoctorOptions): Finding {
  const check = 'daemon config'
  const path = dataLayout(dirs.data).config
  try {
    const unknown = Object.keys(withCanonicalNames(readJsonObject(path))).filter((key) => !Object.hasOwn(SETTINGS, key))
    if (unknown.length === 0) return { check, state: 'ok', found: existsSync(path) ? path : 'defaults' }
    const fix = `remove ${unknown.join(', ')} from ${path}`
    return { check, state: 'failed', found: `unknown settings: ${unknown.join(', ')}`, fix }
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    return { check, state: 'failed', found, fix: `correct or remove ${path}` }
  }
}

/** Checks whether providers could be called, without calling them: calls cost money. */
function* providers({ dirs, env }: DoctorOptions): Generator<Finding> {
  const fromEnv = env[SETTINGS.providers.env]
  let list: ReturnType<typeof SETTINGS.providers.read>
  try {
    list = SETTINGS.providers.read(fromEnv || (readJsonObject(dataLayout(dirs.data).config).providers ?? []))
  } catch (error) {
    const found = `providers must be ${error instanceof Error ? error.message : String(error)}`
    yield { check: 'providers', state: 'failed', found, fix: '`ks config get providers --daemon` shows them' }
    return
  }
  if (list.length === 0) yield { check: 'providers', state: 'ok', found: 'built-in models only' }
  for (const provider of list) {
    const check = `provider ${provider.provider}`
    const { apiKeyEnv } = provider
    const [strange] = fromEnv ? [] : disallowedPrograms(programsOf(provider), allowedPrograms(dirs.config))
    if (strange !== undefined) {
      const found = `disabled: its program ${JSON.stringify(strange)} is not allowed on this machine`
      yield { check, state: 'warning', found, fix: '`ks config allow-programs`, then `ks daemon restart`' }
    } else if (apiKeyEnv !== undefined && !env[apiKeyEnv]) {
      const fix = `set ${apiKeyEnv}, then \`ks daemon restart\``
      yield { check, state: 'warning', found: `key variable ${apiKeyEnv} is not set here`, fix }
    } else {
      yield { check, state: 'ok', found: provider.baseUrl ?? 'programs of this machine' }
    }
  }
}
