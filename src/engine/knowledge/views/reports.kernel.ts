import { omitUndefined } from '../../../lib/omit-undefined.js'
import { splitSentences } from '../../../lib/text/sentences.js'
import { QUERY_STOP_WORDS } from '../../../lib/text/stop-words.js'
import type { ReportEvidence, ReportInput, ReportMember } from '../../store/rows/views/reports.js'
import { findEntities } from '../derived/graph/entities.js'
import { isFunctionWord } from '../derived/graph/function-words.js'
import { findStatements } from '../derived/graph/relations.js'

export interface ReportDraft {
  /** undefined where no member has a usable name */
  title?: string
  evidence: ReportEvidence[]
}

/** Maximal number of sentences of a report. */
export const MAX_EVIDENCE = 12
const MIN_SENTENCE_CHARACTERS = 30
const MAX_SENTENCE_CHARACTERS = 320
const MAX_SENTENCES_PER_DOCUMENT = 3
/** Additional gain of a sentence that states a relation, and factor for members that were already named. */
const STATED_GAIN = 1
const NAMED_MEMBER_FACTOR = 0.15
/** Sentences that share a larger fraction of words are duplicates. */
const MAX_SIMILARITY = 0.6
const MAX_TITLE_NAMES = 3
const MAX_TITLE_WORDS = 6
/** Pronouns and conjunctions that refer to another sentence. */
const POINTS_BACK =
  /^(?:it|its|he|his|she|her|they|their|them|this|these|that|those|such|both|but|and|or|so|then|thus|however|also|moreover|therefore|there|here|er|sie|es|dies\p{L}*|il|elle|ils|elles)(?![\p{L}\p{N}])/iu
