import { omitUndefined } from '../../../lib/omit-undefined.js'
import { foldAccents } from '../../../lib/text/fold.js'
import type { Language } from '../../../lib/text/languages.js'
import { findNames } from '../query/names/question-names.js'
import type { Facet } from '../query/question/facets.js'
import { toComparedTerms } from './compared-terms.js'
import { areOpposed, findSides, isNegated, isOnAxis } from './opposites.js'
import { computePointedOverlap, KNOWN_TERM_PREFIX, type PointedSentences } from './pointed.js'
import { detectQuestionLanguage } from './same-language.js'
import { isPart, looksLike, sharesCharacter } from './spelling.js'
import { analyzeSubject, EVERYDAY_WEIGHT, expandAbbreviations, type SubjectTerm } from './subject-terms.js'
import { findWantedFacets, haveSameFacets } from './wanted-facets.js'

/** A question, prepared for comparison with others. */
export interface QuestionMeaning {
  facets: readonly Facet[]
  /** distinct terms of the subject */
  terms: ReadonlyMap<string, SubjectTerm>
  /** groups of everyday words that its terms belong to */
  groups: ReadonlySet<number>
  /** names and codes in lower case: they distinguish one subject from a similar one */
  names: ReadonlySet<string>
  /** years and other numbers */
  numbers: ReadonlySet<string>
  /** its words as written, including grammar; characters in Chinese and related scripts */
  words: ReadonlySet<string>
  /** sides of opposites that it contains, by axis */
  sides: ReadonlyMap<number, -1 | 1>
  negated: boolean
  /** language, when its words show it */
  language: Language | undefined
  /** sentences of the space that it points to */
  pointed: PointedSentences
}

const NAME_WEIGHT = 1.5

/** A word with a digit. */
const CODE = /(?<![\p{Script=Latin}\p{N}])(?=[\p{Script=Latin}-]*\p{N})[\p{Script=Latin}\p{N}-]+/gu
const NUMBER = /^\d+$/u
const ORDINALS = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ').map((word, i) => [word, `${i + 1}`]),
)

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu
const NO_POINTED: PointedSentences = new Map()

/** Analyses a question. @param pointed sentences of its space that the question points to; empty when unknown */
export function toMeaning(question: string, pointed = NO_POINTED): QuestionMeaning {
  const written = expandAbbreviations(question)
  const plain = written.replace(/\p{L}+/gu, (word) => ORDINALS.get(word.toLowerCase()) ?? word)
  const codes = [...plain.matchAll(CODE)].map(([code]) => code)
  const named = findNames(question).flatMap(({ distinctive }) => distinctive.map((name) => expandAbbreviations(name)))
  const names = new Set([...codes, ...named].flatMap((name) => toComparedTerms(name)))
  const { terms, facets } = analyzeSubject(plain)
  for (const name of names) terms.set(name, { weight: NAME_WEIGHT, groups: terms.get(name)?.groups ?? [] })
  const sides = findSides(written)
  // A question until when something is open asks when it closes: the side replaces the word.
  for (const [axis, side] of sides) {
    for (const term of terms.keys()) if (isOnAxis(axis, term)) terms.delete(term)
    terms.set(`${side} ${axis}`, { weight: EVERYDAY_WEIGHT, groups: [] })
  }
  const wantedFacets = findWantedFacets(written)
  return {
    facets: wantedFacets.length > 0 ? wantedFacets : [...new Set(facets)],
    terms,
    names,
    pointed,
    groups: new Set([...terms.values()].flatMap(({ groups }) => groups)),
    numbers: new Set([...names].filter((name) => NUMBER.test(name))),
    words: new Set(foldAccents(question.toLowerCase()).match(WORD) ?? []),
    sides,
    negated: isNegated(written),
    language: detectQuestionLanguage(question),
  }
}

