import { forEachTerm } from '../../lib/text/analyze.js'
import { termHash } from '../derived/passage.js'
import { groupsOf, type Link } from './cluster.js'
import { type NamedGroup, topicName } from './topic-names.js'

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
const MORE_LIKE = 1.3
/** … and fraction of a document's passages in such parts from which the document belongs to that topic, too. */
const LEAST_PART = 0.2
/** Maximal number of terms by which a document is compared. */
const TERMS = 40
/** Maximal number of links per document. */
const NEIGHBOURS = 10
const LEAST_LIKENESS = 0.06
/** A term in more documents would create too many links. */
const MOST_HOLDERS = 400
const DISTINCTIVE = 12
/** Documents similar to no other become separate topics if there are at most this many. */
const MOST_SINGLES = 12
const MOST_TOPICS = 48

interface Weighed {
  key: number
  weights: Map<number, number>
}

/**
 * Finds topics of documents: each document is linked to those that share its distinctive terms (tf-idf, cosine), and
 * each cluster is a topic. The last group has the documents without a topic and no terms.
 */
export function topicsOf(documents: readonly TopicDocument[]): TopicGroup[] {
  const holders = holdersOf(documents)
  const weighed = documents.map((document) => weigh(document, holders, documents.length))
  const groups = groupsOf(linksOf(weighed))
  const grouped = new Set(groups.flat())
  const singles = weighed.map((_, place) => place).filter((place) => !grouped.has(place))
  if (singles.length <= MOST_SINGLES) groups.push(...singles.map((place) => [place]))
  const kept = groups.slice(0, MOST_TOPICS)
  const rest = [...groups.slice(MOST_TOPICS).flat(), ...(singles.length <= MOST_SINGLES ? [] : singles)]
  const found = kept.map((places) => group(weighed, places))
  const none = { members: rest.flatMap((place) => weighed[place]?.key ?? []).map((key) => ({ key, score: 0 })) }
  const topics = [...found, ...(rest.length > 0 ? [{ ...none, terms: [], centre: new Map(), passages: 0 }] : [])]
  for (const [topic, places] of [...kept, rest].entries())
    for (const place of places) share(topics, topic, documents[place], { holders, all: documents.length })
  return topics.map(({ members, terms, passages }) => ({ members: members.sort(byScore), terms, passages }))
}

interface Weighing {
  holders: ReadonlyMap<number, number>
  /** number of documents */
  all: number
}

/** Counts the passages of a document for its topic, and those of parts about another topic for that one. */
function share(
  topics: readonly (TopicGroup & { centre: Map<number, number> })[],
  own: number,
  document: TopicDocument | undefined,
  { holders, all }: Weighing,
): void {
  if (document === undefined) return
  const { key, parts = [], passages = 1 } = document
  const elsewhere = new Map<number, { passages: number; score: number }>()
  for (const part of parts) {
    const { weights } = weigh({ key, ...part }, holders, all)
    const likes = topics.map(({ centre }) => likenessTo(centre, weights))
    const best = likes.indexOf(Math.max(...likes))
    const like = likes[best] ?? 0
    if (best === own || like < Math.max(2 * LEAST_LIKENESS, MORE_LIKE * (likes[own] ?? 0))) continue
    const known = elsewhere.get(best) ?? { passages: 0, score: 0 }
    elsewhere.set(best, { passages: known.passages + part.passages, score: Math.max(known.score, Math.min(1, like)) })
  }
  let left = passages
  for (const [topic, found] of elsewhere) {
    const target = topics[topic]
    if (target === undefined || found.passages < LEAST_PART * passages) continue
    target.members.push({ key, score: found.score })
    target.passages += found.passages
    left -= found.passages
  }
  const home = topics[own]
  if (home !== undefined) home.passages += Math.max(0, left)
}

function byScore(a: { key: number; score: number }, b: { key: number; score: number }): number {
  return b.score - a.score || a.key - b.key
}

function likenessTo(centre: ReadonlyMap<number, number>, weights: ReadonlyMap<number, number>): number {
  let like = 0
  for (const [term, weight] of weights) like += weight * (centre.get(term) ?? 0)
  return like
}

