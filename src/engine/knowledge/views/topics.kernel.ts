import { forEachTerm } from '../../../lib/text/analyze.js'
import { termHash } from '../derived/passage.js'
import { type ClusterLink, findGroups } from './cluster.js'
import { findTopicName, type TopicNameInput } from './topic-names.js'

/** A document as input of clustering: its terms by hash, with their counts. */
export interface TopicDocument {
  key: number
  terms: Int32Array
  counts: Uint16Array
  /** number of passages; absent = 1 */
  passages?: number
  /** pages and sections of a document with several of them */
  parts?: TopicPart[]
}

export interface TopicPart {
  terms: number[]
  counts: number[]
  passages: number
}

export interface TopicGroup {
  /** documents, the most typical first, with their typicality (0 to 1) */
  members: { key: number; score: number }[]
  /** hashes of the terms that distinguish it from other topics, the most distinctive first */
  terms: number[]
  /** number of passages of its documents, less those assigned to another topic */
  passages: number
}

/** Factor by which a part must be more similar to another topic than to its document's own … */
const MIN_SIMILARITY_RATIO = 1.3
/** … and fraction of a document's passages in such parts from which the document belongs to that topic, too. */
const MIN_PART_FRACTION = 0.2
/** Maximal number of terms by which a document is compared. */
const MAX_DOCUMENT_TERMS = 40
/** Maximal number of links per document. */
const MAX_NEIGHBOURS = 10
const MIN_SIMILARITY = 0.06
/** A term in more documents would create too many links. */
const MAX_TERM_DOCUMENTS = 400
const MAX_TOPIC_TERMS = 12
/** Documents similar to no other become separate topics if there are at most this many. */
const MAX_SINGLE_TOPICS = 12
const MAX_TOPICS = 48

interface WeightedDocument {
  key: number
  weights: Map<number, number>
}

/**
 * Finds topics of documents: each document is linked to those that share its distinctive terms (tf-idf, cosine), and
 * each cluster is a topic. The last group has the documents without a topic and no terms.
 */
export function findTopics(documents: readonly TopicDocument[]): TopicGroup[] {
  const holders = countDocuments(documents)
  const weighed = documents.map((document) => computeWeights(document, holders, documents.length))
  const groups = findGroups(linkDocuments(weighed))
  const grouped = new Set(groups.flat())
  const singles = weighed.map((_, index) => index).filter((index) => !grouped.has(index))
  if (singles.length <= MAX_SINGLE_TOPICS) groups.push(...singles.map((index) => [index]))
  const kept = groups.slice(0, MAX_TOPICS)
  const rest = [...groups.slice(MAX_TOPICS).flat(), ...(singles.length <= MAX_SINGLE_TOPICS ? [] : singles)]
  const found = kept.map((indexes) => buildTopic(weighed, indexes))
  const none = { members: rest.flatMap((index) => weighed[index]?.key ?? []).map((key) => ({ key, score: 0 })) }
  const topics = [...found, ...(rest.length > 0 ? [{ ...none, terms: [], centre: new Map(), passages: 0 }] : [])]
  for (const [topic, indexes] of [...kept, rest].entries())
    for (const index of indexes) assignPassages(topics, topic, documents[index], { holders, all: documents.length })
  return topics.map(({ members, terms, passages }) => ({ members: members.sort(compareByScore), terms, passages }))
}

interface DocumentFrequencies {
  holders: ReadonlyMap<number, number>
  /** number of documents */
  all: number
}

/** Counts the passages of a document for its topic, and those of parts about another topic for that one. */
function assignPassages(
  topics: readonly (TopicGroup & { centre: Map<number, number> })[],
  own: number,
  document: TopicDocument | undefined,
  { holders, all }: DocumentFrequencies,
): void {
  if (document === undefined) return
  const { key, parts = [], passages = 1 } = document
  const elsewhere = new Map<number, { passages: number; score: number }>()
  for (const part of parts) {
    const { weights } = computeWeights({ key, ...part }, holders, all)
    const similarities = topics.map(({ centre }) => computeSimilarity(centre, weights))
    const best = similarities.indexOf(Math.max(...similarities))
    const similarity = similarities[best] ?? 0
    if (best === own || similarity < Math.max(2 * MIN_SIMILARITY, MIN_SIMILARITY_RATIO * (similarities[own] ?? 0)))
      continue
    const known = elsewhere.get(best) ?? { passages: 0, score: 0 }
    elsewhere.set(best, {
      passages: known.passages + part.passages,
      score: Math.max(known.score, Math.min(1, similarity)),
    })
  }
  let remaining = passages
  for (const [topic, found] of elsewhere) {
    const target = topics[topic]
    if (target === undefined || found.passages < MIN_PART_FRACTION * passages) continue
    target.members.push({ key, score: found.score })
    target.passages += found.passages
    remaining -= found.passages
  }
  const home = topics[own]
  if (home !== undefined) home.passages += Math.max(0, remaining)
}

function compareByScore(a: { key: number; score: number }, b: { key: number; score: number }): number {
  return b.score - a.score || a.key - b.key
}

