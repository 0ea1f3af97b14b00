import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/**
 * Files whose assertions compare a measured time, with the reason. A busy machine must not fail a test: assert what
 * happened instead, such as statements, calls, turns of the event loop or the order of events.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'test/client/client.test.ts': 'the shortest pause of a retry, which a busy machine only prolongs',
  'test/daemon/chat/variables.test.ts': 'a stored time, to ten minutes',
  'test/engine/ingest/jobs/failed-batches.test.ts': 'a stored time that is in the future',
  'test/engine/ingest/sources/connector-details.test.ts':
    'the shortest pause of a retry, which a busy machine only prolongs',
  'test/engine/readers/limits.test.ts': 'other processes used the processors for longer than the limit, as prepared',
  'test/engine/retrieval/query/assembled-evidence.test.ts': 'a stored time, to a minute',
  'test/engine/store/identity.test.ts': 'a stored time, to a minute',
}

const CLOCK = String.raw`(?:performance\.now\(\)|Date\.now\(\)|process\.cpuUsage\(|process\.hrtime)`
/** A comparison that has a time in the same line. */
const DIRECT = new RegExp(String.raw`expect\([^\n]*${CLOCK}[^\n]*\)\s*\.toBe(?:Less|Greater)Than`)
/** A variable or a field for a difference of two times. */
const DIFFERENCE = new RegExp(String.raw`\b(\w+)\s*[:=][^\n]*${CLOCK}[^\n]*\s-\s`, 'g')
const OF_PROCESSOR = /(?:const|let) (?:\{ (\w+), (\w+) \}|(\w+)) = process\.(?:cpuUsage|hrtime)/g

function asserts(source: string): boolean {
  if (DIRECT.test(source)) return true
  const names = [...source.matchAll(DIFFERENCE), ...source.matchAll(OF_PROCESSOR)].flatMap(([, ...found]) => found)
  return names.some(
    (name) =>
      name !== undefined &&
      new RegExp(String.raw`expect\([^\n]*\b${name}\b[^\n]*\.toBe(?:Less|Greater)Than`).test(source),
  )
}

test('the check of tests recognizes an assertion that compares a measured time', () => {
  expect(asserts('expect(performance.now() - start).toBeLessThan(10)')).toBe(true)
  expect(asserts('const ms = performance.now() - start\nexpect(ms).toBeLessThan(10)')).toBe(true)
  expect(asserts('const { user, system } = process.cpuUsage(start)\nexpect(user + system).toBeLessThan(10)')).toBe(true)
  expect(asserts('const end = performance.now() + 10\nexpect(turns).toBeGreaterThan(10)')).toBe(false)
})

test('no test compares a measured time, except the test files that are listed with a reason', () => {
  const found = filesBelow('test').filter((path) => path.endsWith('.ts') && asserts(readFile(path)))
  expect(found.filter((path) => path !== 'test/repo/clock.test.ts').sort()).toEqual(Object.keys(EXCEPTIONS))
})
