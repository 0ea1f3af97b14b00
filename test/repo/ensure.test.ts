import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execaSync } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'

/** A checkout with the real scripts, an `npm` that records its arguments, and a `tsc` that copies. */
let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ks-ensure-'))
  const scripts = resolve(import.meta.dirname, '../../scripts')
  for (const name of ['ensure.js', 'build.js']) cpSync(join(scripts, name), join(root, 'scripts', name))
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src', 'one.ts'), 'export const one = 1\n')
  writeFileSync(join(root, 'tsconfig.json'), '{}')
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeLockfile('1.0.0')
  writeFileSync(join(root, 'npm.js'), NPM)
})

afterEach(() => removeFolder(root))

const NPM = `
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
appendFileSync('npm.log', process.argv[2] + '\\n')
mkdirSync('node_modules/typescript/bin', { recursive: true })
mkdirSync('node_modules/thing', { recursive: true })
writeFileSync('node_modules/thing/package.json', '{}')
writeFileSync('node_modules/typescript/bin/tsc', "require('fs').appendFileSync('tsc.log', 'tsc\\\\n');" +
  "require('fs').mkdirSync('dist', { recursive: true });" +
  "for (const n of require('fs').readdirSync('src')) require('fs').writeFileSync('dist/' + n.replace('.ts', '.js'), '')")
writeFileSync('node_modules/typescript/package.json', '{"type":"commonjs"}')
cpSync('package-lock.json', 'node_modules/.package-lock.json')
`

function writeLockfile(version: string): void {
  const packages = { '': {}, 'node_modules/thing': { version } }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
}

function ensure(): string {
  const env = { ...process.env, npm_execpath: join(root, 'npm.js') }
  const run = execaSync(process.execPath, ['scripts/ensure.js'], {
    cwd: root,
    env,
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
  })
  expect(run.exitCode, run.stderr).toBe(0)
  return run.stdout + run.stderr
}

function calls(log: string): number {
  const path = join(root, log)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0
}

test('the ensure script installs and builds a new checkout, with progress messages', () => {
  expect(ensure()).toContain('Installing dependencies')
  expect([calls('npm.log'), calls('tsc.log')]).toEqual([1, 1])
})

test('the ensure script prints and runs nothing in an up-to-date checkout', () => {
  ensure()
  expect(ensure()).toBe('')
  expect([calls('npm.log'), calls('tsc.log')]).toEqual([1, 1])
})

test('the ensure script builds changed sources, removes deleted sources from dist, and installs nothing', () => {
  ensure()
  appendFileSync(join(root, 'src', 'one.ts'), '// more\n')
  writeFileSync(join(root, 'src', 'two.ts'), '')
  ensure()
  expect(existsSync(join(root, 'dist', 'two.js'))).toBe(true)
  rmSync(join(root, 'src', 'two.ts'))
  ensure()
  expect(existsSync(join(root, 'dist', 'two.js'))).toBe(false)
  expect([calls('npm.log'), calls('tsc.log')]).toEqual([1, 3])
})

test('the ensure script installs dependencies again if the lockfile changed', () => {
  ensure()
  writeLockfile('1.0.1')
  ensure()
  expect(calls('npm.log')).toBe(2)
})

test('the ensure script recognizes that dependencies were installed by hand', () => {
  execaSync(process.execPath, ['npm.js', 'by-hand'], { cwd: root, reject: false })
  expect(ensure()).toBe('')
  expect(readFileSync(join(root, 'npm.log'), 'utf8')).toBe('by-hand\n')
})