function computeSimilarity(centre: ReadonlyMap<number, number>, weights: ReadonlyMap<number, number>): number {
  let similarity = 0
  for (const [term, weight] of weights) similarity += weight * (centre.get(term) ?? 0)
  return similarity
}

/** Number of documents with each term. */
function countDocuments(documents: readonly TopicDocument[]): Map<number, number> {
  const holders = new Map<number, number>()
  for (const { terms } of documents) for (const term of terms) holders.set(term, (holders.get(term) ?? 0) + 1)
  return holders
}

function computeWeights(
  { key, terms, counts }: { key: number; terms: Iterable<number>; counts: ArrayLike<number> },
  holders: ReadonlyMap<number, number>,
  all: number,
): WeightedDocument {
  const weights = [...terms].map((term, index): [number, number] => {
    const rarity = Math.log((all + 1) / (holders.get(term) ?? 1))
    return [term, (1 + Math.log(Math.max(1, counts[index] ?? 1))) * rarity]
  })
  weights.sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const top = weights.slice(0, MAX_DOCUMENT_TERMS).filter(([, weight]) => weight > 0)
  const length = Math.hypot(...top.map(([, weight]) => weight)) || 1
  return { key, weights: new Map(top.map(([term, weight]) => [term, weight / length])) }
}

function linkDocuments(documents: readonly WeightedDocument[]): ClusterLink[] {
  const holders = new Map<number, number[]>()
  for (const [index, { weights }] of documents.entries())
    for (const term of weights.keys()) {
      const list = holders.get(term)
      if (list === undefined) holders.set(term, [index])
      else list.push(index)
    }
  const links: ClusterLink[] = []
  for (const [index, { weights }] of documents.entries()) {
    const similarities = new Map<number, number>()
    for (const [term, weight] of weights) {
      const others = holders.get(term) ?? []
      if (others.length > MAX_TERM_DOCUMENTS) continue
      for (const other of others)
        if (other !== index)
          similarities.set(other, (similarities.get(other) ?? 0) + weight * (documents[other]?.weights.get(term) ?? 0))
    }
    const nearest = [...similarities]
      .filter(([, similarity]) => similarity >= MIN_SIMILARITY)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    for (const [other, weight] of nearest.slice(0, MAX_NEIGHBOURS)) links.push({ from: index, to: other, weight })
  }
  return links
}

function buildTopic(
  documents: readonly WeightedDocument[],
  indexes: readonly number[],
): TopicGroup & { centre: Map<number, number> } {
  const centre = new Map<number, number>()
  for (const index of indexes)
    for (const [term, weight] of documents[index]?.weights ?? []) centre.set(term, (centre.get(term) ?? 0) + weight)
  const length = Math.hypot(...centre.values()) || 1
  const members = indexes.flatMap((index) => {
    const document = documents[index]
    if (document === undefined) return []
    let score = 0
    for (const [term, weight] of document.weights) score += (weight * (centre.get(term) ?? 0)) / length
    return [{ key: document.key, score: Math.min(1, score) }]
  })
  const unit = new Map([...centre].map(([term, weight]) => [term, weight / length]))
  const terms = [...centre].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_TOPIC_TERMS)
  return { members, terms: terms.map(([term]) => term), centre: unit, passages: 0 }
}

/** Name of a topic. */
export interface TopicLabel {
  name?: string
  /** distinctive words, as the documents write them */
  words: string[]
}

/** Names each topic uniquely: a name in use is distinguished by the topic's next distinctive word. */
export function nameTopics(groups: readonly TopicNameInput[]): TopicLabel[] {
  const taken = new Set<string>()
  return groups.map((group) => {
    const texts = group.documents.flatMap(({ title, headings, texts }) => [title, ...headings, ...texts])
    const words = findSpellings(group.terms, texts)
    const name = findTopicName(group)
    if (name === undefined) return { words }
    const part = words.find((word) => !name.toLowerCase().includes(word.toLowerCase()) && /^\p{L}{3,}/u.test(word))
    const own = taken.has(name.toLowerCase()) && part !== undefined ? `${name} (${part})` : name
    taken.add(own.toLowerCase())
    return { name: own, words }
  })
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}’'-]*/gu

/**
 * Spellings of terms in texts: for each the most frequent word that it comes from; terms that are not found are
 * missing.
 */
export function findSpellings(terms: readonly number[], texts: readonly string[]): string[] {
  const spellingsByTerm = new Map(terms.map((term) => [term, new Map<string, number>()]))
  for (const text of texts)
    for (const [word] of text.matchAll(WORD)) {
      const found: string[] = []
      forEachTerm(word, (term) => found.push(term))
      for (const term of found) {
        const written = found.length === 1 ? word.toLowerCase().replace(/['’]s$/, '') : term
        const spellings = spellingsByTerm.get(termHash(term))
        spellings?.set(written, (spellings.get(written) ?? 0) + 1)
      }
    }
  return [...spellingsByTerm.values()].flatMap((spellings) => {
    const [best] = [...spellings].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    return best === undefined ? [] : [best[0]]
  })
}
