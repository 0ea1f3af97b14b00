import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { type Known, keysOf, reaching } from '../../scripts/mutate/baseline.js'
import { instrument } from '../../scripts/mutate/instrument.js'
import { chosen, judge, scoreOf } from '../../scripts/mutate/judge.js'
import { mutantsOf } from '../../scripts/mutate/mutants.js'
import { distancesTo, importsOf, remoteness } from '../../scripts/mutate/neighbourhood.js'
import { readRun } from '../../scripts/mutate/quick.js'
import { Runner } from '../../scripts/mutate/runner.js'
import { sample } from '../../scripts/mutate/sample.js'
import { sqlChanges } from '../../scripts/mutate/sql.js'

const ROOT = join(import.meta.dirname, '..', '..')
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder)
})

/** The text of each mutant, with white space normalized. */
function wrongTexts(code: string): string[] {
  return mutantsOf('a.ts', code)
    .map(({ start, end, text }) => `${code.slice(0, start)}${text}${code.slice(end)}`.replace(/\s+/g, ' ').trim())
    .sort()
}

describe('mutants of a text', () => {
  it.each([
    ['if (a) b = c', ['if (a)', 'if (false) b = c', 'if (true) b = c']],
    ['x = a === b', ['', 'x = a !== b']],
    ['x = a < b ? c : d', ['', 'x = a <= b ? c : d', 'x = false ? c : d', 'x = true ? c : d']],
    ['x = a && b', ['', 'x = a', 'x = b']],
    ['x = a ?? b', ['', 'x = a']],
    ['x = a + b * c', ['', 'x = a + b / c', 'x = a - b * c']],
    ["x = 'a b ' + c", ['']],
    ['function f() { return true }', ['function f() { return false }']],
    ['await call(a)', ['']],
    [
      'x = [0, 1, 5, 60_000]',
      [
        '',
        ...['[0, 0, 5, 60_000]', '[0, 1, 5, 0]', '[0, 1, 6, 60_000]', '[1, 1, 5, 60_000]'].map((one) => `x = ${one}`),
      ],
    ],
    ['while (a) b()', ['while (a)', 'while (false) b()']],
    ['x = a.some(b)', ['', 'x = a.every(b)']],
    ['x = a.filter(b).length', ['', 'x = a.length']],
    ['const MOST = 8', ['const MOST = 0']],
    ['x = a < LONGEST_MS || a < most', ['', 'x = a < LONGEST_MS', 'x = a < LONGEST_MS || a <= most', 'x = a < most']],
    ["x = kind === 'open'", ['', "x = kind !== 'open'", "x = kind === ''"]],
    ['x = !a', ['', 'x = a']],
  ])('exist for %s', (code, expected) => {
    expect(wrongTexts(code)).toEqual([...expected].sort())
  })

  it.each([
    "import { a } from './b.js'",
    "type A = 'x' | 'y'",
    "interface A { b: 'c'; d: 1 }",
    "context.log.warn({ a: 1 }, 'it failed')",
    "const { 'last-modified': a } = b",
    "throw new Error('this is said to a person')",
    "throw new KsError(code, 'failed ' + (n > 1 ? 'often' : 'once'))",
    'x.unref()',
  ])('do not exist for %s', (code) => {
    expect(wrongTexts(code)).toEqual([])
  })
})

