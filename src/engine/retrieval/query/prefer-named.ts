import type { PassageRow } from '../../store/rows/queries.js'
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
