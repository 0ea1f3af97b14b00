import { languageOfQuestion } from '../../lib/text/analyze.js'
import type { Language } from '../../lib/text/languages.js'
import { QUERY_STOP_WORDS } from '../../lib/text/stop-words.js'

/** Words that are English and also small words of German, French, Dutch, Spanish, Italian or Portuguese. */
const SHARED = new Set(
  'a am an as at be do die du en he her i in is me most must no of on or over same so the to was we will'.split(' '),
)
/** Words that only English has, and nearly every English sentence has one of. */
const ENGLISH = new Set([...QUERY_STOP_WORDS].filter((word) => !SHARED.has(word)))
ENGLISH.add('of')
ENGLISH.add('the')

/**
 * Whether a question can be in the language of some text: one of the words that only English has stands in both or in
 * neither, and where it is not English, they share a word or a pair of characters. A question that nothing is known of
 * (keywords alone) is taken for another language: who asks this wants to be sure before calling something foreign.
 */
export function mayShareLanguage(question: string, texts: readonly string[]): boolean {
  const asked = wordsOf(question)
  const written = wordsOf(texts.join('\n'))
  const isEnglish = (words: ReadonlySet<string>) => [...words].some((word) => ENGLISH.has(word))
  if (isEnglish(asked) !== isEnglish(written)) return false
  return isEnglish(asked) || [...asked].some((word) => written.has(word))
}

/** Whether a text has a word that only English has. */
export function soundsEnglish(text: string): boolean {
  return [...wordsOf(text)].some((word) => ENGLISH.has(word))
}

/** Keywords without either may be in any language: `cause`, `service`. */
const OF_OTHERS = /[^\p{ASCII}]|\?/u

/** The language of a question, where its words tell: of keywords alone they often do not. */
export function toldLanguage(question: string): Language | undefined {
  if (soundsEnglish(question)) return 'en'
  if (!OF_OTHERS.test(question)) return undefined
  const language = languageOfQuestion(question)
  return language === 'en' ? undefined : language
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

function wordsOf(text: string): Set<string> {
  const words = new Set<string>()
  for (const [run] of text.toLowerCase().matchAll(/[\p{L}\p{M}]+/gu)) {
    if (!UNSPACED.test(run)) words.add(run)
    else for (let at = 1; at < run.length; at++) words.add(run.slice(at - 1, at + 1))
  }
  return words
}