describe('mutants of SQL', () => {
  const wrong = (sql: string) => sqlChanges(sql).map(({ from, to, text }) => sql.slice(0, from) + text + sql.slice(to))

  it('remove a condition and keep its parameter', () => {
    expect(wrong('SELECT a FROM b WHERE c = ? AND d = ?')).toEqual([
      'SELECT a FROM b WHERE c = ? AND (d = ? OR 1)',
      'SELECT a FROM b WHERE c <> ? AND d = ?',
      'SELECT a FROM b WHERE c = ? AND d <> ?',
    ])
  })

  it('change comparisons, but not assignments', () => {
    expect(wrong('UPDATE a SET b = ?, c = 1 WHERE d <= ? AND e IS NULL')).toEqual([
      'UPDATE a SET b = ?, c = 1 WHERE d <= ? AND (e IS NULL OR 1)',
      'UPDATE a SET b = ?, c = 1 WHERE d < ? AND e IS NULL',
      'UPDATE a SET b = ?, c = 1 WHERE d <= ? AND e IS NOT NULL',
    ])
  })

  it('change orders, aggregates and negations', () => {
    expect(wrong('SELECT max(a) FROM b WHERE c NOT IN (1) ORDER BY d DESC')).toEqual([
      'SELECT max(a) FROM b WHERE c IN (1) ORDER BY d DESC',
      'SELECT max(a) FROM b WHERE c NOT IN (1) ORDER BY d',
      'SELECT min(a) FROM b WHERE c NOT IN (1) ORDER BY d DESC',
    ])
  })

  it('do not change template expressions', () => {
    const hole = (code: string) => `$${`{${code}}`}`
    const sql = `SELECT a FROM b WHERE c = ${hole('n')} AND ${hole('d < e ? 1 : f')} IS NULL`
    const changed = mutantsOf('a.ts', `q(\`${sql}\`)`)
    expect(changed.map(({ name }) => name).filter((name) => name.startsWith('sql'))).toEqual([
      'sql: = becomes <>',
      'sql: IS NULL becomes IS NOT NULL',
    ])
  })
})

describe('an instrumented text', () => {
  const CODE = `
    let n = 0
    for (let i = 0; i < 3; i++) n += i // a comment
    if (limit === 0) n += 1
    else if (limit === 1) n += 2
    else n += 4
    if (limit === 0) if (n > 100) n += 8
    else n += 16
    const odd = [1, 2, 3].filter((one) => one % 2 === 1 && one > limit)
    if (odd.length > 0) n = n * 10 + odd.length
    said = \`\${n} \${odd.join(' ')}\`
    return said`
  /** The result of the text while a mutant is active, and the mutants that were reached. */
  function run(code: string, active: number) {
    const asked = new Set<number>()
    const said = [0, 1, 2].map((limit) =>
      new Function('__mutant', 'limit', `let said = ''\n${code}`)((id: number) => {
        asked.add(id)
        return id === active
      }, limit),
    )
    return { said, asked }
  }

  it('equals the original without an active mutant, and each mutant when that is active', () => {
    const mutants = mutantsOf('a.js', CODE)
    const text = instrument(CODE, mutants, 1)
    expect(run(text, 0).said).toEqual(['202 1 3', '51 3', '71 3'])
    for (const [place, { start, end, text: wrong, isStatement }] of mutants.entries()) {
      // An endless loop is left to the time limit.
      if (wrong === 'i--') continue
      const alone = CODE.slice(0, start) + (isStatement ? '{}' : wrong) + CODE.slice(end)
      expect({ place, said: run(text, place + 1).said }).toEqual({ place, said: run(alone, 0).said })
    }
    // All but those behind a condition that is never true.
    expect(mutants.length - run(text, 0).asked.size).toBe(3)
  })
})

it('a sample is uniform and repeatable by its seed', () => {
  const all = Array.from({ length: 100 }, (_, place) => place)
  expect(sample(all, 10, 7)).toEqual(sample(all, 10, 7))
  expect(sample(all, 10, 7)).not.toEqual(sample(all, 10, 8))
  expect(sample(all, 1000, 7)).toEqual(all)
  const drawn = Array.from({ length: 1000 }, (_, seed) => sample(all, 10, seed)).flat()
  const counts = all.map((one) => drawn.filter((other) => other === one).length)
  expect(Math.min(...counts)).toBeGreaterThan(50)
  expect(Math.max(...counts)).toBeLessThan(160)
})

/** A small project of files by path. */
function project(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'mutate-test-'))
  folders.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

