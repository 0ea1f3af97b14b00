import { forEachTerm } from '../../../lib/text/analyze.js'
import { QUERY_STOP_WORDS } from '../../../lib/text/stop-words.js'
import { isFunctionWord, VERBS } from '../derived/graph/function-words.js'
import { termHash } from '../derived/passage.js'

/** Input for naming a topic: its distinctive terms by hash, best first, and the beginnings of its typical documents. */
export interface TopicNameInput {
  terms: number[]
  documents: { title: string; headings: string[]; texts: string[] }[]
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}’'-]*/gu
const MAX_NAME_WORDS = 3
/** A phrase in a smaller fraction of the typical documents belongs to one document only. */
const MIN_DOCUMENT_FRACTION = 0.34
/** Bonus of a phrase that occurs in a title or heading. */
const SOURCE_BONUS = { title: 2, heading: 1.5, text: 1 }
/** No part of a longer heading is a name. */
const MAX_HEADING_WORDS = 8
/** Penalty of a non-distinctive word in a phrase of several words. */
const COMMON_WORD_PENALTY = 0.6
/** Headings that occur in every document. */
const FORMAL_HEADINGS = new Set(
  `introduction summary abstract conclusion conclusions references appendix contents overview background discussion results
   methods notes index preface chapter section part page table figure document documents file files untitled readme`.split(
    /\s+/,
  ),
)

interface NameCandidate {
  /** number of occurrences by spelling */
  spellings: Map<string, number>
  /** in lower case */
  words: string[]
  /** stems that inflected forms of the phrase share */
  key: string
  documents: Set<number>
  bonus: number
}

/**
 * Finds a name that a person might give: the phrase of one to three words of the typical documents, without stop words
 * and numbers, whose words are the most distinctive and that most of the documents contain; titles and headings count
 * more than text.
 *
 * @returns undefined where the documents contain none of the distinctive terms as words
 */
export function findTopicName({ terms, documents }: TopicNameInput): string | undefined {
  const weights = new Map(terms.map((term, rank) => [term, 1 / (1 + rank / 2)]))
  const candidates = new Map<string, NameCandidate>()
  for (const [documentIndex, { title, headings, texts }] of documents.entries()) {
    addPhrases(candidates, { text: title, documentIndex, bonus: SOURCE_BONUS.title }, weights)
    for (const heading of headings)
      addPhrases(candidates, { text: heading, documentIndex, bonus: SOURCE_BONUS.heading }, weights)
    for (const text of texts) addPhrases(candidates, { text, documentIndex, bonus: SOURCE_BONUS.text }, weights)
  }
  let best: { candidate: NameCandidate; score: number } | undefined
  for (const candidate of candidates.values()) {
    const score = computeScore(candidate, documents.length, weights)
    if (score > (best?.score ?? 0)) best = { candidate, score }
  }
  if (best === undefined) return undefined
  const chosen = extendName(best.candidate, candidates, documents.length)
  const [spelling] = [...chosen.spellings].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return spelling === undefined ? undefined : capitalise(spelling[0])
}

function computeScore(
  { words, documents, bonus }: NameCandidate,
  all: number,
  weights: ReadonlyMap<number, number>,
): number {
  const fraction = documents.size / all
  if (fraction < MIN_DOCUMENT_FRACTION && all > 2) return 0
  const weightsOfWords = words.map((word) => computeWeight(word, weights))
  // each further word must be distinctive
  const distinctiveness = weightsOfWords.reduce((sum, weight) => sum + (weight > 0 ? weight : -COMMON_WORD_PENALTY), 0)
  return (distinctiveness / Math.sqrt(words.length)) * fraction * bonus
}

/** Fraction of a name's occurrences within a longer name from which the longer one is used. */
const MIN_LONGER_NAME_FRACTION = 0.35

