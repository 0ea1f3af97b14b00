/**
 * Makes a checkout runnable: installs the dependencies if they are missing or differ from the lockfile, and builds `dist`
 * if it is missing or older than `src`. Prints nothing if there is nothing to do.
 *
 * Plain JavaScript that imports only built-in modules, because it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildIfStale, ROOT } from './build.js'

/** Major and minor version. */
const OLDEST_NODE = [20, 20]
const STAMP = join(ROOT, 'node_modules', '.ks-installed')

/**
 * Installs and builds what is missing.
 * @throws Error with a message for the user
 */
export function ensure() {
  checkNode(process.versions.node)
  if (!isInstalled()) install()
  buildIfStale()
}

function checkNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new Error(`Node ${oldestMajor}.${oldestMinor} or newer is needed, this is ${version}`)
}

/**
 * Whether `node_modules` is a finished installation of this lockfile for this Node. If the stamp is missing or differs
 * (a plain `npm ci` writes none), the record that npm keeps of its installation is compared.
 */
function isInstalled() {
  const expected = buildStamp()
  const actual = readIfExists(STAMP)
  if (actual === expected) return true
  if (actual !== undefined && getAbi(actual) !== getAbi(expected)) return false
  if (!matchesLockfile()) return false
  writeFileSync(STAMP, expected)
  return true
}

/** Platform, processor and ABI of Node, and a hash of the lockfile. */
function buildStamp() {
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  return `${process.platform}-${process.arch}-${process.versions.modules} ${lock}\n`
}

function getAbi(stamp) {
  return stamp.split(' ')[0]
}

function matchesLockfile() {
  const record = readIfExists(join(ROOT, 'node_modules', '.package-lock.json'))
  if (record === undefined) return false
  const expected = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const installed = JSON.parse(record).packages
  return Object.entries(expected).every(
    ([path, entry]) =>
      path === '' ||
      entry.optional === true ||
      (installed[path]?.version === entry.version && existsSync(join(ROOT, path, 'package.json'))),
  )
}

function install() {
  process.stderr.write(
    'Installing dependencies (npm ci). The first time, better-sqlite3 and hnswlib-node are compiled: several minutes.\n',
  )
  const npm = process.env.npm_execpath
  const [command, args] = npm?.endsWith('.js') ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']]
  const run = spawnSync(command, [...args, '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: ROOT,
    env: buildInstallEnvironment(),
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (run.status !== 0) {
    throw new Error('npm ci failed; the native modules need a C++ compiler, make and Python 3 (see README, "Install")')
  }
  writeFileSync(STAMP, buildStamp())
}

/** The environment with the folder of Node's headers, if they are installed: otherwise node-gyp downloads them. */
function buildInstallEnvironment() {
  const prefix = dirname(dirname(process.execPath))
  const isSet = Object.keys(process.env).some((name) => name.toLowerCase() === 'npm_config_nodedir')
  if (isSet || !existsSync(join(prefix, 'include', 'node', 'node.h'))) return process.env
  return { ...process.env, npm_config_nodedir: prefix }
}

function readIfExists(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    ensure()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
