import { analyzeQuery } from '../../lib/text/analyze.js'
import { mentionsLongestWord, mentionsName } from '../../lib/text/name-mentions.js'
import type { EngineContext } from '../context.js'
import type { Admitted } from '../query/admission.js'
import { readingScope } from '../query/reading-scope.js'
import { recall } from '../query/recall.js'
import { loadPassages } from '../rows/queries.js'
import { documentNamesBefore } from '../rows/research/follow-up-terms.js'
import { MAX_FILTER_DOCS } from '../search/limits.js'

/** Documents whose names are compared before yielding to other work: some milliseconds. */
const SLICE = 500
/** Maximum documents whose names are compared for one question, newest first. */
const MOST_COMPARED = 50_000
/** Maximum passages that are searched for a name that no document has. */
const LOOKED_THROUGH = 100

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
export async function documentsNamed(
  context: EngineContext,
  admitted: Admitted,
  { name, others, wider }: { name: string; others: readonly string[]; wider: boolean },
  signal: AbortSignal,
): Promise<NamedDocuments> {
  const named: number[] = []
  const foreign = new Set<number>()
  const strangers = others.filter((other) => !mentionsName(other, name) && !mentionsName(name, other))
  for await (const { key, names } of documentsOf(context, admitted, signal)) {
    const isForeign = strangers.some((other) => mentionsName(names, other))
    if (isForeign) foreign.add(key)
    if (mentionsName(names, name)) named.push(key)
  }
  if (named.length > 0 && !wider)
    return { by: 'name', docs: named.slice(0, MAX_FILTER_DOCS), shared: named.filter((key) => foreign.has(key)) }
  const told = await tellersOf(context, admitted, name, signal)
  const docs = told.filter((key) => !foreign.has(key)).slice(0, MAX_FILTER_DOCS)
  return { by: 'text', docs, shared: docs }
}

/** The live documents of a space with all their names. */
async function* documentsOf({ db, rightOfWay }: EngineContext, { space, subject }: Admitted, signal: AbortSignal) {
  let before = Number.MAX_SAFE_INTEGER
  for (let compared = 0; compared < MOST_COMPARED; compared += SLICE) {
    const rows = await db.read(documentNamesBefore(space.key, { subject }, before, SLICE))
    for (const { key, filename, title } of rows)
      yield { key, names: `${filename.replace(/[_]+/g, ' ')}\n${title ?? ''}` }
    const last = rows.at(-1)
    if (last === undefined || rows.length < SLICE) return
    before = last.key
    await rightOfWay.giveWay()
    signal.throwIfAborted()
  }
}

/** Documents with a passage that contains the name. */
async function tellersOf(
  context: EngineContext,
  admitted: Admitted,
  name: string,
  signal: AbortSignal,
): Promise<number[]> {
  const terms = analyzeQuery(name)
  if (terms.length === 0) return []
  const request = { terms, textK: LOOKED_THROUGH, vectorK: LOOKED_THROUGH }
  const scope = await context.db.read(readingScope(admitted))
  const { hits } = await recall(context, admitted, request, { scope }, signal)
  const keys = hits.map(({ key }) => key)
  const rows = [...(await context.db.read(loadPassages(admitted.space.key, keys))).values()]
  const holding = (test: typeof mentionsName) => rows.filter(({ title, body }) => test(`${title}\n${body}`, name))
  const whole = holding(mentionsName)
  return [...new Set((whole.length > 0 ? whole : holding(mentionsLongestWord)).map(({ doc_key }) => doc_key))]
}
