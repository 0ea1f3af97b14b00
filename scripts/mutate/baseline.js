/**
 * What each test file reaches and how long it takes, without a mutant. Kept under `node_modules/.cache`, for as long as
 * no source changes: a test file that changed is run again alone.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const FILE_MS = 600_000
/** files that one run is given: between two runs it is seen whether there is time for more */
const AT_ONCE = 2

/**
 * @typedef {{ hash: string, ok: boolean, failed: string[], milliseconds: number, reached: number[] }} Known
 */

/** What the mutants are made by: other ones make other texts. */
const OWN = ['mutants.js', 'sql.js', 'instrument.js'].map((name) => join('scripts', 'mutate', name))

/** @param {string} root @param {readonly string[]} files @param {readonly string[]} names */
function hashOf(root, files, names = []) {
  const hash = createHash('sha256').update(JSON.stringify(names))
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

/**
 * @param {string} root
 * @param {{ sources: string[], targets: [string, number][], tests: { test: string, near: number }[], workers: number, budgetMs: number, folder: string, startRunner: (env: Record<string, string>) => import('./runner.js').Runner }} what
 *   the nearest tests are run first
 * @param {(text: string) => void} say
 * @returns {Promise<Map<string, Known>>} of those that there was time for
 */
export async function baseline(root, { sources, targets, tests, workers, budgetMs, folder, startRunner }, say) {
  const key = hashOf(
    root,
    [...OWN, ...sources],
    targets.map(([file]) => file),
  )
  const cache = join(root, 'node_modules', '.cache', 'mutate', `${key}.json`)
  /** @type {Record<string, Known>} */
  const known = readJson(cache)
  const hashes = new Map(tests.map(({ test }) => [test, hashOf(root, [test])]))
  const isKnown = (test) => known[test]?.hash === hashes.get(test) && known[test]?.ok
  const times = readJson(join(dirname(cache), 'times.json'))
  // what took long before comes last of those that are as near
  const waiting = tests
    .filter(({ test }) => !isKnown(test))
    .sort((a, b) => a.near - b.near || (times[a.test] ?? 0) - (times[b.test] ?? 0))
    .map(({ test }) => test)
  const count = waiting.length
  const until = performance.now() + budgetMs
  const reachedFile = join(folder, 'reached')
  const keep = (file, outcome) => {
    times[file] = outcome.milliseconds
    known[file] = { hash: hashes.get(file) ?? '', reached: [], ...outcome }
  }
  await Promise.all(
    Array.from({ length: workers }, async () => {
      const runner = startRunner({ MUTATE_REACHED: reachedFile })
      while (waiting.length > 0 && performance.now() < until) {
        const chunk = waiting.splice(0, AT_ONCE)
        const { files, error } = await runner.run(0, chunk, { bail: false, timeoutMs: FILE_MS })
        if (error !== undefined) throw new Error(error)
        for (const { file, ok, failed, milliseconds } of files) {
          keep(file, { ok, failed, milliseconds })
          if (ok) continue
          // once more alone: a test that fails on a busy machine says nothing of the file
          const [again] = (await runner.run(0, [file], { bail: false, timeoutMs: FILE_MS })).files
          if (again !== undefined) keep(file, { ok: again.ok, failed: again.failed, milliseconds: again.milliseconds })
        }
        say(`${count - waiting.length} of ${count} test files`)
      }
      runner.stop()
    }),
  )
  if (existsSync(reachedFile)) {
    for (const line of readFileSync(reachedFile, 'utf8').trim().split('\n')) {
      const { test, reached } = JSON.parse(line)
      const entry = known[relative(root, test)]
      if (entry !== undefined) entry.reached = reached
    }
    rmSync(reachedFile)
  }
  mkdirSync(dirname(cache), { recursive: true })
  writeFileSync(cache, JSON.stringify(known))
  writeFileSync(join(dirname(cache), 'times.json'), JSON.stringify(times))
  return new Map(tests.flatMap(({ test }) => (known[test]?.hash === hashes.get(test) ? [[test, known[test]]] : [])))
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}
