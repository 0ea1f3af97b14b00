import { analyzeContent } from '../../../lib/text/analyze.js'
import { foldAccents } from '../../../lib/text/fold.js'
import type { Facet } from '../query/question/facets.js'
import { toComparedTerms } from './compared-terms.js'
import { findEverydayGroups, isFiller } from './everyday-words.js'
import { hasEnglishWord } from './same-language.js'
import { findSense, isForeignFiller, splitChinese, splitCompound, type WordSense } from './words-of-languages.js'

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
const SUBJECT_WEIGHT = 1
export const EVERYDAY_WEIGHT = 0.7
export const FACET_WEIGHT = 0.25
const FILLER_TERM_WEIGHT = 0.1

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
export function expandAbbreviations(question: string): string {
  let text = question
  for (const [short, long] of ABBREVIATIONS) text = text.replace(short, long)
  return text
}

/** Distinct terms of a question, and the facets that its words ask for. */
export function analyzeSubject(question: string): { terms: Map<string, SubjectTerm>; facets: Facet[] } {
  const terms = new Map<string, SubjectTerm>()
  const facets: Facet[] = []
  const senses = (sense: WordSense): SubjectTerm => {
    facets.push(...sense.facets)
    return { weight: sense.facets.length > 0 ? FACET_WEIGHT : EVERYDAY_WEIGHT, groups: sense.groups }
  }
  let rest = question
  // Japanese and others are compared by pairs of characters, as they are indexed.
  if (/\p{Script=Han}/u.test(question) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(question)) {
    rest = question.replace(/\p{Script=Han}+/gu, (run) => {
      const { senses: found, between } = splitChinese(run)
      for (const sense of found) terms.set(`#${sense.groups.join('#')}`, senses(sense))
      for (const part of between)
        for (const piece of toCharacterPairs(part)) terms.set(piece, { weight: SUBJECT_WEIGHT, groups: [] })
      return ' '
    })
  }
  const isEnglish = hasEnglishWord(rest)
  const words = isEnglish ? [] : findCompounds(rest)
  for (const term of [...toComparedTerms(rest), ...words.flat()]) {
    if (words.some(([compound]) => compound === term)) continue
    const sense = isEnglish || findEverydayGroups(term).length > 0 ? undefined : findSense(term)
    if (sense !== undefined) terms.set(term, senses(sense))
    else terms.set(term, { weight: getTermWeight(term), groups: findEverydayGroups(term) })
  }
  return { terms, facets }
}

/** Compound words of a question, each followed by its parts. */
function findCompounds(question: string): string[][] {
  const words = foldAccents(question.toLowerCase()).match(/[\p{L}]{9,}/gu) ?? []
  return words.flatMap((word) => {
    if (findSense(word) !== undefined) return []
    const [term] = toComparedTerms(word)
    const parts = splitCompound(word)
    return term === undefined || parts === undefined ? [] : [[term, ...parts]]
  })
}

/** Pairs of characters of a run, or the only one. */
function toCharacterPairs(run: string): string[] {
  if (run.length < 3) return [run]
  return Array.from({ length: run.length - 1 }, (_, index) => run.slice(index, index + 2))
}

function getTermWeight(term: string): number {
  if (FACET_WORDS.has(term)) return FACET_WEIGHT
  if (isFiller(term) || isForeignFiller(term)) return FILLER_TERM_WEIGHT
  return findEverydayGroups(term).length > 0 ? EVERYDAY_WEIGHT : SUBJECT_WEIGHT
}