/** Extends `prime` to `prime number`, where the texts mostly write the longer name. */
function extendName(best: NameCandidate, candidates: ReadonlyMap<string, NameCandidate>, all: number): NameCandidate {
  const occurrences = countOccurrences(best)
  let extended = best
  for (const candidate of candidates.values())
    if (
      candidate.words.length > best.words.length &&
      ` ${candidate.key} `.includes(` ${best.key} `) &&
      countOccurrences(candidate) >= MIN_LONGER_NAME_FRACTION * occurrences &&
      (candidate.documents.size >= MIN_DOCUMENT_FRACTION * all || candidate.bonus > best.bonus) &&
      countOccurrences(candidate) * candidate.words.length >
        (extended === best ? 0 : countOccurrences(extended) * extended.words.length)
    )
      extended = candidate
  return extended
}

function countOccurrences({ spellings }: NameCandidate): number {
  let times = 0
  for (const count of spellings.values()) times += count
  return times
}

const stems = new Map<string, string>()
const hashesByWord = new Map<string, number[]>()
const MAX_CACHED_WORDS = 50_000

/** Stem that inflected forms of a word share. */
function toStem(word: string): string {
  let stem = stems.get(word)
  if (stem !== undefined) return stem
  stem = word
  let isFirst = true
  forEachTerm(word, (term) => {
    if (isFirst) stem = term
    isFirst = false
  })
  if (stems.size > MAX_CACHED_WORDS) stems.clear()
  stems.set(word, stem)
  return stem
}

/** The highest weight of a word's terms. */
function computeWeight(word: string, weights: ReadonlyMap<number, number>): number {
  let hashes = hashesByWord.get(word)
  if (hashes === undefined) {
    const found: number[] = []
    forEachTerm(word, (term) => found.push(termHash(term)))
    hashes = found
    if (hashesByWord.size > MAX_CACHED_WORDS) hashesByWord.clear()
    hashesByWord.set(word, hashes)
  }
  return Math.max(0, ...hashes.map((hash) => weights.get(hash) ?? 0))
}

function addPhrases(
  candidates: Map<string, NameCandidate>,
  { text, documentIndex, bonus }: { text: string; documentIndex: number; bonus: number },
  weights: ReadonlyMap<number, number>,
): void {
  const isTitle = bonus > SOURCE_BONUS.text
  let run: { word: string; end: number }[] = []
  const words = [...text.matchAll(WORD)]
  if (isTitle && words.length > MAX_HEADING_WORDS) return
  const flush = (): void => {
    for (let from = 0; from < run.length; from++)
      for (let size = 1; size <= MAX_NAME_WORDS && from + size <= run.length; size++) {
        const part = run.slice(from, from + size)
        if (!part.some(({ word }) => computeWeight(word, weights) > 0)) continue
        const spelling = part.map(({ word }) => word).join(' ')
        const key = part.map(({ word }) => toStem(word.toLowerCase())).join(' ')
        const entry = candidates.get(key) ?? {
          spellings: new Map<string, number>(),
          key,
          words: spelling.toLowerCase().split(' '),
          documents: new Set<number>(),
          bonus,
        }
        entry.spellings.set(spelling, (entry.spellings.get(spelling) ?? 0) + 1)
        entry.documents.add(documentIndex)
        entry.bonus = Math.max(entry.bonus, bonus)
        candidates.set(key, entry)
      }
    run = []
  }
  for (const match of words) {
    const word = match[0].replace(/['’]s?$/, '')
    const end = match.index + match[0].length
    const last = run.at(-1)
    if (last !== undefined && text.slice(last.end, match.index) !== ' ') flush()
    if (!mayBeInName(word)) {
      flush()
      continue
    }
    run.push({ word, end })
    if (word !== match[0]) flush()
  }
  flush()
}

/** Whether a word may be part of a name: no stop word, number, verb or fragment. */
function mayBeInName(word: string): boolean {
  const lower = word.toLowerCase()
  if (QUERY_STOP_WORDS.has(lower) || isFunctionWord(lower) || FORMAL_HEADINGS.has(lower) || /\d/.test(word))
    return false
  if (VERBS.has(lower) || (lower.endsWith('ly') && lower.length > 5)) return false
  return /[^\x00-\x7f]/.test(word) || word.length > 2
}

/** Writes the first letter as a capital. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
