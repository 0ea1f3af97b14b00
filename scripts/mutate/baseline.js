/**
 * What each test file reaches and how long it takes, without a mutant: the map by which the tests of a mutant are chosen.
 * It is kept under `node_modules/.cache`. A test file that changed, or that was never run over the files asked for, is run
 * anew. Where sources changed, what is known still chooses; a test that notices a mutant is then run once without one,
 * so that none counts which fails by itself.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { mutantsOf } from './mutants.js'

const FILE_MS = 600_000
/** files that one run is given: between two runs it is seen whether there is time for more */
const AT_ONCE = 2
/** files after which the map is kept, so that a run that is ended loses little */
const SAVED_EVERY = 10

/**
 * @typedef {object} Known
 * @property {string} hash of the test file
 * @property {string} sources of all sources when it last ran
 * @property {boolean} ok
 * @property {string[]} failed
 * @property {number} milliseconds
 * @property {Record<string, string>} over each file with mutants that it ran over, and the hash of that file
 * @property {Record<string, string[]>} reached keys of mutants, by file
 */

/** What the mutants are made by: other ones make other texts. */
const OWN = ['mutants.js', 'sql.js', 'instrument.js'].map((name) => join('scripts', 'mutate', name))

/** @param {string} root @param {readonly string[]} files */
function hashOf(root, files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

/**
 * A name for each mutant of a file which it keeps while other lines change.
 *
 * @param {readonly { name: string, text: string, start: number, end: number }[]} mutants of the file
 * @param {string} code
 */
export function keysOf(mutants, code) {
  const seen = new Map()
  return mutants.map(({ name, text, start, end }) => {
    const said = JSON.stringify([name, text, code.slice(start, end)])
    const nth = (seen.get(said) ?? 0) + 1
    seen.set(said, nth)
    return createHash('sha256').update(`${said}${nth}`).digest('hex').slice(0, 10)
  })
}

/**
 * Which tests reach a mutant. Of a file that changed since, a mutant that none knows is reached by all that reach the file.
 *
 * @param {ReadonlyMap<string, Known>} map
 * @param {{ file: string, key: string }} mutant
 * @param {string} hash of the file
 */
export function reaching(map, { file, key }, hash) {
  const by = (/** @type {(known: Known) => boolean} */ reaches) =>
    [...map].flatMap(([test, known]) => (known.ok && reaches(known) ? [test] : []))
  const found = by(({ reached }) => reached[file]?.includes(key) === true)
  const changed = (/** @type {Known} */ { over }) => over[file] !== hash
  return found.length > 0 ? found : by((known) => changed(known) && (known.reached[file]?.length ?? 0) > 0)
}

/**
 * @param {string} root
 * @param {{ sources: string[], targets: [string, number][], tests: { test: string, near: number }[], workers: number, budgetMs: number, folder: string, startRunner: (env: Record<string, string>) => import('./runner.js').Runner }} what
 *   the nearest tests are run first
 * @param {(text: string) => void} say
 * @returns {Promise<{ map: Map<string, Known>, keys: Map<number, string>, hashes: Map<string, string>, stale: Set<string> }>}
 *   of the tests that there was time for; of those in `stale` it is not known whether they are green now
 */
export async function baseline(root, { sources, targets, tests, workers, budgetMs, folder, startRunner }, say) {
  const state = hashOf(root, [...OWN, ...sources])
  const fileHashes = new Map(targets.map(([file]) => [file, hashOf(root, [...OWN, file])]))
  const { keys, placeOf } = keysByNumber(root, targets)
  const cache = join(root, 'node_modules', '.cache', 'mutate', 'map.json')
  /** @type {Record<string, Known>} */
  const known = existsSync(cache) ? JSON.parse(readFileSync(cache, 'utf8')) : {}
  const testHashes = new Map(tests.map(({ test }) => [test, hashOf(root, [test])]))
  const isKnown = (test) => {
    const entry = known[test]
    if (entry?.hash !== testHashes.get(test) || !entry.ok) return false
    return targets.every(([file]) => entry.over[file] !== undefined)
  }
  // what took long before comes last of those that are as near
  const waiting = tests
    .filter(({ test }) => !isKnown(test))
    .sort((a, b) => a.near - b.near || (known[a.test]?.milliseconds ?? 0) - (known[b.test]?.milliseconds ?? 0))
    .map(({ test }) => test)
  const count = waiting.length
  const until = performance.now() + budgetMs
  const reachedFile = join(folder, 'reached')
  const ended = new Set()
  const keep = (file, outcome) => {
    ended.add(file)
    const before = known[file]
    const over = { ...before?.over, ...Object.fromEntries(fileHashes) }
    const reached = { ...before?.reached, ...Object.fromEntries(targets.map(([name]) => [name, []])) }
    known[file] = { hash: testHashes.get(file) ?? '', sources: state, over, reached, ...outcome }
  }
  /** lines of tests whose outcome is not told yet are taken with the next */
  let untaken = []
  const save = () => {
    if (existsSync(reachedFile)) {
      const taken = `${reachedFile}.taken`
      renameSync(reachedFile, taken)
      untaken.push(...readFileSync(taken, 'utf8').trim().split('\n'))
    }
    untaken = untaken.filter((line) => {
      const { test, reached } = JSON.parse(line)
      const entry = ended.has(relative(root, test)) ? known[relative(root, test)] : undefined
      for (const number of entry === undefined ? [] : reached)
        entry.reached[placeOf(number)]?.push(keys.get(number) ?? '')
      return entry === undefined
    })
    mkdirSync(dirname(cache), { recursive: true })
    writeFileSync(cache, JSON.stringify(known))
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
        if (waiting.length % SAVED_EVERY < AT_ONCE) save()
        say(`${count - waiting.length} of ${count} test files`)
      }
      runner.stop()
    }),
  )
  save()
  const map = new Map(tests.flatMap(({ test }) => (isCurrent(test) ? [[test, known[test]]] : [])))
  const stale = new Set([...map].filter(([, entry]) => entry.sources !== state).map(([test]) => test))
  return { map, keys, hashes: fileHashes, stale }

  function isCurrent(test) {
    return known[test]?.hash === testHashes.get(test)
  }
}

/** @param {string} root @param {readonly [string, number][]} targets each file with the number of its first mutant */
function keysByNumber(root, targets) {
  const keys = new Map()
  const files = new Map()
  for (const [file, first] of targets) {
    const code = readFileSync(join(root, file), 'utf8')
    for (const [place, key] of keysOf(mutantsOf(file, code), code).entries()) {
      keys.set(first + place, key)
      files.set(first + place, file)
    }
  }
  return { keys, placeOf: (/** @type {number} */ number) => files.get(number) }
}
