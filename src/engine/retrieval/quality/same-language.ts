import { detectLanguageOfQuestion } from '../../../lib/text/analyze.js'
import type { Language } from '../../../lib/text/languages.js'
import { QUERY_STOP_WORDS } from '../../../lib/text/stop-words.js'
import { UNSPACED } from '../../../lib/text/unspaced.js'

/** Words that are English and also function words of German, French, Dutch, Spanish, Italian or Portuguese. */
const SHARED_WORDS = new Set(
  'a am an as at be do die du en he her i in is me most must no of on or over same so the to was we will'.split(' '),
)
/** Words that only English has; nearly every English sentence contains one. */
const ENGLISH_WORDS = new Set([...QUERY_STOP_WORDS].filter((word) => !SHARED_WORDS.has(word)))
ENGLISH_WORDS.add('of')
ENGLISH_WORDS.add('the')

/**
 * Whether a question may be in the language of some texts. Both or neither must contain words that only English has; if
 * neither does, they must share a word or a pair of characters. Keywords of unknown language count as another language:
 * the caller must be sure before it calls a question foreign.
 */
export function mayShareLanguage(question: string, texts: readonly string[]): boolean {
  const questionWords = findWords(question)
  const textWords = findWords(texts.join('\n'))
  const isEnglish = (words: ReadonlySet<string>) => [...words].some((word) => ENGLISH_WORDS.has(word))
  if (isEnglish(questionWords) !== isEnglish(textWords)) return false
  return isEnglish(questionWords) || [...questionWords].some((word) => textWords.has(word))
}

/** Whether a text contains a word that only English has. */
export function hasEnglishWord(text: string): boolean {
  return [...findWords(text)].some((word) => ENGLISH_WORDS.has(word))
}

/** Keywords without either may be in any language: `cause`, `service`. */
const OTHER_LANGUAGE_SIGN = /[^\p{ASCII}]|\?/u

/** Language of a question, when its words show it; keywords often do not. */
export function detectQuestionLanguage(question: string): Language | undefined {
  if (hasEnglishWord(question)) return 'en'
  if (!OTHER_LANGUAGE_SIGN.test(question)) return undefined
  const language = detectLanguageOfQuestion(question)
  return language === 'en' ? undefined : language
}

function findWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const [run] of text.toLowerCase().matchAll(/[\p{L}\p{M}]+/gu)) {
    if (!UNSPACED.test(run)) words.add(run)
    else for (let index = 1; index < run.length; index++) words.add(run.slice(index - 1, index + 1))
  }
  return words
}
