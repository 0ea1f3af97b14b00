/**
 * Makes a checkout runnable: installs the dependencies when they are missing or not those of the lockfile, builds
 * `dist` when it is missing or older than `src`. Says nothing when there is nothing to do.
 *
 * Plain JavaScript on Node built-ins alone, because it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildIfStale, ROOT } from './build.js'

const OLDEST_NODE = [20, 20]
const STAMP = join(ROOT, 'node_modules', '.ks-installed')

/** Installs and builds what is missing. Throws an `Error` whose message is for the person at the terminal. */
export function ensure() {
  checkNode(process.versions.node)
  if (!isInstalled()) install()
  buildIfStale()
}

function checkNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [needMajor, needMinor] = OLDEST_NODE
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return
  throw new Error(`Node ${needMajor}.${needMinor} or newer is needed, this is ${version}`)
}

/**
 * Whether `node_modules` is a finished install of this lockfile for this Node. The stamp answers the usual case; where
 * it is missing or another's (an `npm ci` by hand leaves none), npm's own record of the install is compared.
 */
function isInstalled() {
  const wanted = stampText()
  const found = readText(STAMP)
  if (found === wanted) return true
  if (found !== undefined && abiOf(found) !== abiOf(wanted)) return false
  if (!agreesWithLockfile()) return false
  writeFileSync(STAMP, wanted)
  return true
}

function stampText() {
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  return `${process.platform}-${process.arch}-${process.versions.modules} ${lock}\n`
}

function abiOf(stamp) {
  return stamp.split(' ')[0]
}

function agreesWithLockfile() {
  const record = readText(join(ROOT, 'node_modules', '.package-lock.json'))
  if (record === undefined) return false
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const found = JSON.parse(record).packages
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' ||
      entry.optional === true ||
      (found[path]?.version === entry.version && existsSync(join(ROOT, path, 'package.json'))),
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
    env: installEnvironment(),
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (run.status !== 0) {
    throw new Error('npm ci failed; the native modules need a C++ compiler, make and Python 3 (see README, "Install")')
  }
  writeFileSync(STAMP, stampText())
}

/** Node's headers come with most installations; without being told, the compiler step would download them again. */
function installEnvironment() {
  const prefix = dirname(dirname(process.execPath))
  const told = Object.keys(process.env).some((name) => name.toLowerCase() === 'npm_config_nodedir')
  if (told || !existsSync(join(prefix, 'include', 'node', 'node.h'))) return process.env
  return { ...process.env, npm_config_nodedir: prefix }
}

function readText(path) {
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