/** Number of documents with each term. */
function holdersOf(documents: readonly TopicDocument[]): Map<number, number> {
  const holders = new Map<number, number>()
  for (const { terms } of documents) for (const term of terms) holders.set(term, (holders.get(term) ?? 0) + 1)
  return holders
}

function weigh(
  { key, terms, counts }: { key: number; terms: Iterable<number>; counts: ArrayLike<number> },
  holders: ReadonlyMap<number, number>,
  all: number,
): Weighed {
  const weights = [...terms].map((term, place): [number, number] => {
    const rarity = Math.log((all + 1) / (holders.get(term) ?? 1))
    return [term, (1 + Math.log(Math.max(1, counts[place] ?? 1))) * rarity]
  })
  weights.sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const top = weights.slice(0, TERMS).filter(([, weight]) => weight > 0)
  const length = Math.hypot(...top.map(([, weight]) => weight)) || 1
  return { key, weights: new Map(top.map(([term, weight]) => [term, weight / length])) }
}

function linksOf(documents: readonly Weighed[]): Link[] {
  const holders = new Map<number, number[]>()
  for (const [place, { weights }] of documents.entries())
    for (const term of weights.keys()) {
      const list = holders.get(term)
      if (list === undefined) holders.set(term, [place])
      else list.push(place)
    }
  const links: Link[] = []
  for (const [place, { weights }] of documents.entries()) {
    const likeness = new Map<number, number>()
    for (const [term, weight] of weights) {
      const others = holders.get(term) ?? []
      if (others.length > MOST_HOLDERS) continue
      for (const other of others)
        if (other !== place)
          likeness.set(other, (likeness.get(other) ?? 0) + weight * (documents[other]?.weights.get(term) ?? 0))
    }
    const nearest = [...likeness]
      .filter(([, like]) => like >= LEAST_LIKENESS)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    for (const [other, weight] of nearest.slice(0, NEIGHBOURS)) links.push({ from: place, to: other, weight })
  }
  return links
}

function group(documents: readonly Weighed[], places: readonly number[]): TopicGroup & { centre: Map<number, number> } {
  const centre = new Map<number, number>()
  for (const place of places)
    for (const [term, weight] of documents[place]?.weights ?? []) centre.set(term, (centre.get(term) ?? 0) + weight)
  const length = Math.hypot(...centre.values()) || 1
  const members = places.flatMap((place) => {
    const document = documents[place]
    if (document === undefined) return []
    let score = 0
    for (const [term, weight] of document.weights) score += (weight * (centre.get(term) ?? 0)) / length
    return [{ key: document.key, score: Math.min(1, score) }]
  })
  const unit = new Map([...centre].map(([term, weight]) => [term, weight / length]))
  const terms = [...centre].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, DISTINCTIVE)
  return { members, terms: terms.map(([term]) => term), centre: unit, passages: 0 }
}

/** Name of a topic. */
export interface TopicLabel {
  name?: string
  /** distinctive words, as the documents write them */
  words: string[]
}

/** Names each topic uniquely: a name in use is distinguished by the topic's next distinctive word. */
export function labelled(groups: readonly NamedGroup[]): TopicLabel[] {
  const taken = new Set<string>()
  return groups.map((group) => {
    const texts = group.documents.flatMap(({ title, headings, texts }) => [title, ...headings, ...texts])
    const words = writtenTerms(group.terms, texts)
    const name = topicName(group)
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
export function writtenTerms(terms: readonly number[], texts: readonly string[]): string[] {
  const wanted = new Map(terms.map((term) => [term, new Map<string, number>()]))
  for (const text of texts)
    for (const [word] of text.matchAll(WORD)) {
      const found: string[] = []
      forEachTerm(word, (term) => found.push(term))
      for (const term of found) {
        const written = found.length === 1 ? word.toLowerCase().replace(/['’]s$/, '') : term
        const spellings = wanted.get(termHash(term))
        spellings?.set(written, (spellings.get(written) ?? 0) + 1)
      }
    }
  return [...wanted.values()].flatMap((spellings) => {
    const [best] = [...spellings].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    return best === undefined ? [] : [best[0]]
  })
}
