import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

const FOLDER = 'docs/decisions'
const page = readFile(`${FOLDER}/README.md`)
const pages = filesBelow(FOLDER)
  .filter((path) => /\/\d{4}-[^/]+\.md$/.test(path))
  .map((path) => path.slice(FOLDER.length + 1))
const rows = [...page.matchAll(/^\| \[(\d+)\]\(([^)]+)\) \| .+ \| (.+) \|$/gm)].map(
  ([, number = '', file = '', state = '']) => ({ number: Number(number), file, state }),
)

/** Files of the decisions that replace another one, from the links after `replaced by`. */
function replacementsIn(text: string): string[] {
  const [, links = ''] = /^\**replaced\** +by\** +(.*)/im.exec(text) ?? []
  return [...links.matchAll(/\]\((\d{4}-[^)]+\.md)\)/g)].map(([, file = '']) => file)
}

test('every page in docs/decisions has one row in the index, with its number', () => {
  expect(rows.map(({ file }) => file).toSorted()).toEqual(pages.toSorted())
  expect(rows.filter(({ number, file }) => number !== Number(file.slice(0, 4)))).toEqual([])
})

test('the index of decisions lists every number without a page as not used', () => {
  const [, list = ''] = /^Not used: (.*)\.$/m.exec(page) ?? []
  const numbers = new Set(rows.map(({ number }) => number))
  const all = Array.from({ length: Math.max(...numbers) }, (_, index) => index + 1)
  expect(list.split(', ').map(Number)).toEqual(all.filter((number) => !numbers.has(number)))
})

test('every decision has a known state in the index', () => {
  const known = /^(?:in force(?:, (?:extended|confirmed|changed) by \[.+)?|replaced by \[.+|withdrawn)$/
  expect(rows.filter(({ state }) => !known.test(state))).toEqual([])
})

test('the index and the page of a replaced decision name the same replacement', () => {
  const inIndex = rows.map(({ file, state }) => ({ file, by: replacementsIn(state) }))
  const inPages = rows.map(({ file }) => ({ file, by: replacementsIn(readFile(`${FOLDER}/${file}`)) }))
  expect(inIndex).toEqual(inPages)
})
