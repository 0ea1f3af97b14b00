import { analyzeContent, analyzeLanguageIndependent } from '../../../lib/text/analyze.js'
import { UNSPACED } from '../../../lib/text/unspaced.js'

/**
 * Terms of a question for comparison with other questions. Each term depends only on its word, since one of two
 * phrasings often does not show its language. In scripts without spaces, terms of grammar are left out.
 */
export function toComparedTerms(question: string): string[] {
  return UNSPACED.test(question) ? analyzeContent(question) : analyzeLanguageIndependent(question)
}
