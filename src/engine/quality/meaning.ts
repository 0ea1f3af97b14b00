import { defined } from '../../lib/defined.js'
import { foldAccents } from '../../lib/text/fold.js'
import type { Language } from '../../lib/text/languages.js'
import { namesIn } from '../query/names/question-names.js'
import type { Facet } from '../query/question/facets.js'
import { comparedTerms } from './compared-terms.js'
import { areOpposed, isNegated, isOnAxis, sidesOf } from './opposites.js'
import { HELD, overlapOf, type Pointed } from './pointed.js'
import { toldLanguage } from './same-language.js'
import { isPart, looksLike, sharesCharacter } from './spelling.js'
import { type SubjectTerm, subjectOf, WEIGHT_OF_EVERYDAY, writtenOut } from './subject-terms.js'
import { sameWanted, wantedBy } from './wanted.js'

/** A question, prepared for comparison with others. */
export interface Meaning {
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
  pointed: Pointed
}

const WEIGHT_OF_NAME = 1.5

/** A word with a digit. */
const CODE = /(?<![\p{Script=Latin}\p{N}])(?=[\p{Script=Latin}-]*\p{N})[\p{Script=Latin}\p{N}-]+/gu
const NUMBER = /^\d+$/u
const ORDINALS = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ').map((word, at) => [word, `${at + 1}`]),
)

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu
const NOWHERE: Pointed = new Map()

/** Analyses a question. @param pointed sentences of its space that the question points to; empty when unknown */
export function meaningOf(question: string, pointed = NOWHERE): Meaning {
  const written = writtenOut(question)
  const plain = written.replace(/\p{L}+/gu, (word) => ORDINALS.get(word.toLowerCase()) ?? word)
  const codes = [...plain.matchAll(CODE)].map(([code]) => code)
  const named = namesIn(question).flatMap(({ distinctive }) => distinctive.map((name) => writtenOut(name)))
  const names = new Set([...codes, ...named].flatMap((name) => comparedTerms(name)))
  const { terms, facets } = subjectOf(plain)
  for (const name of names) terms.set(name, { weight: WEIGHT_OF_NAME, groups: terms.get(name)?.groups ?? [] })
  const sides = sidesOf(written)
  // A question until when something is open asks when it closes: the side replaces the word.
  for (const [axis, side] of sides) {
    for (const term of terms.keys()) if (isOnAxis(axis, term)) terms.delete(term)
    terms.set(`${side} ${axis}`, { weight: WEIGHT_OF_EVERYDAY, groups: [] })
  }
  const told = wantedBy(written)
  return {
    facets: told.length > 0 ? told : [...new Set(facets)],
    terms,
    names,
    pointed,
    groups: new Set([...terms.values()].flatMap(({ groups }) => groups)),
    numbers: new Set([...names].filter((name) => NUMBER.test(name))),
    words: new Set(foldAccents(question.toLowerCase()).match(WORD) ?? []),
    sides,
    negated: isNegated(written),
    language: toldLanguage(question),
  }
}

/**
 * Cost of a term that only one question has, when the other one has such a term as well. An everyday word without a
 * synonym in the other question means something else; any other word may be an unknown synonym.
 */
const OTHER_EVERYDAY = 0.7
const OTHER_SUBJECT = 0.25
/** Weight of a match in another form, relative to the same term. */
const SYNONYM = 0.9
const LOOKALIKE = 0.8
const PART = 0.7
const CHARACTER = 0.5

/** Features of a pair of questions: what distinguishes them, or shows that they ask the same. */
interface PairSigns {
  /** weight of the terms that both have in some form, as a Dice coefficient, 0 to 1 */
  shared: number
  /**
   * fraction of the better-covered question that the other contains, 0 to 1: keywords are fully contained in a long
   * question
   */
  within: number
  /** what each asks and the other does not, 0 to 1: in one only it is detail, in both it is another question */
  apart: number
  /** the same for words that the space contains: it would use one of them for one thing */
  heldApart: number
  /** one thing replaced by another in the same sentence, 0 to 1: a paraphrase changes more than one word */
  swapped: number
  /** overlap of the sentences that they point to, 0 to 1 */
  together: number
  /** both point to sentences */
  bothPoint: boolean
  /** they ask for the same facet; undefined when one does not show its facet */
  sameFacet?: boolean
}

function signsOf(one: Meaning, other: Meaning): PairSigns {
  const forth = heldBy(one, other)
  const back = heldBy(other, one)
  const total = Math.max(Number.MIN_VALUE, forth.total + back.total)
  const sameFacet = sameWanted(one.facets, other.facets)
  return {
    shared: (forth.held + back.held) / total,
    within: Math.max(forth.held / (forth.total || 1), back.held / (back.total || 1)),
    apart: (2 * Math.min(forth.left, back.left)) / total,
    heldApart: (2 * Math.min(forth.leftHeld, back.leftHeld)) / total,
    swapped: alike(one.words, other.words) * Math.min(1, forth.loose, back.loose),
    together: overlapOf(one.pointed, other.pointed),
    bothPoint: one.pointed.size > 0 && other.pointed.size > 0,
    ...defined({ sameFacet }),
  }
}

