// isolated: counts the modules that are loaded
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { analyzeDocument, analyzeQuery } from '../../../src/lib/text/analyze.js'
import { LANGUAGE_MARKS } from '../../../src/lib/text/function-words.js'
import { LANGUAGES, type Language } from '../../../src/lib/text/languages.js'
import { stemIn } from '../../../src/lib/text/stems.js'
import { getQuestionStopWords } from '../../../src/lib/text/stop-words.js'

const { cache } = createRequire(import.meta.url)
const loaded = (): string[] =>
  Object.keys(cache).flatMap((path) => /@orama\/(?:stemmers|stopwords)\/.*?([a-z]+)\.[cm]?js$/.exec(path)?.[1] ?? [])

/** Two forms of a word that are one term in their language. */
const FORMS: Readonly<Record<Language, readonly [string, string]>> = {
  en: ['connected', 'connections'],
  de: ['zeitung', 'zeitungen'],
  fr: ['continuation', 'continuations'],
  es: ['biblioteca', 'bibliotecas'],
  it: ['libro', 'libri'],
  pt: ['livro', 'livros'],
  nl: ['boek', 'boeken'],
  sv: ['flicka', 'flickorna'],
  da: ['hunden', 'hundene'],
  no: ['hunden', 'hundene'],
  fi: ['talo', 'talossa'],
  hu: ['ház', 'házban'],
  ro: ['problema', 'problemele'],
  tr: ['kitap', 'kitaplar'],
  id: ['buku', 'bukunya'],
  lt: ['namas', 'namai'],
  ga: ['bord', 'mbord'],
  pl: ['gazety', 'gazetami'],
  cs: ['noviny', 'novinami'],
  sr: ['gradovima', 'gradova'],
  ru: ['книга', 'книги'],
  uk: ['книга', 'книги'],
  bg: ['книга', 'книгата'],
  el: ['δρόμος', 'δρόμοι'],
  ar: ['كتاب', 'الكتاب'],
  hi: ['किताब', 'किताबें'],
  ne: ['किताब', 'किताबहरू'],
  hy: ['ուսանողներ', 'ուսանողների'],
  ta: ['புத்தகம்', 'புத்தகங்கள்'],
}

it('stemmers and stop words of a language are loaded with its first word, and English needs none', () => {
  expect(loaded()).toEqual([])
  expect(analyzeQuery('How long do the engines run?')).toEqual(['long', 'engin', 'run'])
  analyzeDocument('The engines have been running for a year, and none of them failed.')
  expect(loaded()).toEqual([])
  expect(analyzeQuery('Wie hoch sind die Gebühren für das Parken?')).toContain('gebuhr')
  expect(new Set(loaded())).toEqual(new Set(['de']))
})

it.each(LANGUAGES)('%s has stop words with question words, and reduces forms of a word to one term', (language) => {
  const stopWords = getQuestionStopWords(language)
  expect(stopWords.size).toBeGreaterThan(20)
  if (language !== 'en')
    for (const word of LANGUAGE_MARKS[language].functionWords.split(' ')) expect(stopWords).toContain(word)
  const [one, other] = FORMS[language]
  if (language !== 'en') expect(stemIn(one, language)).toBe(stemIn(other, language))
  else expect(analyzeQuery(one)).toEqual(analyzeQuery(other))
})