it('tests are found through imports, without type imports, and ordered by distance', () => {
  const files = {
    'src/engine/jobs/a.ts': "export * from '../b.js'",
    'src/engine/b.ts': "import type { C } from './c.js'",
    'src/engine/c.ts': 'export type C = 1',
    'test/engine/jobs/a.test.ts': "import { b } from '../../../src/engine/jobs/a.js'",
    'test/engine/b.test.ts': "import {\n  b,\n} from '../../src/engine/b.js'",
    'test/daemon/d.test.ts': "const { b } = await import('../../src/engine/jobs/a.js')",
  }
  const imports = importsOf(project(files), Object.keys(files))
  const distances = distancesTo(imports, 'src/engine/b.ts')
  expect([...distances].sort()).toEqual([
    ['src/engine/b.ts', 0],
    ['src/engine/jobs/a.ts', 1],
    ['test/daemon/d.test.ts', 2],
    ['test/engine/b.test.ts', 1],
    ['test/engine/jobs/a.test.ts', 2],
  ])
  expect([...distancesTo(imports, 'src/engine/c.ts').keys()]).toEqual(['src/engine/c.ts'])
  const target = 'src/engine/jobs/store.ts'
  const tests = [
    ['test/daemon/x.test.ts', 3],
    ['test/engine/x.test.ts', 4],
    ['test/engine/jobs/x.test.ts', 5],
    ['test/daemon/y.test.ts', 1],
    ['test/engine/query/x.test.ts', 4],
  ] as const
  expect([...tests].sort((a, b) => remoteness(a[0], target, a[1]) - remoteness(b[0], target, b[1]))).toEqual([
    ...[tests[3], tests[2], tests[1], tests[4], tests[0]],
  ])
})

it('a mutant keeps its tests while other lines of its file change, and a new one gets those of its file', () => {
  const keysIn = (code: string) => keysOf(mutantsOf('a.ts', code), code)
  const [first, second] = [keysIn('x = a && b\ny = a && b'), keysIn('n = 1\nx = a && b\ny = a && c')]
  expect(new Set(first).size).toBe(first.length)
  const known = { hash: '', sources: '', ok: true, failed: [], milliseconds: 1 }
  const map = new Map<string, Known>([
    ['near', { ...known, over: { 'a.ts': 'old' }, reached: { 'a.ts': first } }],
    ['new', { ...known, over: { 'a.ts': 'now' }, reached: { 'a.ts': second } }],
    ['red', { ...known, ok: false, over: { 'a.ts': 'old' }, reached: { 'a.ts': first } }],
    ['far', { ...known, over: { 'a.ts': 'old', 'b.ts': 'old' }, reached: { 'a.ts': [], 'b.ts': ['else'] } }],
  ])
  const testsOf = (key: string | undefined) => reaching(map, { file: 'a.ts', key: key ?? '' }, 'now')
  expect(testsOf(first.find((key) => second.includes(key)))).toEqual(['near', 'new'])
  expect(testsOf(second.find((key) => !first.includes(key)))).toEqual(['new'])
  expect(testsOf('of a line that was written since')).toEqual(['near'])
})

describe('the verdict on a mutant', () => {
  const near = { test: 'near', remote: 1, milliseconds: 9000 }
  const quick = { test: 'quick', remote: 5, milliseconds: 10 }
  const slow = { test: 'slow', remote: 5, milliseconds: 5000 }

  it('comes from the nearest and quickest tests that fit the time, and from at least one', () => {
    expect(chosen([slow, quick, near], 9500).map(({ test }) => test)).toEqual(['near', 'quick'])
    expect(chosen([slow, quick, near], 100).map(({ test }) => test)).toEqual(['near'])
    expect(chosen([], 100)).toEqual([])
  })

  it('equals "killed" if a test fails, is too slow, or ends its process', async () => {
    const outcomes = {
      green: { files: [{ file: 'a', ok: true, failed: [], milliseconds: 1 }], timedOut: false },
      red: { files: [{ file: 'a', ok: false, failed: ['x'], milliseconds: 1 }], timedOut: false },
      stuck: { files: [], timedOut: true },
      brokenBefore: { files: [{ file: 'a', ok: false, failed: ['x'], milliseconds: 1 }], timedOut: false },
      dead: { files: [], timedOut: false, error: 'it ended' },
    }
    const verdictOf = async (...tests: (keyof typeof outcomes)[]) => {
      const isGreen = async (test: string) => test !== 'brokenBefore'
      const run = async (_: number, [test]: readonly string[]) => outcomes[test as keyof typeof outcomes]
      const named = tests.map((test) => ({ test, milliseconds: 1 }))
      return await judge(Object.assign(new Runner('', [], {}), { run }), 1, named, isGreen)
    }
    expect(await verdictOf('green', 'red', 'green')).toEqual({ status: 'killed', by: 'red', ran: 2 })
    expect(await verdictOf('stuck')).toMatchObject({ status: 'timeout' })
    expect(await verdictOf('dead')).toMatchObject({ status: 'killed' })
    expect(await verdictOf('green', 'green')).toEqual({ status: 'survived', ran: 2 })
    expect(await verdictOf('brokenBefore', 'green')).toEqual({ status: 'survived', ran: 2 })
    expect(await verdictOf()).toMatchObject({ status: 'unreached' })
    const verdicts = await Promise.all([verdictOf('red'), verdictOf('stuck'), verdictOf('green'), verdictOf()])
    expect(scoreOf(verdicts)).toBe(0.5)
  })
})