const SENTENCE_END = /[.!。！]["'”’»)\]]*$/u

interface ReportSentence extends ReportEvidence {
  document: number
  /** indexes of the members */
  named: number[]
  isStated: boolean
  words: Set<string>
}

/** For each community, its title and its most informative sentences, the best first. */
export function buildReportDrafts(inputs: readonly ReportInput[]): ReportDraft[] {
  return inputs.map((input) => {
    const title = buildTitle(input.members)
    return { ...omitUndefined({ title }), evidence: selectEvidence(input.members, findCandidates(input)) }
  })
}

function findCandidates({ members, passages }: ReportInput): ReportSentence[] {
  const found = new Map<string, ReportSentence>()
  const names = members.map((member) => member.names.map(toNamePattern))
  for (const { node, document, text } of passages)
    for (const { start, end } of splitSentences(text)) {
      const sentence = text.slice(start, end).replace(/\s+/g, ' ')
      if (found.has(sentence) || !isUsableSentence(sentence)) continue
      const named = names.flatMap((patterns, index) => (patterns.some((name) => name.test(sentence)) ? [index] : []))
      // `Bay` of `Harbour Bay` is not another member
      const distinct = withoutContainedNames(named, members, sentence)
      if (distinct.length < 2) continue
      const words = new Set(sentence.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      found.set(sentence, {
        text: sentence,
        node,
        document,
        named: distinct,
        isStated: statesRelation(sentence),
        words,
      })
    }
  return [...found.values()]
}

function isUsableSentence(sentence: string): boolean {
  return (
    sentence.length >= MIN_SENTENCE_CHARACTERS &&
    sentence.length <= MAX_SENTENCE_CHARACTERS &&
    SENTENCE_END.test(sentence) &&
    !/^[#|>*-]|\t| \| /.test(sentence) &&
    !POINTS_BACK.test(sentence)
  )
}

function toNamePattern(name: string): RegExp {
  const plain = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`, 'u')
}

/** Members that occur separately, not only within the name of another member. */
function withoutContainedNames(named: readonly number[], members: readonly ReportMember[], sentence: string): number[] {
  const written = named.map((index) =>
    (members[index]?.names ?? []).filter((name) => toNamePattern(name).test(sentence)),
  )
  return named.filter((_, index) => {
    let rest = sentence
    const own = written[index] ?? []
    const longest = Math.max(0, ...own.map((name) => name.length))
    for (const other of written.flat()) if (other.length > longest) rest = rest.replaceAll(other, ' ')
    return own.some((name) => toNamePattern(name).test(rest))
  })
}

function statesRelation(sentence: string): boolean {
  return findStatements(sentence, [{ start: 0, end: sentence.length }], findEntities(sentence)).length > 0
}

function selectEvidence(members: readonly ReportMember[], candidates: readonly ReportSentence[]): ReportEvidence[] {
  const remaining = new Set(candidates)
  const namedMembers = new Set<number>()
  const documents = new Map<number, number>()
  const selected: ReportSentence[] = []
  while (selected.length < MAX_EVIDENCE) {
    let best: { candidate: ReportSentence; gain: number } | undefined
    for (const candidate of remaining) {
      const sentenceCount = documents.get(candidate.document) ?? 0
      if (
        sentenceCount >= MAX_SENTENCES_PER_DOCUMENT ||
        selected.some(({ words }) => computeSimilarity(words, candidate.words) > MAX_SIMILARITY)
      )
        continue
      const gain = computeGain(candidate, members, namedMembers) / (1 + sentenceCount)
      if (gain > (best?.gain ?? 0)) best = { candidate, gain }
    }
    if (best === undefined) break
    const { candidate } = best
    remaining.delete(candidate)
    selected.push(candidate)
    documents.set(candidate.document, (documents.get(candidate.document) ?? 0) + 1)
    for (const index of candidate.named) namedMembers.add(index)
  }
  return selected.map(({ text, node }) => ({ text, node }))
}

function computeGain(
  { named, isStated: stated }: ReportSentence,
  members: readonly ReportMember[],
  namedMembers: ReadonlySet<number>,
) {
  const weights = named.map(
    (index) => Math.sqrt(members[index]?.score ?? 0) * (namedMembers.has(index) ? NAMED_MEMBER_FACTOR : 1),
  )
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  // a sentence with ten names is a list
  return (all / Math.sqrt(Math.max(2, named.length))) * (stated ? 1 + STATED_GAIN : 1)
}

function computeSimilarity(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0
  for (const word of some) if (others.has(word)) shared++
  return shared / Math.max(1, some.size + others.size - shared)
}

/** The best connected names; those of people, organizations, products and policies before terms. */
function buildTitle(members: readonly ReportMember[]): string | undefined {
  const named = members.flatMap(({ names: [name = ''], type, score }) =>
    isUsableName(name) ? [{ name, score: score * (type === 'term' ? 0.7 : 1) }] : [],
  )
  named.sort((a, b) => b.score - a.score)
  const selected: string[] = []
  for (const { name } of named) {
    const words = name.toLowerCase().split(' ')
    // of names that share a word, only the best connected one is used
    if (
      selected.some((other) =>
        other
          .toLowerCase()
          .split(' ')
          .some((word) => words.includes(word)),
      )
    )
      continue
    selected.push(name)
    if (selected.length === MAX_TITLE_NAMES) break
  }
  const last = selected.pop()
  if (last === undefined) return undefined
  return selected.length === 0 ? last : `${selected.join(', ')} and ${last}`
}

/** Whether a name is usable in a title: no number, no fragment, no sentence. */
function isUsableName(name: string): boolean {
  const words = name.split(' ')
  if (words.length > MAX_TITLE_WORDS || /\d/.test(name) || !/^[\p{Lu}\p{Lo}\p{Lt}]/u.test(name)) return false
  const [first = '', last = ''] = [words[0]?.toLowerCase(), words.at(-1)?.toLowerCase()]
  if ([first, last].some((word) => QUERY_STOP_WORDS.has(word) || isFunctionWord(word))) return false
  return /[^\x00-\x7f]/.test(name) || name.length > 2
}
