import { analyzeContent } from '../../lib/text/analyze.js'
import { type Facet, facetsAgree, facetsOf } from '../query/question/facets.js'
import { everydayGroups, isFiller } from './everyday-words.js'

/** A question as it is compared with others. */
export interface Meaning {
  facets: readonly Facet[]
  /** distinct terms of the subject, with what each weighs */
  terms: ReadonlyMap<string, number>
  /** names, codes and numbers in lower case: what tells one subject from its sibling */
  names: ReadonlySet<string>
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

/** A capitalised word inside of a sentence, or a word with a digit. */
const NAME = /(?<=[\p{Ll}\p{N},;:]\s+["“(]?)\p{Lu}[\p{L}\p{N}'’-]+|(?<![\p{L}\p{N}])(?=[\p{L}-]*\p{N})[\p{L}\p{N}-]+/gu
const ORDINALS = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ').map((word, at) => [word, `${at + 1}`]),
)

export function meaningOf(question: string): Meaning {
  const plain = question.replace(/\p{L}+/gu, (word) => ORDINALS.get(word.toLowerCase()) ?? word)
  const names = new Set([...plain.matchAll(NAME)].flatMap(([name]) => analyzeContent(name)))
  const terms = new Map<string, number>()
  for (const term of analyzeContent(plain)) terms.set(term, names.has(term) ? WEIGHT_OF_NAME : weightOf(term))
  return { facets: facetsOf(question), terms, names }
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
/** What an everyday synonym counts, of what the same term does. */
const SYNONYM = 0.9

/** Whether two questions can be one: they want to know the same and name nothing that tells them apart. */
export function canBeOne(one: Meaning, other: Meaning): boolean {
  return facetsAgree(one.facets, other.facets) && !namesDiffer(one, other)
}

/**
 * How far two questions ask the same, 0 to 1: the weight of the terms that both have, or have synonyms for, by Dice's
 * coefficient.
 *
 * @param likeness of two terms by what they occur with in the space, 0 to 1
 */
export function likeness(one: Meaning, other: Meaning, likeTerms: (a: string, b: string) => number = () => 0): number {
  const total = sum(one.terms.values()) + sum(other.terms.values())
  if (total === 0) return 0
  const forth = heldBy(one, other, likeTerms)
  const back = heldBy(other, one, likeTerms)
  // what each asks and the other does not: of one alone it is detail, of both it is another question
  const apart = Math.min(forth.left, back.left)
  return Math.max(0, (forth.held + back.held - 2 * apart) / total)
}

/** Of one question's terms: the weight that another has too, and what the rest of its subject counts against both. */
function heldBy(
  one: Meaning,
  other: Meaning,
  likeTerms: (a: string, b: string) => number,
): { held: number; left: number } {
  let held = 0
  let left = 0
  for (const [term, weight] of one.terms) {
    const worth = weight * bestLikeness(term, other, likeTerms)
    held += worth
    if (weight < WEIGHT_OF_EVERYDAY) continue
    left += (weight - worth) * (everydayGroups(term).length > 0 ? OTHER_EVERYDAY : OTHER_SUBJECT)
  }
  return { held, left }
}

function bestLikeness(term: string, { terms }: Meaning, likeTerms: (a: string, b: string) => number): number {
  if (terms.has(term)) return 1
  const groups = everydayGroups(term)
  let best = 0
  for (const candidate of terms.keys()) {
    const isSynonym = groups.length > 0 && everydayGroups(candidate).some((group) => groups.includes(group))
    best = Math.max(best, isSynonym ? SYNONYM : likeTerms(term, candidate))
  }
  return best
}

/** Both name something, and neither all that the other does. */
function namesDiffer({ names: one, terms: ones }: Meaning, { names: other, terms: others }: Meaning): boolean {
  const lacks = (some: ReadonlySet<string>, held: ReadonlyMap<string, number>) =>
    [...some].some((name) => !held.has(name))
  return one.size > 0 && other.size > 0 && lacks(one, others) && lacks(other, ones)
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