it('counts as killed in a shared process if a later run passes there, or if it ends the process', () => {
  const read = (begun: { id: number; ok?: boolean }[], timedOut = false) => {
    const { outcomes, doubted } = readRun(begun, timedOut)
    return { outcomes: Object.fromEntries(outcomes), doubted }
  }
  const passed = { id: 0, ok: true }
  const red = { id: 0, ok: false }
  expect(read([{ id: 1, ok: false }, { id: 2, ok: true }, { id: 3, ok: false }, passed])).toEqual({
    outcomes: { 1: 'killed', 2: 'passed', 3: 'killed' },
    doubted: [],
  })
  expect(read([{ id: 1, ok: true }, { id: 2, ok: false }, { id: 3, ok: false }, red])).toEqual({
    outcomes: { 1: 'passed' },
    doubted: [2, 3],
  })
  expect(read([{ id: 1, ok: true }, { id: 2 }], true)).toEqual({ outcomes: { 1: 'passed', 2: 'timeout' }, doubted: [] })
  expect(read([{ id: 1, ok: false }, { id: 2, ok: false }, { id: 3 }])).toEqual({
    outcomes: { 3: 'killed' },
    doubted: [1],
  })
  expect(read([])).toEqual({ outcomes: {}, doubted: [] })
})

it('a run reports surviving mutants with their positions and changes no source', async () => {
  const file = 'src/local/file-systems.ts'
  const before = readFileSync(join(ROOT, file), 'utf8')
  const report = join(project({}), 'report.json')
  const run = await execa(
    process.execPath,
    [
      'scripts/mutate.js',
      file,
      ...['--limit', '6', '--seed', '3', '--workers', '1', '--at-least', '1.01', '--json', report],
    ],
    { cwd: ROOT, reject: false },
  )
  expect(run.exitCode).toBe(1)
  expect(run.stdout).toMatch(
    /^src\/local\/file-systems\.ts: [01]\.\d{3} \(killed \d+, timeout \d+, survived \d+, reached by no test \d+\)$/m,
  )
  expect(run.stdout).toMatch(/^score [01]\.\d{3} of 6 mutants, seed 3$/m)
  const { mutants } = JSON.parse(readFileSync(report, 'utf8'))
  expect(mutants).toHaveLength(6)
  expect(mutants.filter(({ status }: { status: string }) => status === 'killed').length).toBeGreaterThan(0)
  for (const { status, line, name } of mutants)
    expect(run.stdout.includes(`${file}:${line}:`) && run.stdout.includes(name)).toBe(
      ['survived', 'unreached'].includes(status) || run.stdout.includes(`${file}:${line}:`),
    )
  expect(readFileSync(join(ROOT, file), 'utf8')).toBe(before)
}, 180_000)

it('an argument that is no source path or number is refused', async () => {
  const refused = async (...args: string[]) => {
    const run = await execa(process.execPath, ['scripts/mutate.js', ...args], { cwd: ROOT, reject: false })
    return [run.exitCode, run.stderr]
  }
  expect(await refused('src/nowhere')).toEqual([2, 'src/nowhere is no source whose tests could notice a mutant'])
  expect(await refused('src/local', '--limit', 'many')).toEqual([2, '--limit must be a number, received "many"'])
  expect((await refused('--nope'))[0]).toBe(2)
})
