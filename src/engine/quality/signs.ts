import { forEachTerm } from '../../lib/text/analyze.js'
import { splitSentences } from '../../lib/text/sentences.js'

/** A term that may replace a term of the question. */
export interface Variant {
  term: string
  /** how much it means the same, 0 to 1 */
  strength: number
}

/** A term of the question, with its replacements in the space. */
export interface AskedTerm {
  term: string
  /** rarity, above 0 */
  weight: number
  variants: readonly Variant[]
}

/** A passage of the wide search. */
export interface Candidate {
  id: string
  title: string
  body: string
  /** of its vector with the question's; absent without vectors */
  cosine?: number
}

/** A candidate compared with the question; fractions are of the question's weight, 0 to 1. */
export interface Compared extends Candidate {
  share: number
  /** largest fraction of one sentence together with the title */
  sentenceShare: number
  /** the sentence that contains most of the question */
  sentence: string
}

/** Compares candidates with the question: exact terms count in full, variants by their strength. Best first. */
export function compareAll(asked: readonly AskedTerm[], candidates: readonly Candidate[]): Compared[] {
  const worth = worthOfTerms(asked)
  const total = asked.reduce((sum, { weight }) => sum + weight, 0)
  const compared = candidates.map((candidate): Compared => {
    const inTitle = valuesIn(candidate.title, worth, asked.length)
    const whole = inTitle.slice()
    let best = share(inTitle, asked, total)
    let sentence = ''
    for (const { start, end } of splitSentences(candidate.body)) {
      const text = candidate.body.slice(start, end)
      const values = valuesIn(text, worth, asked.length)
      for (const [at, value] of values.entries()) whole[at] = Math.max(whole[at] ?? 0, value)
      const together = share(
        values.map((value, at) => Math.max(value, inTitle[at] ?? 0)),
        asked,
        total,
      )
      if (together > best || sentence === '') {
        best = Math.max(best, together)
        sentence = text
      }
    }
    return { ...candidate, share: share(whole, asked, total), sentenceShare: best, sentence }
  })
  return compared.sort((a, b) => b.share + b.sentenceShare - a.share - a.sentenceShare || (a.id < b.id ? -1 : 1))
}

/** Maps each term of a text to the terms of the question that it matches, with the strength. */
function worthOfTerms(asked: readonly AskedTerm[]): ReadonlyMap<string, readonly (readonly [number, number])[]> {
  const worth = new Map<string, [number, number][]>()
  const note = (term: string, at: number, strength: number): void => {
    const known = worth.get(term) ?? []
    known.push([at, strength])
    worth.set(term, known)
  }
  for (const [at, { term, variants }] of asked.entries()) {
    note(term, at, 1)
    for (const variant of variants) note(variant.term, at, variant.strength)
  }
  return worth
}

function valuesIn(
  text: string,
  worth: ReadonlyMap<string, readonly (readonly [number, number])[]>,
  size: number,
): number[] {
  const values = new Array<number>(size).fill(0)
  forEachTerm(text, (term) => {
    for (const [at, strength] of worth.get(term) ?? []) values[at] = Math.max(values[at] ?? 0, strength)
  })
  return values
}

function share(values: readonly number[], asked: readonly AskedTerm[], total: number): number {
  if (total === 0) return 0
  return values.reduce((sum, value, at) => sum + value * (asked[at]?.weight ?? 0), 0) / total
}
