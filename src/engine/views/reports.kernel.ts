import { defined } from '../../lib/defined.js'
import { splitSentences } from '../../lib/text/sentences.js'
import { QUERY_STOP_WORDS } from '../../lib/text/stop-words.js'
import { findEntities } from '../derived/graph/entities.js'
import { isFunctionWord } from '../derived/graph/function-words.js'
import { findStatements } from '../derived/graph/relations.js'
import type { Evidence, ReportInput, ReportMember } from '../rows/views/reports.js'

export interface ReportDraft {
  /** undefined where no member has a usable name */
  title?: string
  evidence: Evidence[]
}

/** Maximal number of sentences of a report. */
export const MOST_EVIDENCE = 12
const SHORTEST = 30
const LONGEST = 320
const OF_A_DOCUMENT = 3
/** Additional gain of a sentence that states a relation, and factor for members that were already named. */
const STATED = 1
const KNOWN_MEMBERS = 0.15
/** Sentences that share a larger fraction of words are duplicates. */
const SAME = 0.6
const TITLE_NAMES = 3
const TITLE_WORDS = 6
/** Pronouns and conjunctions that refer to another sentence. */
const POINTS_BACK =
  /^(?:it|its|he|his|she|her|they|their|them|this|these|that|those|such|both|but|and|or|so|then|thus|however|also|moreover|therefore|there|here|er|sie|es|dies\p{L}*|il|elle|ils|elles)(?![\p{L}\p{N}])/iu
const CLOSED = /[.!。！]["'”’»)\]]*$/u

interface Candidate extends Evidence {
  document: number
  /** indexes of the members */
  named: number[]
  isStated: boolean
  words: Set<string>
}

/** For each community, its title and its most informative sentences, the best first. */
export function reportsOf(inputs: readonly ReportInput[]): ReportDraft[] {
  return inputs.map((input) => {
    const title = titleOf(input.members)
    return { ...defined({ title }), evidence: chosen(input.members, candidatesIn(input)) }
  })
}

function candidatesIn({ members, passages }: ReportInput): Candidate[] {
  const found = new Map<string, Candidate>()
  const names = members.map((member) => member.names.map(patternOf))
  for (const { node, document, text } of passages)
    for (const { start, end } of splitSentences(text)) {
      const sentence = text.slice(start, end).replace(/\s+/g, ' ')
      if (found.has(sentence) || !isTold(sentence)) continue
      const named = names.flatMap((patterns, place) => (patterns.some((name) => name.test(sentence)) ? [place] : []))
      // `Bay` of `Harbour Bay` is not another member
      const distinct = withoutParts(named, members, sentence)
      if (distinct.length < 2) continue
      const words = new Set(sentence.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      found.set(sentence, { text: sentence, node, document, named: distinct, isStated: isStated(sentence), words })
    }
  return [...found.values()]
}

function isTold(sentence: string): boolean {
  return (
    sentence.length >= SHORTEST &&
    sentence.length <= LONGEST &&
    CLOSED.test(sentence) &&
    !/^[#|>*-]|\t| \| /.test(sentence) &&
    !POINTS_BACK.test(sentence)
  )
}

function patternOf(name: string): RegExp {
  const plain = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`, 'u')
}

/** Members that occur separately, not only within the name of another member. */
function withoutParts(named: readonly number[], members: readonly ReportMember[], sentence: string): number[] {
  const written = named.map((place) => (members[place]?.names ?? []).filter((name) => patternOf(name).test(sentence)))
  return named.filter((_, index) => {
    let rest = sentence
    const own = written[index] ?? []
    const longest = Math.max(0, ...own.map((name) => name.length))
    for (const other of written.flat()) if (other.length > longest) rest = rest.replaceAll(other, ' ')
    return own.some((name) => patternOf(name).test(rest))
  })
}

function isStated(sentence: string): boolean {
  return findStatements(sentence, [{ start: 0, end: sentence.length }], findEntities(sentence)).length > 0
}

function chosen(members: readonly ReportMember[], candidates: readonly Candidate[]): Evidence[] {
  const left = new Set(candidates)
  const told = new Set<number>()
  const documents = new Map<number, number>()
  const taken: Candidate[] = []
  while (taken.length < MOST_EVIDENCE) {
    let best: { candidate: Candidate; gain: number } | undefined
    for (const candidate of left) {
      const of = documents.get(candidate.document) ?? 0
      if (of >= OF_A_DOCUMENT || taken.some(({ words }) => likeness(words, candidate.words) > SAME)) continue
      const gain = gainOf(candidate, members, told) / (1 + of)
      if (gain > (best?.gain ?? 0)) best = { candidate, gain }
    }
    if (best === undefined) break
    const { candidate } = best
    left.delete(candidate)
    taken.push(candidate)
    documents.set(candidate.document, (documents.get(candidate.document) ?? 0) + 1)
    for (const place of candidate.named) told.add(place)
  }
  return taken.map(({ text, node }) => ({ text, node }))
}

function gainOf({ named, isStated: stated }: Candidate, members: readonly ReportMember[], told: ReadonlySet<number>) {
  const weights = named.map((place) => Math.sqrt(members[place]?.score ?? 0) * (told.has(place) ? KNOWN_MEMBERS : 1))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  // a sentence with ten names is a list
  return (all / Math.sqrt(Math.max(2, named.length))) * (stated ? 1 + STATED : 1)
}

function likeness(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0
  for (const word of some) if (others.has(word)) shared++
  return shared / Math.max(1, some.size + others.size - shared)
}

/** The best connected names; those of people, organizations, products and policies before terms. */
function titleOf(members: readonly ReportMember[]): string | undefined {
  const named = members.flatMap(({ names: [name = ''], type, score }) =>
    isName(name) ? [{ name, score: score * (type === 'term' ? 0.7 : 1) }] : [],
  )
  named.sort((a, b) => b.score - a.score)
  const taken: string[] = []
  for (const { name } of named) {
    const words = name.toLowerCase().split(' ')
    // of names that share a word, only the best connected one is used
    if (
      taken.some((other) =>
        other
          .toLowerCase()
          .split(' ')
          .some((word) => words.includes(word)),
      )
    )
      continue
    taken.push(name)
    if (taken.length === TITLE_NAMES) break
  }
  const last = taken.pop()
  if (last === undefined) return undefined
  return taken.length === 0 ? last : `${taken.join(', ')} and ${last}`
}

/** Whether a name is usable in a title: no number, no fragment, no sentence. */
function isName(name: string): boolean {
  const words = name.split(' ')
  if (words.length > TITLE_WORDS || /\d/.test(name) || !/^[\p{Lu}\p{Lo}\p{Lt}]/u.test(name)) return false
  const [first = '', last = ''] = [words[0]?.toLowerCase(), words.at(-1)?.toLowerCase()]
  if ([first, last].some((word) => QUERY_STOP_WORDS.has(word) || isFunctionWord(word))) return false
  return /[^\x00-\x7f]/.test(name) || name.length > 2
}
