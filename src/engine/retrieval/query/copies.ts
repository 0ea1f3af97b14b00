import { posix } from 'node:path'
import { analyzeDocument } from '../../../lib/text/analyze.js'
import { parseJsonCell } from '../../store/readable.js'
import type { PassageRow } from '../../store/rows/queries.js'

/** Names of folders that hold replaced files. */
const COPY_FOLDER = /^(?:old|archived?|archives|back[-_ ]?ups?|bak)$/iu

/** A shorter text may depend on the title of its document, and so have another meaning in another document. */
const MIN_SHARED_WORDS = 10

type CopyFields = Pick<
  PassageRow,
  'filename' | 'document_title' | 'body' | 'section' | 'document_date' | 'published_at'
>

/** A document that has a copy of a passage. */
export interface CopyDocument {
  documentAssetId: string
  filename: string
}

/** Distinct passages of a ranking, and the keys of the copies with those of the passages that replace them. */
export interface DistinctPassages<T> {
  kept: T[]
  copyOf: ReadonlyMap<number, number>
}

/**
 * Keeps one of several equal passages: those with the same text and section, in documents with the same name or title,
 * and those with the same words, in documents whose names and headings contain the same terms of the question. The kept
 * passage gets the best rank among them. A document outside of archive folders is preferred, then the newest one.
 *
 * @param ranked best first; those without a loaded row are kept
 * @param terms of the question
 */
export function removeCopies<T extends { key: number }>(
  ranked: readonly T[],
  loaded: ReadonlyMap<number, CopyFields>,
  terms: readonly string[],
): DistinctPassages<T> {
  const termSet = new Set(terms)
  const mayHaveCopy = findSharedBeginnings(ranked, loaded)
  const groups = new Map<string, { index: number; key: number; row: CopyFields }>()
  const kept: T[] = []
  const copyOf = new Map<number, number>()
  for (const one of ranked) {
    const row = loaded.get(one.key)
    const identities = row !== undefined && mayHaveCopy(row) ? computeIdentities(row, termSet) : []
    const known = identities.map((identity) => groups.get(identity)).find((group) => group !== undefined)
    const group = known ?? (row === undefined ? undefined : { index: kept.length, key: one.key, row })
    if (group !== undefined) for (const identity of identities) groups.set(identity, group)
    if (known === undefined || row === undefined) {
      kept.push(one)
      continue
    }
    const replaces = precedes(row, known.row)
    copyOf.set(replaces ? known.key : one.key, replaces ? one.key : known.key)
    if (!replaces) continue
    const best = kept[known.index]
    if (best !== undefined) kept[known.index] = { ...best, key: one.key }
    known.key = one.key
    known.row = row
  }
  return { kept, copyOf: flattenChains(copyOf) }
}

/** Like `removeCopies`, for passages with their rows; each gets the documents of its copies. */
export function removeCopiedRows<T extends { passage: PassageRow; alsoIn?: readonly CopyDocument[] }>(
  ranked: readonly T[],
  terms: readonly string[],
): T[] {
  const rows = new Map(ranked.map(({ passage }) => [passage.key, passage]))
  const { kept, copyOf } = removeCopies(
    ranked.map((one) => ({ key: one.passage.key, one })),
    rows,
    terms,
  )
  const copies = listCopyDocuments(copyOf, rows)
  return kept.map(({ key, one }) => {
    const alsoIn = [...(one.alsoIn ?? []), ...(copies.get(key) ?? [])]
    return { ...one, passage: rows.get(key) ?? one.passage, ...(alsoIn.length === 0 ? {} : { alsoIn }) }
  })
}

/** Other documents with a copy of a passage, in the order of the ranking, by the key of the kept passage. */
export function listCopyDocuments(
  copyOf: DistinctPassages<unknown>['copyOf'],
  loaded: ReadonlyMap<number, PassageRow>,
): Map<number, CopyDocument[]> {
  const documents = new Map<number, Map<string, CopyDocument>>()
  for (const [copy, key] of copyOf) {
    const [row, kept] = [loaded.get(copy), loaded.get(key)]
    if (row === undefined || kept === undefined || row.document_id === kept.document_id) continue
    const known = documents.get(key) ?? new Map<string, CopyDocument>()
    documents.set(key, known.set(row.document_id, { documentAssetId: row.document_id, filename: row.filename }))
  }
  return new Map(Array.from(documents, ([key, known]) => [key, [...known.values()]]))
}

/** Returns whether another passage begins with the same word. This is cheap and excludes nearly all passages. */
function findSharedBeginnings(
  ranked: readonly { key: number }[],
  loaded: ReadonlyMap<number, CopyFields>,
): (row: CopyFields) => boolean {
  const [seen, repeated] = [new Set<string>(), new Set<string>()]
  for (const { key } of ranked) {
    const row = loaded.get(key)
    if (row === undefined) continue
    const word = getFirstWord(row)
    if (seen.has(word)) repeated.add(word)
    seen.add(word)
  }
  return (row) => repeated.has(getFirstWord(row))
}

function getFirstWord({ body }: CopyFields): string {
  return /[\p{L}\p{N}]+/u.exec(body)?.[0].toLowerCase() ?? ''
}

/** Keys of a passage; equal passages share one of them. */
function computeIdentities(
  { body, section, filename, document_title: title }: CopyFields,
  terms: ReadonlySet<string>,
): string[] {
  const headings: string[] = parseJsonCell(section)
  const text = `${headings.filter((one) => one !== title).join('\n')}\n\n${body.replace(/\s+/g, ' ').trim()}`
  const names = [`name ${posix.basename(filename)}\n${text}`, `title ${title}\n${text}`]
  const words = body.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  if (words.length < MIN_SHARED_WORDS) return names
  const nameTerms = analyzeDocument([filename, title, ...headings].join('\n')).filter((term) => terms.has(term))
  return [...names, `words ${[...new Set(nameTerms)].sort().join(' ')}\n${words.join(' ')}`]
}

function precedes(one: CopyFields, other: CopyFields): boolean {
  const [isOld, isOtherOld] = [isInCopyFolder(one.filename), isInCopyFolder(other.filename)]
  return isOld === isOtherOld ? getDate(one) > getDate(other) : isOtherOld
}

function isInCopyFolder(filename: string): boolean {
  return posix
    .dirname(filename)
    .split('/')
    .some((folder) => COPY_FOLDER.test(folder))
}

function getDate({ document_date: date, published_at: published }: CopyFields): number {
  return date === null ? published : Date.parse(date)
}

/** Follows chains: a passage that replaced a copy may have been replaced itself. */
function flattenChains(copyOf: ReadonlyMap<number, number>): Map<number, number> {
  return new Map(
    [...copyOf.keys()].map((key) => {
      let last = key
      for (let next = copyOf.get(last); next !== undefined; next = copyOf.get(last)) last = next
      return [key, last]
    }),
  )
}
