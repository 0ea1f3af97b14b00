import { forEachTerm } from '../../../lib/text/analyze.js'
import { splitSentences } from '../../../lib/text/sentences.js'

/** A term that may replace a term of the question. */
export interface TermVariant {
  term: string
  /** how much it means the same, 0 to 1 */
  strength: number
}

/** A term of the question, with its replacements in the space. */
export interface TriageTerm {
  term: string
  /** rarity, above 0 */
  weight: number
  variants: readonly TermVariant[]
}

/** A passage of the wide search. */
export interface TriagePassage {
  id: string
  title: string
  body: string
  /** of its vector with the question's; absent without vectors */
  cosine?: number
}

/** A candidate compared with the question; fractions are of the question's weight, 0 to 1. */
export interface ComparedPassage extends TriagePassage {
  share: number
  /** largest fraction of one sentence together with the title */
  sentenceShare: number
  /** the sentence that contains most of the question */
  sentence: string
}

/** Compares candidates with the question: exact terms count in full, variants by their strength. Best first. */
export function comparePassages(
  queryTerms: readonly TriageTerm[],
  candidates: readonly TriagePassage[],
): ComparedPassage[] {
  const strengths = mapTermStrengths(queryTerms)
  const total = queryTerms.reduce((sum, { weight }) => sum + weight, 0)
  const compared = candidates.map((candidate): ComparedPassage => {
    const inTitle = computeTermValues(candidate.title, strengths, queryTerms.length)
    const passageValues = inTitle.slice()
    let best = computeFraction(inTitle, queryTerms, total)
    let sentence = ''
    for (const { start, end } of splitSentences(candidate.body)) {
      const text = candidate.body.slice(start, end)
      const values = computeTermValues(text, strengths, queryTerms.length)
      for (const [at, value] of values.entries()) passageValues[at] = Math.max(passageValues[at] ?? 0, value)
      const together = computeFraction(
        values.map((value, at) => Math.max(value, inTitle[at] ?? 0)),
        queryTerms,
        total,
      )
      if (together > best || sentence === '') {
        best = Math.max(best, together)
        sentence = text
      }
    }
    return { ...candidate, share: computeFraction(passageValues, queryTerms, total), sentenceShare: best, sentence }
  })
  return compared.sort((a, b) => b.share + b.sentenceShare - a.share - a.sentenceShare || (a.id < b.id ? -1 : 1))
}

/** Maps each term of a text to the terms of the question that it matches, with the strength. */
function mapTermStrengths(
  queryTerms: readonly TriageTerm[],
): ReadonlyMap<string, readonly (readonly [number, number])[]> {
  const strengths = new Map<string, [number, number][]>()
  const note = (term: string, at: number, strength: number): void => {
    const known = strengths.get(term) ?? []
    known.push([at, strength])
    strengths.set(term, known)
  }
  for (const [at, { term, variants }] of queryTerms.entries()) {
    note(term, at, 1)
    for (const variant of variants) note(variant.term, at, variant.strength)
  }
  return strengths
}

function computeTermValues(
  text: string,
  strengths: ReadonlyMap<string, readonly (readonly [number, number])[]>,
  size: number,
): number[] {
  const values = new Array<number>(size).fill(0)
  forEachTerm(text, (term) => {
    for (const [at, strength] of strengths.get(term) ?? []) values[at] = Math.max(values[at] ?? 0, strength)
  })
  return values
}

function computeFraction(values: readonly number[], queryTerms: readonly TriageTerm[], total: number): number {
  if (total === 0) return 0
  return values.reduce((sum, value, at) => sum + value * (queryTerms[at]?.weight ?? 0), 0) / total
}
