import type { TermCorrection } from '../../../contract/gateway/queries.js'
import {
  analyzeDocumentWords,
  analyzeWords,
  detectLanguageOfQuestion,
  type QueryWord,
} from '../../../lib/text/analyze.js'
import type { CompoundQuestion, Rewording } from '../../../lib/text/compounds.js'
import type { Language } from '../../../lib/text/languages.js'
import { findNames } from '../../../lib/text/names.js'
import {
  buildDerivedForms,
  buildFormsWithoutTwoTypos,
  buildFormsWithoutTypo,
  isCommonWord,
  type WordForm,
} from '../../../lib/text/spelling.js'
import type { SearchRequest } from '../../search/index.js'
import { type RecallResult, type RecallScope, recall } from './recall.js'
import type { QuestionScope } from './retrieval.js'

export interface Correction extends TermCorrection {
  rewording: Rewording
}

/** Counts the permitted passages that contain each term. */
type TermCounter = (terms: string[]) => Promise<ReadonlyMap<string, number>>

/** A question with more missing words is in another language or about another subject than the space. */
const MAX_MISSING_WORDS = 3
/** Maximum derived forms of one word that are searched for; the most frequent ones are used. */
const MAX_DERIVED_FORMS = 2
/** Maximum terms in one request to an index. */
const MAX_TERMS_PER_REQUEST = 2_048

const NO_COMPOUNDS: CompoundQuestion = { words: [], languages: [], isCertain: false }

/**
 * Searches both indexes. When words of the question are missing in the reader's documents, searches again with
 * corrections.
 */
export async function recallWithCorrections(
  question: QuestionScope,
  request: SearchRequest,
  reading: RecallScope,
): Promise<RecallResult & { corrections: Correction[] }> {
  const first = await recall(question, request, reading)
  const { context, query, signal } = question
  const { space, seq } = question.admitted
  const scope = reading.scope === undefined ? {} : { scope: reading.scope.documents }
  const lookUp = async (terms: string[]) =>
    (await context.indexes.search(space.id, { terms, textK: 1, vectorK: 1, seq, ...scope }, signal)).frequencies
  const found = await findCorrections(query, first.found, lookUp)
  if (found.length === 0) return { ...first, corrections: [] }
  const compounds = { ...(request.compounds ?? NO_COMPOUNDS), given: found.map(({ rewording }) => rewording) }
  const again = await recall(question, { ...request, compounds }, reading)
  return { ...again, corrections: found }
}

/**
 * Returns the corrections as passages spell them: a generated form may share only its stem with the word of a passage.
 */
export function toSearchedFor(
  corrections: readonly Correction[],
  passages: Iterable<{ title: string; body: string }>,
): TermCorrection[] {
  const missing = new Set(corrections.flatMap(({ rewording }) => rewording.documentTerms))
  const spelled = new Map<string, string>()
  for (const { title, body } of passages) {
    if (missing.size === 0) break
    for (const { text, term } of analyzeDocumentWords(`${title}\n${body}`))
      if (missing.delete(term)) spelled.set(term, text)
  }
  return corrections.map(({ asked: queryTerms, searched, rewording }) => {
    return { asked: queryTerms, searched: spelled.get(rewording.documentTerms[0] ?? '') ?? searched }
  })
}

/**
 * Finds other forms of those words of a question that no permitted passage contains: derived forms (`owns`, `owner`),
 * or else forms without a typo. Names and common words of the question's language are not treated as typos.
 */
export async function findCorrections(
  query: string,
  known: { frequencies: ReadonlyMap<string, number>; rewordings: readonly Rewording[] },
  frequencies: TermCounter,
): Promise<Correction[]> {
  if (![...known.frequencies.values()].includes(0)) return []
  const isMissing = ({ term }: QueryWord): boolean =>
    known.frequencies.get(term) === 0 && !known.rewordings.some(({ queryTerms }) => queryTerms.includes(term))
  const spelled = query.toLowerCase().replaceAll('’', "'")
  // `wasn` of `wasn't` is not a word
  const missing = analyzeWords(query).filter((word) => isMissing(word) && !spelled.includes(`${word.text}'`))
  if (missing.length > MAX_MISSING_WORDS) return []
  const names = new Set(findNames(query).flatMap(({ text }) => text.toLowerCase().split(/[^\p{L}\p{M}]+/u)))
  const language = detectLanguageOfQuestion(query)
  const found: Correction[] = []
  for (const word of missing)
    if (!names.has(word.text)) found.push(...(await findFormsInSpace(word, language, frequencies)))
  return found
}

async function findFormsInSpace(word: QueryWord, language: Language, frequencies: TermCounter): Promise<Correction[]> {
  const { text, script } = word
  const derived = script === 'latin' && language === 'en' ? buildDerivedForms(text) : []
  const nearest = isCommonWord(text, language) ? [] : buildFormsWithoutTypo(text, script)
  const found = await rankExistingForms([...derived, ...nearest], frequencies)
  const related = found.filter(({ term }) => derived.some((one) => one.term === term)).slice(0, MAX_DERIVED_FORMS)
  if (related.length > 0) return related.map((form) => toCorrection(word, form))
  const isOpen = found.length === 0 && nearest.length > 0
  const [best] = isOpen ? await rankExistingForms(buildFormsWithoutTwoTypos(text, language), frequencies) : found
  return best === undefined ? [] : [toCorrection(word, best)]
}

/** Forms that passages contain: corrections of likely typos first, then the most frequent. */
async function rankExistingForms(forms: readonly WordForm[], frequencies: TermCounter): Promise<WordForm[]> {
  const counts = new Map<string, number>()
  const terms = [...new Set(forms.map(({ term }) => term))]
  for (let at = 0; at < terms.length; at += MAX_TERMS_PER_REQUEST)
    for (const [term, count] of await frequencies(terms.slice(at, at + MAX_TERMS_PER_REQUEST))) counts.set(term, count)
  const count = ({ term }: WordForm): number => counts.get(term) ?? 0
  const likely = ({ isLikely = false }: WordForm): number => (isLikely ? 1 : 0)
  return forms.filter((form) => count(form) > 0).sort((a, b) => likely(b) - likely(a) || count(b) - count(a))
}

function toCorrection({ text, term }: QueryWord, form: WordForm): Correction {
  return { asked: text, searched: form.text, rewording: { queryTerms: [term], documentTerms: [form.term] } }
}
