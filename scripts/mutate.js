/**
 * `npm run mutate -- PATH… [--limit N] [--seed N]`: changes the sources in small wrong ways and says which of them no
 * test notices. See docs/mutation.md.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

const USAGE = `npm run mutate -- PATH… [options]

  PATH                 a file or folder below src
  --limit N            mutants drawn of each PATH (default: all)
  --seed N             of the draw (default 1)
  --again FILE         only those that survived in this report
  --at-least SHARE     exit code 1 below this share (default 0.8)
  --seconds N          tests of one mutant, by their time without one (default 60)
  --baseline MINUTES   for the run without mutants; tests that it does not come to are not used (default 20)
  --workers N          processes that run tests (default 2)
  --without TEXT       leaves out test files whose path holds this; may be repeated
  --json FILE          writes every mutant and what became of it
`

/** tests of built programs, of killed processes and of the repository itself: no mutant is in what they run */
const OUTSIDE = ['test/crash/', 'test/faults/', 'test/repo/', 'test/commands/', 'test/simulation/', 'test/scripts/']
/** these run compiled, in processes and threads of their own */
const SEPARATE = /(\.worker|child|-worker)\.ts$/

/** what a test file may take without a mutant */
const GREEN_MS = 300_000

const OPTIONS = /** @type {const} */ ({
  limit: { type: 'string' },
  seed: { type: 'string', default: '1' },
  again: { type: 'string' },
  'at-least': { type: 'string', default: '0.8' },
  seconds: { type: 'string', default: '60' },
  baseline: { type: 'string', default: '20' },
  workers: { type: 'string', default: '2' },
  without: { type: 'string', multiple: true, default: [] },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
})

class UsageError extends Error {}

try {
  const { values, positionals } = parsed()
  if (values.help || positionals.length === 0) {
    process.stdout.write(USAGE)
    process.exitCode = values.help ? 0 : 2
  } else {
    ensure()
    process.exitCode = await mutate(positionals, values)
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 2
}

function parsed() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
  }
}

