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

/** A question as it is compared with others. */
export interface Meaning {
  facets: readonly Facet[]
  /** distinct terms of the subject */
  terms: ReadonlyMap<string, SubjectTerm>
  /** groups of everyday words that its terms stand in */
  groups: ReadonlySet<number>
  /** names and codes in lower case: what tells one subject from its sibling */
  names: ReadonlySet<string>
  /** years and other numbers */
  numbers: ReadonlySet<string>
  /** its words as they stand there, grammar too; of Chinese and its kin the characters */
  words: ReadonlySet<string>
  /** on which sides of opposites it stands */
  sides: ReadonlyMap<number, -1 | 1>
  negated: boolean
  /** that it is in, where its words tell */
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

/** @param pointed sentences of its space that the question points to; nothing where that is not known */
export function meaningOf(question: string, pointed = NOWHERE): Meaning {
  const written = writtenOut(question)
  const plain = written.replace(/\p{L}+/gu, (word) => ORDINALS.get(word.toLowerCase()) ?? word)
  const codes = [...plain.matchAll(CODE)].map(([code]) => code)
  const named = namesIn(question).flatMap(({ distinctive }) => distinctive.map((name) => writtenOut(name)))
  const names = new Set([...codes, ...named].flatMap((name) => comparedTerms(name)))
  const { terms, facets } = subjectOf(plain)
  for (const name of names) terms.set(name, { weight: WEIGHT_OF_NAME, groups: terms.get(name)?.groups ?? [] })
  const sides = sidesOf(written)
  // until when something is open is when it closes: the side stands for the word
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
 * What a term that only one of two questions has counts against them, where the other has such a term as well. An everyday
 * word without a synonym over there is known to mean something else; another word may be a synonym that nobody knows of.
 */
const OTHER_EVERYDAY = 0.7
const OTHER_SUBJECT = 0.25
/** What stands for a term counts, of what the same term does. */
const SYNONYM = 0.9
const LOOKALIKE = 0.8
const PART = 0.7
const CHARACTER = 0.5

/** What tells two questions from each other, or shows that they are one. */
interface PairSigns {
  /** weight of the terms that both have in some form, by Dice's coefficient, 0 to 1 */
  shared: number
  /** of the question that the other holds more of, how much that is, 0 to 1: keywords stand whole in a long question */
  within: number
  /** what each asks and the other does not, 0 to 1: of one alone it is detail, of both it is another question */
  apart: number
  /** the same of words that the space has: it would call one thing by one of them */
  heldApart: number
  /** one thing put for another in the same sentence, 0 to 1: who says something in other words changes more than one */
  swapped: number
  /** how far they point to the same sentences, 0 to 1 */
  together: number
  /** both point to sentences */
  bothPoint: boolean
  /** they want to know the same; undefined where one does not say what */
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
 * What the signs say for two questions being one, in logits: at 0 they are as likely one as not. Chosen on the tuning
 * questions of the bench, for few wrong clusters first: one for questions that both point to sentences, one for words
 * alone.
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
/** Two questions that want to know different things, or of which one denies what the other asks. */
const OTHER_QUESTION = -4.5
const NEVER = -9

/** How far two questions ask the same, in logits; from 0 on they do. */
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

/** Two questions of which one denies are two where they share so much: nothing else is left that tells them apart. */
const NEGATED_ALIKE = 0.6

/** Whether two questions can be one: they name nothing that tells them apart, nor opposites. */
export function canBeOne(one: Meaning, other: Meaning): boolean {
  if (one.language !== other.language && one.language !== undefined && other.language !== undefined) return false
  return !namesDiffer(one, other) && !numbersDiffer(one, other) && !areOpposed(one.sides, other.sides)
}

interface Held {
  /** weight of the terms that the other question has in some form */
  held: number
  /** what the rest of its subject counts against both, and of that what the space has words for */
  left: number
  leftHeld: number
  /** weight of the rest of its subject */
  loose: number
  total: number
}

/** Of one question's terms: the weight that another has too, and what the rest of its subject counts against both. */
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

/** Jaccard's coefficient. */
function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let both = 0
  for (const word of one) if (other.has(word)) both++
  return both / Math.max(1, one.size + other.size - both)
}

/** Both name something, and neither all that the other does. */
function namesDiffer({ names: one, terms: ones }: Meaning, { names: other, terms: others }: Meaning): boolean {
  const lacks = (some: ReadonlySet<string>, held: ReadonlyMap<string, unknown>) =>
    [...some].some((name) => !held.has(name) && ![...held.keys()].some((term) => looksLike(term, name)))
  return one.size > 0 && other.size > 0 && lacks(one, others) && lacks(other, ones)
}

/** Both have numbers, and other ones. */
function numbersDiffer({ numbers: one }: Meaning, { numbers: other }: Meaning): boolean {
  return one.size > 0 && other.size > 0 && [...one].every((number) => !other.has(number))
}
