import type { PassageRow } from '../rows/queries.js'
import { mentions, wordsOf } from './names/names-missing.js'
import { namesIn } from './names/question-names.js'

type Named = Pick<PassageRow, 'doc_key' | 'document_title' | 'filename' | 'title' | 'body'>

/**
 * Orders passages for a question that names a document among others, as by a company or a product in its title or file
 * name: those that mention the name precede those that do not. A score stays with its rank.
 */
export function preferNamed<T extends { key: number; final: number }>(
  query: string,
  ranked: readonly T[],
  loaded: ReadonlyMap<number, Named>,
): T[] {
  const names = namesIn(query)
  if (names.length === 0) return [...ranked]
  const documents = new Map<number, Named>()
  for (const { key } of ranked) {
    const row = loaded.get(key)
    if (row !== undefined) documents.set(row.doc_key, row)
  }
  const titles = [...documents].map(([key, { document_title: title, filename }]) => {
    return { key, words: wordsOf({ text: '', title: title ?? '', source: filename }) }
  })
  const telling = names.flatMap((name) => {
    const named = titles.filter(({ words }) => mentions(words, name)).map(({ key }) => key)
    return named.length > 0 && named.length < titles.length ? [{ name, named: new Set(named) }] : []
  })
  if (telling.length === 0) return [...ranked]
  const isMeant = ({ key }: T): boolean => {
    const row = loaded.get(key)
    if (row === undefined) return false
    return telling.some(
      ({ name, named }) => named.has(row.doc_key) || mentions(wordsOf({ text: row.body, title: row.title }), name),
    )
  }
  const meant = new Set(ranked.filter(isMeant))
  const ordered = [...ranked.filter((one) => meant.has(one)), ...ranked.filter((one) => !meant.has(one))]
  return ordered.map((one, rank) => ({ ...one, final: ranked[rank]?.final ?? one.final }))
}