/** @param {string} name @param {string | undefined} text */
function numberOf(name, text) {
  const value = Number(text)
  if (text === undefined || text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new UsageError(`--${name} must be a number, received ${JSON.stringify(text)}`)
  return value
}

/** @param {readonly string[]} paths @param {ReturnType<typeof parsed>['values']} options @returns {Promise<number>} exit code */
async function mutate(paths, options) {
  // not before: they may have been installed just now
  const [
    { baseline, reaching },
    { chosen, judge, scoreOf },
    { Runner },
    { distancesTo, filesBelow, importsOf, remoteness },
    { QUICK_MS, throughQuick },
  ] = await Promise.all([
    import('./mutate/baseline.js'),
    import('./mutate/judge.js'),
    import('./mutate/runner.js'),
    import('./mutate/neighbourhood.js'),
    import('./mutate/quick.js'),
  ])
  const { drawn } = await import('./mutate/draw.js')
  const budgets = { seconds: numberOf('seconds', options.seconds), minutes: numberOf('baseline', options.baseline) }
  const workers = Math.max(1, numberOf('workers', options.workers))
  const least = numberOf('at-least', options['at-least'])
  const limit = options.limit === undefined ? Number.POSITIVE_INFINITY : numberOf('limit', options.limit)

  const sources = below('src', filesBelow)
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .sort()
  const groups = paths.map((path) => ({ path: relative(ROOT, resolve(path)), files: filesOf(path, sources) }))
  const again = options.again === undefined ? undefined : JSON.parse(readFileSync(options.again, 'utf8')).mutants
  const { mutants, targets } = drawn(ROOT, groups, sources, { limit, seed: numberOf('seed', options.seed), again })
  say(`${mutants.length} mutants of ${targets.length} files`)

  const testFiles = below('test', filesBelow)
    .filter((file) => file.endsWith('.ts'))
    .sort()
  // what tests share with benches
  const shared = below('bench/lib', filesBelow).filter((file) => file.endsWith('.ts'))
  const imports = importsOf(ROOT, [...sources, ...testFiles, ...shared])
  const distances = new Map(targets.map(([file]) => [file, distancesTo(imports, file)]))
  const left = (test) =>
    OUTSIDE.some((folder) => test.startsWith(folder)) || options.without.some((text) => test.includes(text))
  const remote = (test, file) => {
    const distance = distances.get(file)?.get(test)
    return distance === undefined ? Number.POSITIVE_INFINITY : remoteness(test, file, distance)
  }
  const nearest = (test) => Math.min(...targets.map(([file]) => remote(test, file)))
  const tests = testFiles
    .filter((file) => file.endsWith('.test.ts') && !left(file))
    .map((test) => ({ test, near: nearest(test) }))
    .filter(({ near }) => Number.isFinite(near))

  const folder = mkdtempSync(join(tmpdir(), 'mutate-'))
  /** @type {Set<import('./mutate/runner.js').Runner>} */
  const runners = new Set()
  const end = () => {
    for (const runner of runners) runner.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  const interrupted = () => {
    end()
    process.exit(130)
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const startRunner = (env = {}) => {
      // what tests leave when they are cut short goes with this folder
      const runner = new Runner(ROOT, targets, { TMPDIR: folder, ...env })
      runners.add(runner)
      return runner
    }
    const { map, keys, hashes, stale } = await baseline(
      ROOT,
      { sources, targets, tests, workers, budgetMs: budgets.minutes * 60_000, folder, startRunner },
      (text) => say(`without mutants: ${text}`),
    )
    const red = [...map].filter(([, { ok }]) => !ok)
    // of what these would notice nothing is known
    for (const [test, { failed }] of red)
      say(`fails without any mutant, and is left out: ${test}: ${failed.join('; ')}`)
    if (red.length > 0 && red.length === map.size) return 2
    const verdicts = await judged()
    return report(verdicts)

    async function judged() {
      // by what they change, which is no order of files: a run that is ended early has tried some of everything
      const place = ({ id }) => keys.get(id) ?? ''
      const ordered = [...mutants].sort((a, b) => (place(a) < place(b) ? -1 : 1))
      const testsOf = new Map(ordered.map((mutant) => [mutant, testsReaching(mutant)]))
      const isQuick = ({ milliseconds }) => milliseconds <= QUICK_MS
      const done = []
      const decide = (mutant, verdict) => {
        done.push({ ...mutant, ...verdict, reachedBy: testsOf.get(mutant)?.length ?? 0 })
        say(`${done.length} of ${mutants.length}: ${verdict.status} ${lineOf(mutant)}`)
      }
      const own = Array.from({ length: workers }, () => startRunner())
      const waiting = await throughQuick(ordered, (mutant) => testsOf.get(mutant)?.filter(isQuick) ?? [], own, {
        told: (place) => join(folder, `told-${place}`),
        decided: decide,
        red: (test) => {
          say(`fails without any mutant, and is left out: ${test}`)
          map.delete(test)
        },
      })
      await Promise.all(
        own.map(async (runner) => {
          for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
            const slow = testsOf.get(mutant)?.filter((test) => !isQuick(test) && map.has(test.test)) ?? []
            const verdict = await judge(runner, mutant.id, slow, (test) => greenNow(runner, test))
            const isReached = testsOf.get(mutant)?.some(({ test }) => map.has(test)) === true
            const ended = verdict.status === 'unreached' && isReached
            decide(mutant, ended ? { ...verdict, status: 'survived' } : verdict)
          }
          runner.stop()
        }),
      )
      return done.sort((a, b) => a.id - b.id)
    }

    function testsReaching({ id, file }) {
      const tests = reaching(map, { file, key: keys.get(id) ?? '' }, hashes.get(file) ?? '').map((test) => ({
        ...{ test, milliseconds: map.get(test)?.milliseconds ?? 0, remote: remote(test, file) },
      }))
      return chosen(tests, budgets.seconds * 1000)
    }

    async function greenNow(runner, test) {
      if (stale.has(test)) {
        const { files } = await runner.run(0, [test], { bail: false, timeoutMs: GREEN_MS })
        if (files.length === 0 || files.some(({ ok }) => !ok)) {
          say(`fails without any mutant, and is left out: ${test}`)
          map.delete(test)
          return false
        }
        stale.delete(test)
      }
      return map.has(test)
    }
  } finally {
    end()
  }

  function report(verdicts) {
    const out = (text) => process.stdout.write(`${text}\n`)
    for (const { path } of groups) {
      const own = verdicts.filter(({ group }) => group === path)
      const missed = own.filter(({ status }) => status === 'survived' || status === 'unreached')
      const count = (status) => own.filter((one) => one.status === status).length
      out(
        `${path}: ${scoreOf(own).toFixed(3)} (killed ${count('killed')}, timeout ${count('timeout')}, survived ${count('survived')}, reached by no test ${count('unreached')})`,
      )
      for (const one of missed) out(`  ${one.status} ${lineOf(one)}`)
    }
    const score = scoreOf(verdicts)
    out(`score ${score.toFixed(3)} of ${verdicts.length} mutants, seed ${options.seed}`)
    if (options.json !== undefined)
      writeFileSync(
        options.json,
        `${JSON.stringify({ seed: Number(options.seed), score, mutants: verdicts }, null, 1)}\n`,
      )
    return score < least ? 1 : 0
  }
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function lineOf({ file, line, column, name, before, text }) {
  const short = (code) => code.replace(/\s+/g, ' ').slice(0, 100)
  return `${file}:${line}:${column} ${name}: ${short(before)} → ${short(text) || 'nothing'}`
}

function below(folder, filesBelow) {
  return filesBelow(join(ROOT, folder)).map((path) => relative(ROOT, path))
}

/** @param {string} path @param {readonly string[]} sources */
function filesOf(path, sources) {
  const place = relative(ROOT, resolve(path))
  const isFolder = statSync(join(ROOT, place), { throwIfNoEntry: false })?.isDirectory() === true
  const files = sources.filter(
    (file) => (isFolder ? file.startsWith(`${place}/`) : file === place) && !SEPARATE.test(file),
  )
  if (files.length === 0) throw new UsageError(`${path} is no source whose tests could notice a mutant`)
  return files
}