/**
 * Cost of a term that only one question has, when the other one has such a term as well. An everyday word without a
 * synonym in the other question means something else; any other word may be an unknown synonym.
 */
const EVERYDAY_MISMATCH_COST = 0.7
const SUBJECT_MISMATCH_COST = 0.25
/** Weight of a match in another form, relative to the same term. */
const SYNONYM_WEIGHT = 0.9
const LOOKALIKE_WEIGHT = 0.8
const PART_WEIGHT = 0.7
const CHARACTER_WEIGHT = 0.5

/** Features of a pair of questions: what distinguishes them, or shows that they ask the same. */
interface PairFeatures {
  /** weight of the terms that both have in some form, as a Dice coefficient, 0 to 1 */
  shared: number
  /**
   * fraction of the better-covered question that the other contains, 0 to 1: keywords are fully contained in a long
   * question
   */
  containment: number
  /** cost of the terms that each has and the other lacks, 0 to 1: extra terms of only one are detail */
  mismatch: number
  /** the same for terms that the space contains: it uses one term for one thing */
  knownMismatch: number
  /** likeness of the other words when a term is replaced, 0 to 1: a paraphrase changes more than one word */
  replaced: number
  /** overlap of the sentences that they point to, 0 to 1 */
  pointedOverlap: number
  /** whether both point to sentences */
  bothPoint: boolean
  /** whether they ask for the same facet; absent when one does not show its facet */
  sameFacet?: boolean
}

function computePairFeatures(one: QuestionMeaning, other: QuestionMeaning): PairFeatures {
  const forth = compareTerms(one, other)
  const back = compareTerms(other, one)
  const total = Math.max(Number.MIN_VALUE, forth.total + back.total)
  const sameFacet = haveSameFacets(one.facets, other.facets)
  return {
    shared: (forth.matched + back.matched) / total,
    containment: Math.max(forth.matched / (forth.total || 1), back.matched / (back.total || 1)),
    mismatch: (2 * Math.min(forth.mismatchCost, back.mismatchCost)) / total,
    knownMismatch: (2 * Math.min(forth.knownMismatchCost, back.knownMismatchCost)) / total,
    replaced: computeJaccard(one.words, other.words) * Math.min(1, forth.unmatched, back.unmatched),
    pointedOverlap: computePointedOverlap(one.pointed, other.pointed),
    bothPoint: one.pointed.size > 0 && other.pointed.size > 0,
    ...omitUndefined({ sameFacet }),
  }
}

/**
 * Weights of the features, in logits, for two questions asking the same: at 0 it is as likely as not. Chosen on the
 * tuning questions of the bench, primarily for few wrong clusters: one model for questions that both point to
 * sentences, one for words only.
 */
const POINTING_MODEL = {
  base: -3.2,
  shared: 3.5,
  containment: 1.5,
  mismatch: -2,
  knownMismatch: -2,
  replaced: -6,
  pointedOverlap: 5,
  overlapTimesContainment: -2,
  sameFacet: 2,
}
const WORDS_MODEL = {
  base: -3.8,
  shared: 4.5,
  containment: 2,
  mismatch: -1,
  knownMismatch: 0,
  replaced: -7,
  pointedOverlap: 0,
  overlapTimesContainment: 0,
  sameFacet: 2,
}
/** Likeness of two questions that ask for different facets, or of which one denies what the other asks. */
const OTHER_QUESTION_LOGIT = -4.5
const NEVER_LOGIT = -9

/** How much two questions ask the same, in logits; they do from 0 on. */
export function computeLikeness(one: QuestionMeaning, other: QuestionMeaning): number {
  if (!mayAskSame(one, other)) return NEVER_LOGIT
  const features = computePairFeatures(one, other)
  if (features.sameFacet === false) return OTHER_QUESTION_LOGIT
  if (one.negated !== other.negated && features.shared > MAX_NEGATED_SHARED) return OTHER_QUESTION_LOGIT
  const model = features.bothPoint ? POINTING_MODEL : WORDS_MODEL
  return (
    model.base +
    model.shared * features.shared +
    model.containment * features.containment +
    model.mismatch * features.mismatch +
    model.knownMismatch * features.knownMismatch +
    model.replaced * features.replaced +
    model.pointedOverlap * features.pointedOverlap +
    model.overlapTimesContainment * features.pointedOverlap * features.containment +
    (features.sameFacet === true ? model.sameFacet : 0)
  )
}

