import { findRequestedTime, isWithin, type RequestedTime } from '../../../lib/text/requested-time.js'
import type { PassageRow } from '../../store/rows/queries.js'
import type { RankedPassage } from './evidence.js'
import { mentions, toMentionWords } from './names/missing-names.js'
import { findNames } from './names/question-names.js'

type NamedPassageRow = Pick<PassageRow, 'doc_key' | 'document_title' | 'filename' | 'title' | 'body'>

/**
 * Moves passages of the documents that a question names, and passages that mention the name, before the others. A name
 * counts if it is in the title or file name of some of the found documents, but not of all. Scores stay with the ranks.
 */
export function preferNamed<T extends { key: number; final: number }>(
  query: string,
  ranked: readonly T[],
  loaded: ReadonlyMap<number, NamedPassageRow>,
): T[] {
  const names = findNames(query)
  if (names.length === 0) return [...ranked]
  const documents = new Map<number, NamedPassageRow>()
  for (const { key } of ranked) {
    const row = loaded.get(key)
    if (row !== undefined) documents.set(row.doc_key, row)
  }
  const titles = [...documents].map(([key, { document_title: title, filename }]) => {
    return { key, words: toMentionWords({ text: '', title, source: filename }) }
  })
  const documentNames = names.flatMap((name) => {
    const named = titles.filter(({ words }) => mentions(words, name)).map(({ key }) => key)
    return named.length > 0 && named.length < titles.length ? [{ name, named: new Set(named) }] : []
  })
  if (documentNames.length === 0) return [...ranked]
  const isPreferred = ({ key }: T): boolean => {
    const row = loaded.get(key)
    if (row === undefined) return false
    if (documentNames.some(({ named }) => named.has(row.doc_key))) return true
    const words = toMentionWords({ text: row.body, title: row.title })
    return documentNames.some(({ name }) => mentions(words, name))
  }
  const preferred = new Set(ranked.filter(isPreferred))
  const ordered = [...preferred, ...ranked.filter((one) => !preferred.has(one))]
  return ordered.map((one, rank) => ({ ...one, final: ranked[rank]?.final ?? one.final }))
}

/**
 * Minimum score of a passage that is compared by day, as a fraction of the best: the second of two similar passages may
 * have a third.
 */
const MIN_SCORE_FRACTION = 0.2
/** Minimum fraction of the best passage's matched terms that it must contain; `current` itself may be missing. */
const MIN_SHARED_TERMS_FRACTION = 0.7

/**
 * Orders passages of dated documents for a question that asks for the latest, the earliest or a period. Passages with
 * most of the best one's matched terms exchange their ranks in the order of their days. Passages without a day, or with
 * fewer terms, keep their rank. Scores stay with the ranks.
 */
export function preferDays(query: string, ranked: RankedPassage[]): RankedPassage[] {
  const time = findRequestedTime(query)
  const [best] = ranked
  if (time === undefined || best === undefined) return ranked
  const needed = best.containedTerms ?? []
  const ranks = ranked.flatMap(({ passage, final, containedTerms }, rank) => {
    const shared = needed.filter((term) => containedTerms?.includes(term) === true).length
    const isComparable = final >= MIN_SCORE_FRACTION * best.final && shared >= MIN_SHARED_TERMS_FRACTION * needed.length
    return isComparable && passage.document_date !== null ? [rank] : []
  })
  const ordered = ranks.flatMap((rank) => ranked[rank] ?? []).sort((one, two) => compareDays(one, two, time))
  const preferred = [...ranked]
  for (const [index, rank] of ranks.entries()) {
    const [passage, before] = [ordered[index], ranked[rank]]
    if (passage !== undefined && before !== undefined) preferred[rank] = { ...passage, final: before.final }
  }
  return preferred
}

function compareDays(one: RankedPassage, two: RankedPassage, time: RequestedTime): number {
  const [a, b] = [one, two].map(({ passage }) => passage.document_date ?? '')
  if (a === undefined || b === undefined) return 0
  if ('order' in time) return time.order === 'latest' ? b.localeCompare(a) : a.localeCompare(b)
  return Number(isWithin(b, time)) - Number(isWithin(a, time))
}
