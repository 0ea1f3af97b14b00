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
  fraction: number
  /** largest fraction of one sentence together with the title */
  sentenceFraction: number
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
      for (const [index, value] of values.entries()) passageValues[index] = Math.max(passageValues[index] ?? 0, value)
      const fraction = computeFraction(
        values.map((value, index) => Math.max(value, inTitle[index] ?? 0)),
        queryTerms,
        total,
      )
      if (fraction > best || sentence === '') {
        best = Math.max(best, fraction)
        sentence = text
      }
    }
    const fraction = computeFraction(passageValues, queryTerms, total)
    return { ...candidate, fraction, sentenceFraction: best, sentence }
  })
  return compared.sort(
    (a, b) => b.fraction + b.sentenceFraction - a.fraction - a.sentenceFraction || (a.id < b.id ? -1 : 1),
  )
}

/** Maps each term of a text to the terms of the question that it matches, with the strength. */
function mapTermStrengths(
  queryTerms: readonly TriageTerm[],
): ReadonlyMap<string, readonly (readonly [number, number])[]> {
  const strengths = new Map<string, [number, number][]>()
  const note = (term: string, index: number, strength: number): void => {
    const known = strengths.get(term) ?? []
    known.push([index, strength])
    strengths.set(term, known)
  }
  for (const [index, { term, variants }] of queryTerms.entries()) {
    note(term, index, 1)
    for (const variant of variants) note(variant.term, index, variant.strength)
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
    for (const [index, strength] of strengths.get(term) ?? []) values[index] = Math.max(values[index] ?? 0, strength)
  })
  return values
}

function computeFraction(values: readonly number[], queryTerms: readonly TriageTerm[], total: number): number {
  if (total === 0) return 0
  return values.reduce((sum, value, index) => sum + value * (queryTerms[index]?.weight ?? 0), 0) / total
}
