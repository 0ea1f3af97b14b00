/**
 * Builds `dist`: TypeScript, the oclif manifest, manual pages and the bundles of the programs. `npm run build` also
 * writes `docs/openapi.json`, `docs/data-model.md` and the tables of `docs/cli.md`. A stamp of the sources prevents
 * repeated builds; a lock file lets several test runs share one checkout.
 *
 * Plain JavaScript that imports only built-in modules: `scripts/ensure.js` loads it before anything is installed.
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
/** A build takes well under a minute; an older lock belongs to a process that has ended. */
const STALE_LOCK_MS = 180_000
const LOCK_POLL_MS = 100
/** Scripts that read the output of the compiler. */
const STEPS = [
  'scripts/oclif-manifest.js',
  'scripts/man.js',
  'scripts/bundle.js',
  'scripts/code-cache.js',
  'scripts/console.js',
]

/**
 * Builds unless the last build had the same sources.
 *
 * @param {{ tolerant?: boolean }} options tolerant: a step that fails is reported, and the next ones still run
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
  const fingerprint = computeFingerprint()
  rmSync(STAMP, { force: true })
  const isTyped = runNode(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], { tolerant })
  removeOrphans()
  const steps = STEPS.filter((script) => existsSync(join(ROOT, script))).map((script) =>
    runNode([script], { tolerant }),
  )
  if (isTyped && steps.every(Boolean)) writeFileSync(STAMP, fingerprint)
}

function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === computeFingerprint()
}

/** Hash of the path, size and time of every source file, and of the settings of the compiler. */
function computeFingerprint() {
  const hash = createHash('sha256')
  for (const path of [
    ...listFiles(join(ROOT, 'src')),
    ...listFiles(join(ROOT, 'scripts')),
    ...listFiles(join(ROOT, 'bin')),
  ].sort()) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${relative(ROOT, path)} ${size} ${mtimeMs}\n`)
  }
  for (const name of ['tsconfig.json', 'package.json']) hash.update(readFileSync(join(ROOT, name)))
  return hash.digest('hex')
}

/** Removes the bundles, and the output of deleted sources, which tsc keeps: oclif would still find a deleted command. */
function removeOrphans() {
  rmSync(join(DIST, 'bundle'), { recursive: true, force: true })
  for (const path of listFiles(DIST)) {
    // the console is built separately, with other names
    if (path.startsWith(join(DIST, 'console'))) continue
    const match = /^(.*)\.js(\.map)?$/.exec(relative(DIST, path))
    if (match === null) continue
    const source = join(ROOT, 'src', match[1])
    if (!existsSync(`${source}.ts`) && !existsSync(`${source}.tsx`)) rmSync(path, { force: true })
  }
}

/** All files below a folder; none if it does not exist. */
export function listFiles(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** @returns whether the program succeeded */
function runNode(args, { tolerant }) {
  const output = tolerant ? 'ignore' : 2
  const run = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', output, output] })
  if (run.status === 0) return true
  const failure = `the build failed at \`node ${args.join(' ')}\``
  if (!tolerant) throw new Error(failure)
  process.stderr.write(`${failure}; the build continues with its incomplete output\n`)
  return false
}

function withLock(run) {
  mkdirSync(DIST, { recursive: true })
  while (!takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS)
  try {
    return run()
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
    if (hasHolderEnded()) rmSync(LOCK, { force: true })
    return false
  }
}

function hasHolderEnded() {
  try {
    if (Date.now() - statSync(LOCK).mtimeMs > STALE_LOCK_MS) return true
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0)
    return false
  } catch (error) {
    // ESRCH: no such process. ENOENT: the lock was released meanwhile; the next attempt takes it.
    return error.code === 'ESRCH'
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    withLock(() => {
      build()
      // committed files, which tests compare: only `npm run build` may change them
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
