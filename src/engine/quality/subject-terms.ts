import { analyzeContent } from '../../lib/text/analyze.js'
import { foldAccents } from '../../lib/text/fold.js'
import type { Facet } from '../query/question/facets.js'
import { comparedTerms } from './compared-terms.js'
import { everydayGroups, isFiller } from './everyday-words.js'
import { soundsEnglish } from './same-language.js'
import { cutChinese, isForeignFiller, partsOf, type Sense, senseOf } from './words-of-languages.js'

/** A term of a question, prepared for comparison with another question. */
export interface SubjectTerm {
  /** importance for the subject */
  weight: number
  /** groups of everyday words that it belongs to */
  groups: readonly number[]
}

/** Words for the requested facet, not for the subject. */
const FACET_WORDS = new Set(
  analyzeContent(
    'much many long often frequently price cost fee charge fare number amount step procedure process reason cause ' +
      'person place location address time year date day month hour deadline interval duration length function role ' +
      'steps times hours made maximum limit period responsible contact possible allowed part minute metre way set',
  ),
)
const WEIGHT_OF_SUBJECT = 1
export const WEIGHT_OF_EVERYDAY = 0.7
export const WEIGHT_OF_FACET = 0.25
const WEIGHT_OF_FILLER = 0.1

/** Replacements of abbreviations that every office uses, and of numbering. */
const ABBREVIATIONS: readonly (readonly [RegExp, string])[] = [
  [/\bv\.?(?=\d)/giu, 'version '],
  [/\bceo\b/giu, 'chief executive officer'],
  [/\bcfo\b/giu, 'chief financial officer'],
  [/\bcto\b/giu, 'chief technology officer'],
  [/\bhr\b/gu, 'human resources'],
  [/\bcapex\b/giu, 'capital expenditure'],
  [/\bopex\b/giu, 'operating expenditure'],
  [/\bpto\b/giu, 'paid leave'],
  [/\bwfh\b/giu, 'work from home'],
  [/\bmax\b\.?/giu, 'maximum'],
  [/\bmin\b\.?/giu, 'minimum'],
  [/\bapprox\b\.?/giu, 'approximately'],
  [/\bdept\b\.?/giu, 'department'],
  [/\bmgmt\b\.?/giu, 'management'],
  [/\bqty\b\.?/giu, 'quantity'],
  [/\btemp\b\.?/giu, 'temperature'],
  [/\binfo\b/giu, 'information'],
  [/\bkwh\b/giu, 'kilowattstunde'],
  [/\bkg\b/giu, 'weight'],
  [/\be-?bikes?\b/giu, 'elektrorad'],
]

/** Expands the common abbreviations in a question. */
export function writtenOut(question: string): string {
  let text = question
  for (const [short, long] of ABBREVIATIONS) text = text.replace(short, long)
  return text
}

/** Distinct terms of a question, and the facets that its words ask for. */
export function subjectOf(question: string): { terms: Map<string, SubjectTerm>; facets: Facet[] } {
  const terms = new Map<string, SubjectTerm>()
  const facets: Facet[] = []
  const senses = (sense: Sense): SubjectTerm => {
    facets.push(...sense.facets)
    return { weight: sense.facets.length > 0 ? WEIGHT_OF_FACET : WEIGHT_OF_EVERYDAY, groups: sense.groups }
  }
  let rest = question
  // Japanese and others are compared by pairs of characters, as they are indexed.
  if (/\p{Script=Han}/u.test(question) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(question)) {
    rest = question.replace(/\p{Script=Han}+/gu, (run) => {
      const { senses: found, between } = cutChinese(run)
      for (const sense of found) terms.set(`#${sense.groups.join('#')}`, senses(sense))
      for (const part of between)
        for (const piece of piecesOf(part)) terms.set(piece, { weight: WEIGHT_OF_SUBJECT, groups: [] })
      return ' '
    })
  }
  const isEnglish = soundsEnglish(rest)
  const words = isEnglish ? [] : compoundsOf(rest)
  for (const term of [...comparedTerms(rest), ...words.flat()]) {
    if (words.some(([whole]) => whole === term)) continue
    const sense = isEnglish || everydayGroups(term).length > 0 ? undefined : senseOf(term)
    if (sense !== undefined) terms.set(term, senses(sense))
    else terms.set(term, { weight: weightOf(term), groups: everydayGroups(term) })
  }
  return { terms, facets }
}

/** Compound words of a question, each followed by its parts. */
function compoundsOf(question: string): string[][] {
  const words = foldAccents(question.toLowerCase()).match(/[\p{L}]{9,}/gu) ?? []
  return words.flatMap((word) => {
    if (senseOf(word) !== undefined) return []
    const [term] = comparedTerms(word)
    const parts = partsOf(word)
    return term === undefined || parts === undefined ? [] : [[term, ...parts]]
  })
}

/** Pairs of characters of a run, or the only one. */
function piecesOf(run: string): string[] {
  if (run.length < 3) return [run]
  return Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2))
}

function weightOf(term: string): number {
  if (FACET_WORDS.has(term)) return WEIGHT_OF_FACET
  if (isFiller(term) || isForeignFiller(term)) return WEIGHT_OF_FILLER
  return everydayGroups(term).length > 0 ? WEIGHT_OF_EVERYDAY : WEIGHT_OF_SUBJECT
}
