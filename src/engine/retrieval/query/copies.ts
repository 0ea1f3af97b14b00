import { posix } from 'node:path'
import { parseJsonCell } from '../../store/readable.js'
import type { PassageRow } from '../../store/rows/queries.js'

/** Names of folders that hold replaced files. */
const COPY_FOLDER = /^(?:old|archived?|archives|back[-_ ]?ups?|bak)$/iu

type CopyFields = Pick<
  PassageRow,
  'filename' | 'document_title' | 'body' | 'section' | 'document_date' | 'published_at'
>

/** Distinct passages of a ranking, and the keys of the copies with those of the passages that replace them. */
export interface DistinctPassages<T> {
  kept: T[]
  copyOf: ReadonlyMap<number, number>
}

/**
 * Keeps one of several equal passages: those with the same text and section, in documents with the same name or title.
 * The kept passage gets the best rank among them. A document outside of archive folders is preferred, then the newest
 * one.
 *
 * @param ranked best first; those without a loaded row are kept
 */
export function removeCopies<T extends { key: number }>(
  ranked: readonly T[],
  loaded: ReadonlyMap<number, CopyFields>,
): DistinctPassages<T> {
  const mayHaveCopy = findSharedBeginnings(ranked, loaded)
  const groups = new Map<string, { index: number; key: number; row: CopyFields }>()
  const kept: T[] = []
  const copyOf = new Map<number, number>()
  for (const one of ranked) {
    const row = loaded.get(one.key)
    const names = row !== undefined && mayHaveCopy(row) ? computeIdentities(row) : []
    const known = names.map((name) => groups.get(name)).find((group) => group !== undefined)
    const group = known ?? (row === undefined ? undefined : { index: kept.length, key: one.key, row })
    if (group !== undefined) for (const name of names) groups.set(name, group)
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

/** Like `removeCopies`, for passages with their rows. */
export function removeCopiedRows<T extends { passage: PassageRow }>(ranked: readonly T[]): T[] {
  const rows = new Map(ranked.map(({ passage }) => [passage.key, passage]))
  const { kept } = removeCopies(
    ranked.map((one) => ({ key: one.passage.key, one })),
    rows,
  )
  return kept.map(({ key, one }) => ({ ...one, passage: rows.get(key) ?? one.passage }))
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
  return /\S+/.exec(body)?.[0] ?? ''
}

/** Keys of a passage; equal passages share one of them. */
function computeIdentities({ body, section, filename, document_title: title }: CopyFields): string[] {
  const headings: string[] = parseJsonCell(section)
  const text = `${headings.filter((one) => one !== title).join('\n')}\n\n${body.replace(/\s+/g, ' ').trim()}`
  return [`name ${posix.basename(filename)}\n${text}`, `title ${title}\n${text}`]
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
