import { createRequire } from 'node:module'
import { foldAccents } from './fold.js'
import { LANGUAGE_MARKS } from './function-words.js'
import { type Language, MODULE_NAMES } from './languages.js'

/** Words too common to index: the 33 of Lucene's English default list. */
export const DOCUMENT_STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they ' +
    'this to was will with'
  ).split(' '),
)

/** Words without content in an English question: the above, question words, auxiliaries and pronouns. */
export const QUERY_STOP_WORDS: ReadonlySet<string> = new Set([
  ...DOCUMENT_STOP_WORDS,
  ...(
    'what which who whom whose when where why how do does did has have had can could should would may might must i ' +
    'you he she we our your my his her its from about than been being were am so any some also between during ' +
    'through over under more most other only own same too very just because until while both each few nor'
  ).split(' '),
])

/**
 * Languages whose list in `@orama/stopwords` has only function words and is encoded correctly. The lists of Spanish,
 * Hungarian, Bulgarian, Arabic and Indonesian contain content words (hours, visit, work); those of Lithuanian and
 * Serbian are corrupt. For these languages, only our own list is used.
 */
const LANGUAGES_WITH_LIST: ReadonlySet<string> = new Set(
  'de fr it pt nl sv da no fi ro ga ru uk el hi ne hy ta'.split(' '),
)

const require = createRequire(import.meta.url)
const loaded = new Map<Language, ReadonlySet<string>>()

function loadList(name: string): string[] {
  const found: unknown = require(`@orama/stopwords/${name}`)
  const lists: unknown[] = typeof found === 'object' && found !== null ? Object.values(found) : []
  return lists.flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
}

/**
 * Words of a language without content in a question: function words, auxiliaries and question words, in lower case,
 * with and without accents. A list is loaded with the first question of its language.
 */
export function getQuestionStopWords(language: Language): ReadonlySet<string> {
  if (language === 'en') return QUERY_STOP_WORDS
  const cached = loaded.get(language)
  if (cached !== undefined) return cached
  const name = LANGUAGES_WITH_LIST.has(language) ? MODULE_NAMES[language] : undefined
  const words = new Set([
    ...LANGUAGE_MARKS[language].functionWords.split(' '),
    ...(name === undefined ? [] : loadList(name)),
  ])
  // Users type them without accents, too.
  for (const word of [...words]) words.add(foldAccents(word))
  loaded.set(language, words)
  return words
}
