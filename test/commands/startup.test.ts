import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { type CliHome, cliHome } from '../helpers/cli.js'

/** Every file adds half a millisecond to the start. */
const MOST_FILES = 20
const BUNDLE = join(import.meta.dirname, '..', '..', 'dist', 'bundle', 'ks')
/** Packages of validation, outgoing requests and logs, and parts of Node, that a simple command does not need. */
const HEAVY = /node_modules|\.map$/

const home: CliHome = cliHome()
const coverage = mkdtempSync(join(tmpdir(), 'ks-loaded-'))

beforeAll(async () => {
  const path = home.file('shop/shop.md', '# Shop\n\nThe shop opens at nine in the morning.\n')
  const { code } = await home.ks(['ingest', path, '--space', 'shop', '--create', '--wait'])
  expect(code).toBe(0)
})

afterAll(async () => {
  await home.end()
  removeFolder(coverage)
})

test.each([
  ['spaces'],
  ['spaces', '--json'],
  ['query', 'When does the shop open?', '--space', 'shop'],
  ['fs', 'ls', '/knowledge/documents', '--space', 'shop'],
])('`ks %s …` loads few files, and none of heavy packages', async (...argv: string[]) => {
  const files = await filesLoadedBy(argv, 0)
  expect(files.length).toBeLessThanOrEqual(MOST_FILES)
  expect(files.filter((file) => HEAVY.test(file))).toEqual([])
})

test.each([
  [0, ['--help']],
  [0, ['spaces', '--help']],
  [0, ['fs']],
  [0, ['help', 'formats']],
  [0, ['completion', 'bash']],
  [0, ['quickstart', 'shop', '--no-input', '--yes']],
  [2, ['nosuch']],
  [2, ['spaces', '--nosuch']],
])('exit code %i of `ks %j` needs few files', async (code, argv) => {
  expect((await filesLoadedBy(argv, code)).length).toBeLessThanOrEqual(MOST_FILES)
})

test('every command of the bundle loads few files', async () => {
  // oclif adds a listener to stdout each time it is loaded.
  process.stdout.setMaxListeners(0)
  const ids = Object.keys(bundleHere().commands)
  expect(ids.length).toBeGreaterThan(100)
  for (const id of ids) {
    const { commands, files } = bundleHere()
    await commands[id]?.load()
    // Plus `bin/ks.js` and its loader.
    expect(files.length + 2, id).toBeLessThanOrEqual(MOST_FILES)
  }
})

test('the running version of Node accepts the code cache of the build', () => {
  const { scripts } = bundleHere()
  expect(scripts.map(({ cachedDataRejected }) => cachedDataRejected)).toEqual(scripts.map(() => false))
})

interface Bundle {
  commands: Record<string, { load: () => Promise<unknown> }>
}

/** Loads the bundle again. @returns its commands and the loaded files */
function bundleHere() {
  const files: string[] = []
  const scripts: { cachedDataRejected?: boolean }[] = []
  const { loadBundle } = createRequire(import.meta.url)('../../bin/bundle.js')
  const bundle: Bundle = loadBundle(BUNDLE, (file: string, script: { cachedDataRejected?: boolean }) => {
    files.push(file)
    scripts.push(script)
  })
  return { commands: bundle.commands, files, scripts }
}

/** The files that one run of `ks` loaded, by V8 coverage. */
async function filesLoadedBy(argv: string[], code: number): Promise<string[]> {
  const folder = mkdtempSync(join(coverage, 'run-'))
  const result = await home.ks(argv, { env: { NODE_V8_COVERAGE: folder } })
  expect(result.code, result.stderr).toBe(code)
  const urls = readdirSync(folder).flatMap((name) => {
    const { result: scripts } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] }
    return scripts.map(({ url }) => url)
  })
  return [...new Set(urls.filter((url) => /^(file:|\/|[A-Z]:\\)/.test(url)))]
}
