import { analyzeCommon, analyzeContent } from '../../lib/text/analyze.js'

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/**
 * Terms of a question as questions are compared with each other: in the form that hangs on the word alone, since of two
 * phrasings one often does not tell its language. Of scripts without spaces, those that hold no grammar.
 */
export function comparedTerms(question: string): string[] {
  return UNSPACED.test(question) ? analyzeContent(question) : analyzeCommon(question)
}
