import { type Candidate, type Question, type ReadSigns, readSigns, type TermSigns, weightOf } from './candidates.js'

/**
 * What each sign says for a sentence, in logits. Fitted on the tuning halves of SQuAD2 and CMRC together, so that the
 * sentence with the gold answer is the likeliest of its question's, and rounded (bench/meaning/fit-answers.ts);
 * `concludes` and `lists` are set by hand, as neither set asks for conclusions or has lists.
 */
export const WEIGHTS: Readonly<Record<Weighed, number>> = {
  covered: 7.9,
  near: 3.9,
  before: 1.9,
  follows: 0.9,
  titled: 4.9,
  passage: 3.1,
  adjacent: 0.6,
  exact: 2.4,
  named: 1.7,
  mentioned: 1.4,
  loose: 0.2,
  rank: 1.9,
  opens: 0.4,
  concludes: 1.5,
  lists: 2,
}
/** Signs as they are weighed: what kind of answer is held says more the less often sentences hold one by chance. */
export type Weighed = keyof TermSigns | Exclude<keyof ReadSigns, 'typed'> | 'exact' | 'mentioned' | 'loose'

/** Overlapping pairs of characters match less often by far: of the same logits more follows. */
const UNSPACED_SHARPNESS = 1.35
/** Candidates that are read; by their words alone the others are too far behind. */
const READ = 12
/** Sentences are told until one of them answers with this probability, … */
const SURE = 0.65
/** … but at most so many, and none that is less likely than this. */
const MAX_SENTENCES = 3
const LEAST = 0.05
/** Of a question of several parts, a sentence for what the best leaves open comes this near to the best, in logits, … */
const NEAR_BEST = 3
/** … holds this much of the question that they do not, … */
const NEW_COVERAGE = 0.25
/** … and with its title this much in all, or it speaks of something else. */
const OWN_COVERAGE = 0.5

/** A question that may ask for several things at once. */
const PARTS = /[,;、，；]|(?<!\p{L})(?:and|und|sowie|et|y)(?!\p{L})|和|以及|与/u

const EXACT: ReadonlySet<string> = new Set(['time', 'number', 'percent', 'money', 'duration'])
const MENTIONED: ReadonlySet<string> = new Set(['person', 'place'])

/** The weight under which an answer of the question's kind counts. */
export function typedAs({ type }: Question): 'exact' | 'mentioned' | 'loose' {
  return EXACT.has(type) ? 'exact' : MENTIONED.has(type) ? 'mentioned' : 'loose'
}

interface Scored {
  candidate: Candidate
  logit: number
  /** as `concludes` of its signs */
  conclusion: number
}

/**
 * The sentences to answer with, the best one first: alone where it is sure, else with those next to it; of a question of
 * several parts, with what it leaves open before those. Probabilities are a softmax over the candidates.
 */
export function choose(question: Question, candidates: readonly Candidate[]): Candidate[] {
  const compared = aboutItsNames(candidates)
    .map((candidate) => ({ candidate, logit: byTerms(candidate.signs), conclusion: 0 }))
    .sort(byLogit)
  const sharpness = question.isUnspaced ? UNSPACED_SHARPNESS : 1
  const read = compared.slice(0, READ).map(({ candidate, logit }) => {
    const signs = readSigns(question, candidate)
    return { candidate, logit: sharpness * (logit + byReading(question, signs)), conclusion: signs.concludes }
  })
  const ordered = read.sort(byLogit)
  const likely = withoutBackground(likeliest(ordered))
  if (!PARTS.test(question.text)) return likely
  const best = likely.slice(0, 1)
  return [...new Set([...best, ...complements(question, ordered, best), ...likely])].slice(0, MAX_SENTENCES)
}

/** Passages that mention none of the question's names give way to those that do. */
function aboutItsNames(candidates: readonly Candidate[]): readonly Candidate[] {
  const about = candidates.filter(({ signs }) => signs.named > 0)
  return about.length === 0 ? candidates : about
}

/** Beside a conclusion what was known before says nothing. */
function withoutBackground(chosen: readonly Scored[]): Candidate[] {
  const concludes = chosen.some(({ conclusion }) => conclusion > 0)
  return chosen.filter(({ conclusion }) => !concludes || conclusion >= 0).map(({ candidate }) => candidate)
}

function byLogit(a: Scored, b: Scored): number {
  return b.logit - a.logit || a.candidate.evidenceIndex - b.candidate.evidenceIndex
}

function byTerms(signs: TermSigns): number {
  let logit = 0
  for (const name of BY_TERMS) logit += WEIGHTS[name] * signs[name]
  return logit
}

function byReading(question: Question, { typed, follows, concludes }: ReadSigns): number {
  return WEIGHTS[typedAs(question)] * typed + WEIGHTS.follows * follows + WEIGHTS.concludes * concludes
}

const BY_TERMS = [
  'covered',
  'near',
  'before',
  'titled',
  'passage',
  'adjacent',
  'named',
  'rank',
  'opens',
  'lists',
] as const

function likeliest(ordered: readonly Scored[]): Scored[] {
  const best = ordered[0]?.logit ?? 0
  const total = ordered.reduce((sum, { logit }) => sum + Math.exp(logit - best), 0)
  const chosen: Scored[] = []
  let sum = 0
  for (const scored of ordered) {
    const share = Math.exp(scored.logit - best) / total
    if (chosen.length >= MAX_SENTENCES || (chosen.length > 0 && (sum >= SURE || share < LEAST))) break
    sum += share
    // overlapping passages hold the same sentence
    if (chosen.every(({ candidate }) => candidate.text !== scored.candidate.text)) chosen.push(scored)
  }
  return chosen
}

function complements(question: Question, ordered: readonly Scored[], chosen: readonly Candidate[]): Candidate[] {
  const [best] = ordered
  const held = new Set(chosen.flatMap((candidate) => [...candidate.held]))
  const more: Candidate[] = []
  for (const { candidate, logit } of ordered) {
    if (chosen.length + more.length >= MAX_SENTENCES || logit < (best?.logit ?? 0) - NEAR_BEST) break
    if (chosen.includes(candidate) || candidate.covered < OWN_COVERAGE) continue
    const added = [...candidate.held].filter((term) => !held.has(term))
    if (weightOf(question.weights, added) < NEW_COVERAGE * question.total) continue
    more.push(candidate)
    for (const term of added) held.add(term)
  }
  return more
}
