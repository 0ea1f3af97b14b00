/**
 * Builds `dist`: TypeScript, the oclif manifest, manual pages and the bundles of the programs; by hand also
 * `docs/openapi.json`, `docs/data-model.md` and the tables of `docs/cli.md`. A stamp of the sources makes a second build free;
 * a lock file lets several test runs share one checkout.
 *
 * Plain JavaScript on Node built-ins alone: `scripts/ensure.js` loads it before anything is installed.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const DIST = join(ROOT, 'dist')
const STAMP = join(DIST, '.built')
const LOCK = join(DIST, '.building')
/** A build of this project takes well under a minute; a lock this old belongs to a process that is gone. */
const STALE_LOCK_MS = 180_000
const LOCK_POLL_MS = 100
/** what is made of the output of the compiler */
const STEPS = [
  'scripts/oclif-manifest.js',
  'scripts/man.js',
  'scripts/bundle.js',
  'scripts/code-cache.js',
  'scripts/console.js',
]

/**
 * Builds when the sources are not those of the last build.
 *
 * @param {{ tolerant?: boolean }} options tolerant: keep what was emitted when there are type errors, and only say so
 * @returns {boolean} whether something was built
 */
export function buildIfStale(options = {}) {
  if (isBuilt()) return false
  return withLock(() => {
    if (isBuilt()) return false
    build(options)
    return true
  })
}

function build({ tolerant = false } = {}) {
  const fingerprint = sourcesFingerprint()
  rmSync(STAMP, { force: true })
  const typesHold = runNode(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], { tolerant })
  removeOrphans()
  const steps = STEPS.filter((script) => existsSync(join(ROOT, script))).map((script) =>
    runNode([script], { tolerant }),
  )
  if (typesHold && steps.every(Boolean)) writeFileSync(STAMP, fingerprint)
}

function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourcesFingerprint()
}

/** Path, size and time of every source file, and the settings of the compiler. */
function sourcesFingerprint() {
  const hash = createHash('sha256')
  for (const path of [
    ...filesOf(join(ROOT, 'src')),
    ...filesOf(join(ROOT, 'scripts')),
    ...filesOf(join(ROOT, 'bin')),
  ].sort()) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${relative(ROOT, path)} ${size} ${mtimeMs}\n`)
  }
  for (const name of ['tsconfig.json', 'package.json']) hash.update(readFileSync(join(ROOT, name)))
  return hash.digest('hex')
}

/** tsc leaves the output of deleted sources behind; a stale command file would still be found by oclif. Bundles go too. */
function removeOrphans() {
  rmSync(join(DIST, 'bundle'), { recursive: true, force: true })
  for (const path of filesOf(DIST)) {
    // the page of the console has a build of its own, with other names
    if (path.startsWith(join(DIST, 'console'))) continue
    const match = /^(.*)\.js(\.map)?$/.exec(relative(DIST, path))
    if (match === null) continue
    const source = join(ROOT, 'src', match[1])
    if (!existsSync(`${source}.ts`) && !existsSync(`${source}.tsx`)) rmSync(path, { force: true })
  }
}

function filesOf(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function runNode(args, { tolerant }) {
  const output = tolerant ? 'ignore' : 2
  const run = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', output, output] })
  if (run.status === 0) return true
  const failure = `the build failed at \`node ${args.join(' ')}\``
  if (!tolerant) throw new Error(failure)
  process.stderr.write(`${failure}; going on with what it left\n`)
  return false
}

function withLock(action) {
  mkdirSync(DIST, { recursive: true })
  while (!takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS)
  try {
    return action()
  } finally {
    rmSync(LOCK, { force: true })
  }
}

function takeLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (holderIsGone()) rmSync(LOCK, { force: true })
    return false
  }
}

function holderIsGone() {
  try {
    if (Date.now() - statSync(LOCK).mtimeMs > STALE_LOCK_MS) return true
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0)
    return false
  } catch (error) {
    // ESRCH: no such process. ENOENT: the lock was given back meanwhile; the next attempt takes it.
    return error.code === 'ESRCH'
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    withLock(() => {
      build()
      // committed files: tests compare them, so only a build by hand may change them
      runNode(['scripts/openapi.js'], { tolerant: false })
      runNode(['scripts/data-model.js'], { tolerant: false })
      runNode(['scripts/cli-reference.js'], { tolerant: false })
      runNode(['scripts/kchat-reference.js'], { tolerant: false })
    })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
