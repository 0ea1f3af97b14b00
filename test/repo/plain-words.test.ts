import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

const sources = filesBelow('src').filter((path) => /\.tsx?$/.test(path))
const tests = filesBelow('test').filter((path) => /\.tsx?$/.test(path))

/** Words that the glossary replaces, each with the word to write instead. Contract names and SQL are not checked. */
const UNUSED_WORDS: Readonly<Record<string, string>> = {
  anew: 'again',
  whoever: 'a caller, a client, a reader',
  'so many': 'a count, a limit',
  'in hand': 'in progress, claimed',
  'in its turn': 'then',
  'what becomes of': 'the result, the outcome',
  'lets go of': 'releases',
  'gives way': 'yields',
  'leaves off': 'stops',
  'is told of': 'is reported, is logged',
  'tells of': 'reports',
  'gone over': 'processed',
}

/** Participles and particles that end like nouns, or nouns that end like participles. */
const NOUNS = /^(Feed|Seed|Speed|Need|Build|Field|Grid|Child|Shield|Segment|Thread|Spread|Read|Lead)$/
const PARTICIPLE =
  /^([A-Z][a-z]+ed|Held|Said|Told|Found|Made|Built|Sent|Spent|Seen|Drawn|Shown|Known|Given|Taken|Written|Kept|Begun|Laid|Lost|Bound|Caught|Gone|Done|Left|Meant|Heard|Chosen|Hidden|Frozen|Withheld|Broken|Driven)$/

function declaredTypes(paths: readonly string[], declaration: RegExp): { name: string; path: string }[] {
  return paths.flatMap((path) => [...readFile(path).matchAll(declaration)].map(([, name = '']) => ({ name, path })))
}

test('the name of a type is a noun, not a participle', () => {
  const types = declaredTypes(sources, /^(?:export )?(?:interface|type|(?:abstract )?class) (\w+)/gm)
  expect(types.filter(({ name }) => PARTICIPLE.test(name) && !NOUNS.test(name))).toEqual([])
})

test('no two exported types have one name', () => {
  const files = new Map<string, string[]>()
  for (const { name, path } of declaredTypes(sources, /^export (?:interface|type|(?:abstract )?class) (\w+)/gm))
    files.set(name, [...(files.get(name) ?? []), path])
  expect([...files].filter(([, paths]) => new Set(paths).size > 1)).toEqual([])
})

test('bounds are named MAX and MIN', () => {
  const bounds = /\b(?:const|let) ((?:MOST|LEAST|FEWEST|LONGEST|LARGEST)(?:_[A-Z_]+)?)\b/g
  expect(declaredTypes(sources, bounds)).toEqual([])
})

test('the title of a test begins with a subject or a verb', () => {
  const titles = /\b(?:it|test|describe)(?:\.\w+)*\(\s*(?:'|"|`)((?:is|are|was|were|has|of|and|or)\b[^'"`\n]*)/g
  expect(declaredTypes(tests, titles)).toEqual([])
})

test('comments avoid the words that the glossary replaces', () => {
  const words = new RegExp(`\\b(${Object.keys(UNUSED_WORDS).join('|')})\\b`, 'i')
  const found = [...sources, ...tests].flatMap((path) =>
    readFile(path)
      .split('\n')
      .flatMap((line, index) => {
        const word = /^\s*(?:\/\/|\/\*|\*)/.test(line) ? words.exec(line)?.[0] : undefined
        return word === undefined ? [] : [`${path}:${index + 1} ${word}: ${UNUSED_WORDS[word.toLowerCase()]}`]
      }),
  )
  expect(found).toEqual([])
})
