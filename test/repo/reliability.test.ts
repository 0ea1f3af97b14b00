import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

const ROOT = resolve(import.meta.dirname, '../..')
const NUMBERS = [...numbers('F', 66), ...numbers('A', 86)]

interface Row {
  number: string
  files: string[]
  /** description of the test, or the reason why there is none */
  words: string
}

const rows = [...readFile('docs/reliability.md').matchAll(/^\| ([FA]\d\d) \| `[\w-]+` \| (.*?) \| (.*) \|$/gm)].map(
  ([, number = '', cell = '', words = '']): Row => ({
    number,
    files: [...cell.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
    words,
  }),
)

/** Files by the numbers at the start of their titles: one or several with commas, then a colon. */
const titled = new Map<string, string[]>()
for (const file of filesBelow('test').filter((path) => /\.(test|suite)\.ts$/.test(path))) {
  for (const [, list = ''] of readFile(file).matchAll(/['"`]((?:[FA]\d\d, )*[FA]\d\d): /g))
    for (const number of list.split(', ')) titled.set(number, [...new Set([...(titled.get(number) ?? []), file])])
}

function numbers(letter: string, last: number): string[] {
  return Array.from({ length: last }, (_, place) => `${letter}${String(place + 1).padStart(2, '0')}`)
}

test('every fault and every attack has one row in docs/reliability.md', () => {
  expect(rows.map(({ number }) => number)).toEqual(NUMBERS)
})

test('a row of docs/reliability.md without a test contains "not tested yet" or a reason', () => {
  const silent = rows.filter(
    ({ files, words }) => files.length === 0 && !/^(not tested yet|does not apply: )/.test(words),
  )
  expect(silent).toEqual([])
})

test('every test in docs/reliability.md exists, and its titles contain the fault', () => {
  const wrong = rows.flatMap(({ number, files }) =>
    files
      .filter((file) => !existsSync(resolve(ROOT, file)) || !titled.get(number)?.includes(file))
      .map((file) => `${number}: ${file}`),
  )
  expect(wrong).toEqual([])
})

test('every test with a fault in its title is in the row of that fault', () => {
  const missing = [...titled].flatMap(([number, files]) =>
    files
      .filter((file) => !rows.find((row) => row.number === number)?.files.includes(file))
      .map((file) => `${number}: ${file}`),
  )
  expect(missing).toEqual([])
})