/**
 * Weights of the features, in logits, for two questions asking the same: at 0 it is as likely as not. Chosen on the
 * tuning questions of the bench, primarily for few wrong clusters: one model for questions that both point to
 * sentences, one for words only.
 */
const POINTING = {
  base: -3.2,
  shared: 3.5,
  within: 1.5,
  apart: -2,
  heldApart: -2,
  swapped: -6,
  together: 5,
  togetherWithin: -2,
  sameFacet: 2,
}
const BY_WORDS = {
  base: -3.8,
  shared: 4.5,
  within: 2,
  apart: -1,
  heldApart: 0,
  swapped: -7,
  together: 0,
  togetherWithin: 0,
  sameFacet: 2,
}
/** Likeness of two questions that ask for different facets, or of which one denies what the other asks. */
const OTHER_QUESTION = -4.5
const NEVER = -9

/** How much two questions ask the same, in logits; they do from 0 on. */
export function likeness(one: Meaning, other: Meaning): number {
  if (!canBeOne(one, other)) return NEVER
  const signs = signsOf(one, other)
  if (signs.sameFacet === false) return OTHER_QUESTION
  if (one.negated !== other.negated && signs.shared > NEGATED_ALIKE) return OTHER_QUESTION
  const model = signs.bothPoint ? POINTING : BY_WORDS
  return (
    model.base +
    model.shared * signs.shared +
    model.within * signs.within +
    model.apart * signs.apart +
    model.heldApart * signs.heldApart +
    model.swapped * signs.swapped +
    model.together * signs.together +
    model.togetherWithin * signs.together * signs.within +
    (signs.sameFacet === true ? model.sameFacet : 0)
  )
}

/** Two questions of which one is negated are different when they share this much: nothing else distinguishes them. */
const NEGATED_ALIKE = 0.6

/** Whether two questions may ask the same: they contain no different names or numbers and no opposites. */
export function canBeOne(one: Meaning, other: Meaning): boolean {
  if (one.language !== other.language && one.language !== undefined && other.language !== undefined) return false
  return !namesDiffer(one, other) && !numbersDiffer(one, other) && !areOpposed(one.sides, other.sides)
}

interface Held {
  /** weight of the terms that the other question has in some form */
  held: number
  /** cost of the other terms of its subject, and the part of it for words that the space contains */
  left: number
  leftHeld: number
  /** weight of the other terms of its subject */
  loose: number
  total: number
}

/** Compares the terms of one question with those of another. */
function heldBy(one: Meaning, other: Meaning): Held {
  const sums: Held = { held: 0, left: 0, leftHeld: 0, loose: 0, total: 0 }
  for (const [term, { weight: plain, groups }] of one.terms) {
    const telling = one.pointed.get(HELD + term)
    const weight = plain * (telling ?? 1)
    const worth = weight * bestLikeness(term, groups, other)
    sums.held += worth
    sums.total += weight
    if (plain < WEIGHT_OF_EVERYDAY) continue
    sums.loose += weight - worth
    sums.left += (weight - worth) * (groups.length > 0 ? OTHER_EVERYDAY : OTHER_SUBJECT)
    if (telling !== undefined) sums.leftHeld += weight - worth
  }
  return sums
}

function bestLikeness(term: string, mine: readonly number[], { terms, groups }: Meaning): number {
  if (terms.has(term)) return 1
  if (mine.some((group) => groups.has(group))) return SYNONYM
  let best = 0
  for (const candidate of terms.keys()) {
    if (looksLike(term, candidate)) return LOOKALIKE
    if (best < PART && isPart(term, candidate)) best = PART
    else if (best < CHARACTER && sharesCharacter(term, candidate)) best = CHARACTER
  }
  return best
}

/** Jaccard coefficient. */
function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let both = 0
  for (const word of one) if (other.has(word)) both++
  return both / Math.max(1, one.size + other.size - both)
}

/** Both contain names, and each has one that the other lacks. */
function namesDiffer({ names: one, terms: ones }: Meaning, { names: other, terms: others }: Meaning): boolean {
  const lacks = (some: ReadonlySet<string>, held: ReadonlyMap<string, unknown>) =>
    [...some].some((name) => !held.has(name) && ![...held.keys()].some((term) => looksLike(term, name)))
  return one.size > 0 && other.size > 0 && lacks(one, others) && lacks(other, ones)
}

/** Both contain numbers, and different ones. */
function numbersDiffer({ numbers: one }: Meaning, { numbers: other }: Meaning): boolean {
  return one.size > 0 && other.size > 0 && [...one].every((number) => !other.has(number))
}
