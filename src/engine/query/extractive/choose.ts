import { type Candidate, type Question, type Signs, weightOf } from './candidates.js'

/**
 * What each sign says for a sentence, in logits. Fitted on the tuning halves of SQuAD2 and CMRC together, so that the
 * sentence with the gold answer is the likeliest of its question's, and rounded (bench/meaning/fit-answers.ts);
 * `concludes` is set by hand, as neither set asks for conclusions.
 */
export const WEIGHTS: Readonly<Record<Weighed, number>> = {
  ...{ covered: 7.9, near: 3.9, before: 1.9, follows: 0.9, titled: 4.9, passage: 3.1, adjacent: 0.6 },
  ...{ exact: 2.4, named: 1.7, mentioned: 1.4, loose: 0.2, rank: 1.9, opens: 0.4, concludes: 1 },
}
/** Signs as they are weighed: what kind of answer is held says more the less often sentences hold one by chance. */
export type Weighed = Exclude<keyof Signs, 'typed'> | 'exact' | 'mentioned' | 'loose'

/** Overlapping pairs of characters match less often by far: of the same logits more follows. */
const UNSPACED_SHARPNESS = 1.35
/** Sentences are told until one of them answers with this probability, … */
const SURE = 0.65
/** … but at most so many, and none that is less likely than this. */
const MAX_SENTENCES = 3
const LEAST = 0.05
/** A sentence for what the others leave open comes this near to the best, in logits, … */
const NEAR_BEST = 3
/** … holds this much of the question that they do not, … */
const NEW_COVERAGE = 0.25
/** … and with its title this much in all, or it speaks of something else. */
const OWN_COVERAGE = 0.5

const EXACT: ReadonlySet<string> = new Set(['time', 'number', 'percent', 'money', 'duration'])
const MENTIONED: ReadonlySet<string> = new Set(['person', 'place'])

/** Signs of a candidate under the names of their weights. */
export function weighed({ type }: Question, { typed, ...signs }: Signs): Record<Weighed, number> {
  const kind = EXACT.has(type) ? 'exact' : MENTIONED.has(type) ? 'mentioned' : 'loose'
  return { ...signs, exact: 0, mentioned: 0, loose: 0, [kind]: typed }
}

interface Scored {
  candidate: Candidate
  logit: number
}

/**
 * The sentences to answer with, likeliest first: the best one alone where it is sure, else those next to it; then one
 * for what they leave open. Probabilities are a softmax over the candidates.
 */
export function choose(question: Question, candidates: readonly Candidate[]): Candidate[] {
  const ordered = aboutItsNames(candidates)
    .map((candidate) => ({ candidate, logit: logitOf(question, candidate) }))
    .sort((a, b) => b.logit - a.logit || a.candidate.evidenceIndex - b.candidate.evidenceIndex)
  const chosen = likeliest(ordered)
  return [...chosen, ...complements(question, ordered, chosen)]
}

/** Passages that mention none of the question's names give way to those that do. */
function aboutItsNames(candidates: readonly Candidate[]): readonly Candidate[] {
  const about = candidates.filter(({ signs }) => signs.named > 0)
  return about.length === 0 ? candidates : about
}

function logitOf(question: Question, { signs }: Candidate): number {
  const values = weighed(question, signs)
  let logit = 0
  for (const name of NAMES) logit += WEIGHTS[name] * values[name]
  return question.isUnspaced ? UNSPACED_SHARPNESS * logit : logit
}

const NAMES: readonly Weighed[] = [
  ...(['covered', 'near', 'before', 'follows', 'titled', 'passage', 'adjacent'] as const),
  ...(['exact', 'named', 'mentioned', 'loose', 'rank', 'opens', 'concludes'] as const),
]

function likeliest(ordered: readonly Scored[]): Candidate[] {
  const [best] = ordered
  if (best === undefined) return []
  const shares = ordered.map(({ logit }) => Math.exp(logit - best.logit))
  const total = shares.reduce((sum, share) => sum + share, 0)
  const chosen: Candidate[] = []
  let sum = 0
  for (const [place, { candidate }] of ordered.entries()) {
    const share = (shares[place] ?? 0) / total
    if (chosen.length >= MAX_SENTENCES || (chosen.length > 0 && (sum >= SURE || share < LEAST))) break
    sum += share
    // overlapping passages hold the same sentence
    if (chosen.every(({ text }) => text !== candidate.text)) chosen.push(candidate)
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
