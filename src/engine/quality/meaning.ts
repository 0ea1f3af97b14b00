import { analyzeContent } from '../../lib/text/analyze.js'
import { namesIn } from '../query/extractive/question-names.js'
import { type Facet, facetsAgree, facetsOf } from '../query/question/facets.js'
import { comparedTerms } from './compared-terms.js'
import { everydayGroups, isFiller } from './everyday-words.js'
import { overlapOf, type Pointed } from './pointed.js'
import { looksLike } from './spelling.js'

/** A question as it is compared with others. */
export interface Meaning {
  facets: readonly Facet[]
  /** distinct terms of the subject, with what each weighs */
  terms: ReadonlyMap<string, number>
  /** groups of everyday words that its terms stand in */
  groups: ReadonlySet<number>
  /** names, codes and numbers in lower case: what tells one subject from its sibling */
  names: ReadonlySet<string>
  /** sentences of the space that it points to */
  pointed: Pointed
}

/** Words that say what is wanted and not of what: the facet holds them. */
const FACET_WORDS = new Set(
  analyzeContent(
    'much many long often frequently price cost fee charge fare number amount step procedure process reason cause ' +
      'person place location address time year date day month hour deadline interval duration length function role ' +
      'steps times hours made maximum limit period responsible contact possible allowed part minute metre way set',
  ),
)
const WEIGHT_OF_SUBJECT = 1
const WEIGHT_OF_EVERYDAY = 0.7
const WEIGHT_OF_FACET = 0.25
const WEIGHT_OF_FILLER = 0.1
const WEIGHT_OF_NAME = 1.5

/** A word with a digit. */
const CODE = /(?<![\p{L}\p{N}])(?=[\p{L}-]*\p{N})[\p{L}\p{N}-]+/gu
const ORDINALS = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ').map((word, at) => [word, `${at + 1}`]),
)

const NOWHERE: Pointed = new Map()

/** @param pointed sentences of its space that the question points to; nothing where that is not known */
export function meaningOf(question: string, pointed = NOWHERE): Meaning {
  const plain = question.replace(/\p{L}+/gu, (word) => ORDINALS.get(word.toLowerCase()) ?? word)
  const codes = [...plain.matchAll(CODE)].map(([code]) => code)
  const named = namesIn(question).flatMap(({ distinctive }) => distinctive)
  const names = new Set([...codes, ...named].flatMap((name) => comparedTerms(name)))
  const terms = new Map<string, number>()
  for (const term of comparedTerms(plain)) terms.set(term, names.has(term) ? WEIGHT_OF_NAME : weightOf(term))
  const groups = new Set([...terms.keys()].flatMap((term) => everydayGroups(term)))
  return { facets: facetsOf(question), terms, groups, names, pointed }
}

function weightOf(term: string): number {
  if (FACET_WORDS.has(term)) return WEIGHT_OF_FACET
  if (isFiller(term)) return WEIGHT_OF_FILLER
  return everydayGroups(term).length > 0 ? WEIGHT_OF_EVERYDAY : WEIGHT_OF_SUBJECT
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

/** What tells two questions from each other, or shows that they are one. */
interface PairSigns {
  /** weight of the terms that both have in some form, by Dice's coefficient, 0 to 1 */
  shared: number
  /** what each asks and the other does not, 0 to 1: of one alone it is detail, of both it is another question */
  apart: number
  /** how far they point to the same sentences, 0 to 1 */
  together: number
  /** both point to sentences */
  bothPoint: boolean
  /** they want to know the same; undefined where one does not say what */
  sameFacet?: boolean
}

function signsOf(one: Meaning, other: Meaning): PairSigns {
  const total = Math.max(Number.MIN_VALUE, sum(one.terms.values()) + sum(other.terms.values()))
  const forth = heldBy(one, other)
  const back = heldBy(other, one)
  const told = one.facets.length > 0 && other.facets.length > 0
  return {
    shared: (forth.held + back.held) / total,
    apart: (2 * Math.min(forth.left, back.left)) / total,
    together: overlapOf(one.pointed, other.pointed),
    bothPoint: one.pointed.size > 0 && other.pointed.size > 0,
    ...(told ? { sameFacet: facetsAgree(one.facets, other.facets) } : {}),
  }
}

/**
 * What the signs say for two questions being one, in logits: at 0 they are as likely one as not. Where both point to
 * sentences, a logistic model, fitted on the tuning half of the bench's questions and rounded; where one does not, words
 * alone decide, and what is wanted must not differ.
 */
const POINTING = { base: -2, shared: 3, apart: -4.9, together: 4.7, sameFacet: 1.5, otherFacet: -2.9 }
const BY_WORDS = { from: 0.3, each: 6 }
const NEVER = -9

/** How far two questions ask the same, in logits; from 0 on they do. */
export function likeness(one: Meaning, other: Meaning): number {
  if (namesDiffer(one, other)) return NEVER
  const { shared, apart, together, bothPoint, sameFacet } = signsOf(one, other)
  if (!bothPoint) return sameFacet === false ? NEVER : BY_WORDS.each * (shared - apart - BY_WORDS.from)
  const { base, sameFacet: same, otherFacet } = POINTING
  const wanted = sameFacet === undefined ? 0 : sameFacet ? same : otherFacet
  return base + POINTING.shared * shared + POINTING.apart * apart + POINTING.together * together + wanted
}

/** Whether two questions can be one: they name nothing that tells them apart. */
export function canBeOne(one: Meaning, other: Meaning): boolean {
  return !namesDiffer(one, other)
}

/** Of one question's terms: the weight that another has too, and what the rest of its subject counts against both. */
function heldBy(one: Meaning, other: Meaning): { held: number; left: number } {
  let held = 0
  let left = 0
  for (const [term, weight] of one.terms) {
    const worth = weight * bestLikeness(term, other)
    held += worth
    if (weight < WEIGHT_OF_EVERYDAY) continue
    left += (weight - worth) * (everydayGroups(term).length > 0 ? OTHER_EVERYDAY : OTHER_SUBJECT)
  }
  return { held, left }
}

function bestLikeness(term: string, { terms, groups }: Meaning): number {
  if (terms.has(term)) return 1
  if (everydayGroups(term).some((group) => groups.has(group))) return SYNONYM
  for (const candidate of terms.keys()) if (looksLike(term, candidate)) return LOOKALIKE
  return 0
}

/** Both name something, and neither all that the other does. */
function namesDiffer({ names: one, terms: ones }: Meaning, { names: other, terms: others }: Meaning): boolean {
  const lacks = (some: ReadonlySet<string>, held: ReadonlyMap<string, number>) =>
    [...some].some((name) => !held.has(name) && ![...held.keys()].some((term) => looksLike(term, name)))
  return one.size > 0 && other.size > 0 && lacks(one, others) && lacks(other, ones)
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
