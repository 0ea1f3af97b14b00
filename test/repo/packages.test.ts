import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { execaSync } from 'execa'
import { expect, test } from 'vitest'

const TANTIVY = '@oxdev03/node-tantivy-binding-linux-x64-gnu'

interface Manifest {
  engines: { node: string }
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

interface Locked {
  version?: string
  resolved?: string
  engines?: { node?: string }
  optional?: boolean
  optionalDependencies?: Record<string, string>
}

interface Lockfile {
  packages: Record<string, Locked>
}

const manifest: Manifest = read('package.json')
const lockfile: Lockfile = read('package-lock.json')

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
}

test('every dependency is pinned to one exact version, in package.json and in the lockfile', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
  for (const [name, version] of Object.entries(all)) {
    // An aliased package has its real name before the version.
    const exact = version.replace(/^npm:@?[^@]+@/, '')
    expect(exact, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
    expect(lockfile.packages[`node_modules/${name}`]?.version, name).toBe(exact)
  }
})

test('the lockfile contains no registry host, so that any registry can serve it', () => {
  const withHost = Object.entries(lockfile.packages).filter(([, entry]) => entry.resolved?.startsWith('http'))
  expect(withHost.map(([path]) => path)).toEqual([])
})

// `npm ci` refuses a lockfile without the packages of other platforms, and `npm install` may omit them.
test('the lockfile contains the optional packages of every platform', () => {
  const wanted = Object.values(lockfile.packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
  const known = Object.keys(lockfile.packages)
  expect(wanted.filter((name) => !known.some((path) => path.endsWith(`node_modules/${name}`)))).toEqual([])
})

test('the lockfile lets npm install the Tantivy binding on the oldest supported Node', () => {
  const entry = lockfile.packages[`node_modules/${TANTIVY}`]
  expect(entry?.optional).toBe(true)
  expect(entry?.engines?.node, 'see docs/decisions/0007-tantivy-engines-entry.md').toBe('>= 20.20.0')
  expect(manifest.engines.node).toBe('>=20.20.0')
})

const hasBinding = process.platform === 'linux' && process.arch === 'x64' && isGlibc()

test.skipIf(!hasBinding)('the Tantivy binding is installed and loads (linux x64 glibc)', () => {
  // In a separate process: a native module that aborts would end the test runner.
  const file = createRequire(import.meta.url).resolve(TANTIVY)
  const run = execaSync(process.execPath, ['-e', `require(${JSON.stringify(file)}).SchemaBuilder.name`], {
    reject: false,
  })
  expect(run.stderr.toString()).toBe('')
  expect(run.exitCode).toBe(0)
})

function isGlibc(): boolean {
  const report: unknown = process.report.getReport()
  if (typeof report !== 'object' || report === null || !('header' in report)) return false
  const { header } = report
  return typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header
}