/** Two questions of which one is negated are different when they share this much: nothing else distinguishes them. */
const MAX_NEGATED_SHARED = 0.6

/** Whether two questions may ask the same: they contain no different names or numbers and no opposites. */
export function mayAskSame(one: QuestionMeaning, other: QuestionMeaning): boolean {
  if (one.language !== other.language && one.language !== undefined && other.language !== undefined) return false
  return !doNamesDiffer(one, other) && !doNumbersDiffer(one, other) && !areOpposed(one.sides, other.sides)
}

interface TermComparison {
  /** weight of the terms that the other question has in some form */
  matched: number
  /** cost of the other terms of its subject, and the part of it for words that the space contains */
  mismatchCost: number
  knownMismatchCost: number
  /** weight of the other terms of its subject */
  unmatched: number
  total: number
}

/** Compares the terms of one question with those of another. */
function compareTerms(one: QuestionMeaning, other: QuestionMeaning): TermComparison {
  const sums: TermComparison = { matched: 0, mismatchCost: 0, knownMismatchCost: 0, unmatched: 0, total: 0 }
  for (const [term, { weight: plain, groups }] of one.terms) {
    const spaceWeight = one.pointed.get(KNOWN_TERM_PREFIX + term)
    const weight = plain * (spaceWeight ?? 1)
    const matchedWeight = weight * computeTermLikeness(term, groups, other)
    sums.matched += matchedWeight
    sums.total += weight
    if (plain < EVERYDAY_WEIGHT) continue
    sums.unmatched += weight - matchedWeight
    sums.mismatchCost += (weight - matchedWeight) * (groups.length > 0 ? EVERYDAY_MISMATCH_COST : SUBJECT_MISMATCH_COST)
    if (spaceWeight !== undefined) sums.knownMismatchCost += weight - matchedWeight
  }
  return sums
}

function computeTermLikeness(term: string, mine: readonly number[], { terms, groups }: QuestionMeaning): number {
  if (terms.has(term)) return 1
  if (mine.some((group) => groups.has(group))) return SYNONYM_WEIGHT
  let best = 0
  for (const candidate of terms.keys()) {
    if (looksLike(term, candidate)) return LOOKALIKE_WEIGHT
    if (best < PART_WEIGHT && isPart(term, candidate)) best = PART_WEIGHT
    else if (best < CHARACTER_WEIGHT && sharesCharacter(term, candidate)) best = CHARACTER_WEIGHT
  }
  return best
}

/** Jaccard coefficient. */
function computeJaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let both = 0
  for (const word of one) if (other.has(word)) both++
  return both / Math.max(1, one.size + other.size - both)
}

/** Both contain names, and each has one that the other lacks. */
function doNamesDiffer(
  { names: one, terms: ones }: QuestionMeaning,
  { names: other, terms: others }: QuestionMeaning,
): boolean {
  const lacks = (names: ReadonlySet<string>, available: ReadonlyMap<string, unknown>) =>
    [...names].some((name) => !available.has(name) && ![...available.keys()].some((term) => looksLike(term, name)))
  return one.size > 0 && other.size > 0 && lacks(one, others) && lacks(other, ones)
}

/** Both contain numbers, and different ones. */
function doNumbersDiffer({ numbers: one }: QuestionMeaning, { numbers: other }: QuestionMeaning): boolean {
  return one.size > 0 && other.size > 0 && [...one].every((number) => !other.has(number))
}
