import { analyzeQuery } from '../../../lib/text/analyze.js'
import { mentionsLongestWord, mentionsName } from '../../../lib/text/name-mentions.js'
import { findReadingScope, recall, type SearchScope } from '../../retrieval/index.js'
import { MAX_FILTER_DOCS } from '../../search/index.js'
import { loadPassages } from '../../store/rows/queries.js'
import { listDocumentNamesBefore } from '../rows/research/follow-up-terms.js'

/** Documents whose names are compared before yielding to other work: some milliseconds. */
const BATCH_SIZE = 500
/** Maximum documents whose names are compared for one question, newest first. */
const MAX_COMPARED_DOCUMENTS = 50_000
/** Maximum passages that are searched for a name that no document has. */
const MAX_SEARCHED_PASSAGES = 100

/** Documents (row keys) that may be about a name. */
export interface NamedDocuments {
  /** where the name occurs: in title or file name, or in their text */
  by: 'name' | 'text'
  docs: number[]
  /** documents that are also named after another requested name: their passages must mention the name */
  shared: number[]
}

/**
 * Finds the documents for a name: those named after it, or else those whose text or headings contain it, without those
 * that are named after another name of the question.
 *
 * @param others the other names of the question
 * @param wider also searches texts when documents are named after it
 */
export async function findNamedDocuments(
  scope: SearchScope,
  { name, others, wider }: { name: string; others: readonly string[]; wider: boolean },
): Promise<NamedDocuments> {
  const named: number[] = []
  const foreign = new Set<number>()
  const otherNames = others.filter((other) => !mentionsName(other, name) && !mentionsName(name, other))
  for await (const { key, names } of listDocumentNames(scope)) {
    const isForeign = otherNames.some((other) => mentionsName(names, other))
    if (isForeign) foreign.add(key)
    if (mentionsName(names, name)) named.push(key)
  }
  if (named.length > 0 && !wider)
    return { by: 'name', docs: named.slice(0, MAX_FILTER_DOCS), shared: named.filter((key) => foreign.has(key)) }
  const mentioning = await findMentioningDocuments(scope, name)
  const docs = mentioning.filter((key) => !foreign.has(key)).slice(0, MAX_FILTER_DOCS)
  return { by: 'text', docs, shared: docs }
}

/** The live documents of a space with all their names. */
async function* listDocumentNames({ context, admitted: { space, subject }, signal }: SearchScope) {
  const { db, foregroundPriority } = context
  let before = Number.MAX_SAFE_INTEGER
  for (let compared = 0; compared < MAX_COMPARED_DOCUMENTS; compared += BATCH_SIZE) {
    const rows = await db.read(listDocumentNamesBefore(space.key, { subject }, before, BATCH_SIZE))
    for (const { key, filename, title } of rows)
      yield { key, names: `${filename.replace(/[_]+/g, ' ')}\n${title ?? ''}` }
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_SIZE) return
    before = last.key
    await foregroundPriority.yieldToQueries()
    signal.throwIfAborted()
  }
}

/** Documents with a passage that contains the name. */
async function findMentioningDocuments(search: SearchScope, name: string): Promise<number[]> {
  const { context, admitted } = search
  const terms = analyzeQuery(name)
  if (terms.length === 0) return []
  const request = { terms, textK: MAX_SEARCHED_PASSAGES, vectorK: MAX_SEARCHED_PASSAGES }
  const scope = await context.db.read(findReadingScope(admitted))
  const { hits } = await recall(search, request, { scope })
  const keys = hits.map(({ key }) => key)
  const rows = [...(await context.db.read(loadPassages(admitted.space.key, keys))).values()]
  const filterRows = (test: typeof mentionsName) => rows.filter(({ title, body }) => test(`${title}\n${body}`, name))
  const exact = filterRows(mentionsName)
  return [...new Set((exact.length > 0 ? exact : filterRows(mentionsLongestWord)).map(({ doc_key }) => doc_key))]
}
