import type { EvidenceBundle, EvidenceItem } from '../../../../contract/gateway/queries.js'
import { analyzeDocument, analyzeQuery } from '../../../../lib/text/analyze.js'
import type { Caller } from '../../../base/caller.js'
import type { EngineContext } from '../../../library/index.js'
import type { Read } from '../../../store/program.js'
import { findSpaceOrDeleting } from '../../../store/rows/spaces.js'
import { listHeadedDocuments } from '../../rows/chat/overview.js'
import { describeSpaces, formatOverview } from './overview.js'

/** Newest documents that an answer names, of each space. */
const MAX_NAMED = 8
/** Passages and characters of a page that an answer quotes. */
const MAX_PASSAGES = 3
const MAX_CHARACTERS = 2000

/**
 * Answers a question about the application itself: what it answers from, its newest documents, and questions to ask.
 *
 * @param options `isVisitor`: names of spaces are left out; `showsDocuments`: names of documents are listed
 */
export async function describeContents(
  { db }: Pick<EngineContext, 'db'>,
  caller: Caller,
  spaceIds: readonly string[],
  { questions, ...options }: { isVisitor: boolean; showsDocuments: boolean; questions: readonly string[] },
): Promise<string> {
  const overview = formatOverview(await db.read(describeSpaces(caller, spaceIds)), options.isVisitor)
  const names = options.showsDocuments ? await db.read(listNewestNames(caller, spaceIds)) : []
  return [
    overview,
    ...(names.length === 0 ? [] : [`The newest documents:\n\n${formatList(names)}`]),
    ...(questions.length === 0 ? [] : [`Questions that they answer:\n\n${formatList(questions)}`]),
  ].join('\n\n')
}

function* listNewestNames(caller: Caller, spaceIds: readonly string[]): Read<string[]> {
  const names: string[] = []
  for (const id of spaceIds) {
    const space = yield* findSpaceOrDeleting(caller.tenant, id)
    if (space === undefined || space.deleted_at !== null) continue
    const options = { revision: space.head_revision, newest: MAX_NAMED, largest: 0 }
    for (const { filename } of yield* listHeadedDocuments(space.key, caller, options)) names.push(filename)
  }
  return names
}

function formatList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}

/**
 * Quotes the newest document whose name contains every term of a subject, else the newest one with a heading that does;
 * of several documents of one day the one that was found first. Passages are in reading order.
 *
 * @returns undefined if no document of the evidence is about the subject
 */
export function quoteNewestPage(
  subject: string,
  { items }: Pick<EvidenceBundle, 'items'>,
): { text: string; cited: number[] } | undefined {
  const terms = analyzeQuery(subject)
  if (terms.length === 0) return undefined
  const passages = items.map((item, index) => ({ item, number: index + 1 }))
  const named = passages.filter(({ item }) => containsTerms(getNames(item), terms))
  const about =
    named.length > 0
      ? named
      : passages.filter(({ item }) => containsTerms(`${getNames(item)}\n${getSections(item)}`, terms))
  const newest = about.reduce<(typeof about)[number] | undefined>(
    (best, one) => (best === undefined || getDay(one.item) > getDay(best.item) ? one : best),
    undefined,
  )
  if (newest === undefined) return undefined
  const page = about
    .filter(({ item }) => getDocumentId(item) === getDocumentId(newest.item))
    .slice(0, MAX_PASSAGES)
    .sort((a, b) => Number(a.item.metadata.ordinal) - Number(b.item.metadata.ordinal))
  const characters = Math.floor(MAX_CHARACTERS / page.length)
  const blocks = page.map(
    ({ item, number }) => `[${number}] ${formatPlace(item)}\n\n${truncate(item.text, characters)}`,
  )
  return { text: blocks.join('\n\n'), cited: page.map(({ number }) => number) }
}

function getNames({ metadata: { filename, documentTitle } }: EvidenceItem): string {
  return `${String(filename ?? '')}\n${String(documentTitle ?? '')}`.replace(/[_./-]/g, ' ')
}

function getSections({ citations: [citation] }: EvidenceItem): string {
  return (citation?.sectionPath ?? []).join('\n')
}

function containsTerms(names: string, terms: readonly string[]): boolean {
  const known = new Set(analyzeDocument(names))
  return terms.every((term) => known.has(term))
}

/** The day of a document, or else the day when it was stored. */
function getDay({ metadata: { documentDate, storedAt } }: EvidenceItem): string {
  return String(documentDate ?? storedAt ?? '').slice(0, 'yyyy-mm-dd'.length)
}

function getDocumentId({ citations: [citation] }: EvidenceItem): string | undefined {
  return citation?.documentAssetId
}

function formatPlace({ metadata: { filename, documentTitle }, citations: [citation] }: EvidenceItem): string {
  const page = citation?.pageNumber === undefined ? '' : `, p. ${citation.pageNumber}`
  return `${[String(filename ?? documentTitle ?? ''), ...(citation?.sectionPath ?? [])].join(' › ')}${page}`
}

function truncate(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const end = text.lastIndexOf(' ', maxCharacters)
  return `${text.slice(0, end > 0 ? end : maxCharacters)} …`
}
