import { setImmediate as turn } from 'node:timers/promises'
import { analyzeQuery, analyzeTitled } from '../../../lib/text/analyze.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import type { Driver } from '../../store/driver.js'
import { type ExplainedNodeRow, listExplainedNodesAfter, type VisibleVersion } from '../rows/explain.js'
import type { Stages } from './stages.js'

/** The passages of a document that are explained, with their terms. */
export interface DocumentPassages {
  /** by row key: all of the document, or those that contain the quote */
  selected: Map<number, ExplainedNodeRow>
  /** row keys of all passages of the document */
  all: Set<number>
  /** number of selected passages that contain each term of the query */
  termCounts: Map<string, number>
}

const BATCH_SIZE = 100 // passages analysed before yielding to other work: some milliseconds
const MAX_SHOWN_TERMS = 50

/** Reads the passages and counts the query's terms in them; the stages report what is missing. */
export async function readPassages(
  db: Driver,
  version: VisibleVersion,
  { terms, quote }: { terms: readonly string[]; quote: string | undefined },
  stages: Stages,
): Promise<DocumentPassages | undefined> {
  const found: DocumentPassages = { selected: new Map(), all: new Set(), termCounts: new Map() }
  const queryTerms = new Set(terms)
  const quoteText = quote === undefined ? undefined : normalizeText(quote)
  let characters = 0
  for (let ordinal = -1; ; ) {
    const rows = await db.read(listExplainedNodesAfter(version.key, ordinal, BATCH_SIZE))
    for (const row of rows) {
      found.all.add(row.key)
      characters += row.body.length
      if (quoteText !== undefined && !normalizeText(row.body).includes(quoteText)) continue
      found.selected.set(row.key, row)
      const { title, body } = analyzeTitled(row.title, row.body)
      const passageTerms = new Set([...title, ...body])
      for (const term of queryTerms)
        if (passageTerms.has(term)) found.termCounts.set(term, (found.termCounts.get(term) ?? 0) + 1)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_SIZE) break
    ordinal = last.ordinal
    await turn()
  }
  return judgePassages(found, characters, quote, stages)
}

function judgePassages(
  found: DocumentPassages,
  characters: number,
  quote: string | undefined,
  stages: Stages,
): DocumentPassages | undefined {
  const figures = { passages: found.all.size, characters }
  if (found.all.size === 0) {
    stages.addFailed('no-text', {
      stage: 'text',
      reason: 'no-text',
      text: 'no text could be taken from the document: it is empty, or holds pictures of text only',
      figures,
    })
    return undefined
  }
  if (found.selected.size === 0) {
    stages.addFailed('passage-not-found', {
      stage: 'text',
      reason: 'quote-not-in-one-passage',
      text: `none of the document's ${pluralize(found.all.size, 'passage')} holds the quoted words ${JSON.stringify(quote ?? '')}`,
      figures,
    })
    return undefined
  }
  stages.addPassed(
    'text',
    'has-text',
    quote === undefined
      ? `the document has ${pluralize(found.all.size, 'passage')}, ${pluralize(characters, 'character')}`
      : `${found.selected.size} of the document's ${pluralize(found.all.size, 'passage')} ${found.selected.size === 1 ? 'holds' : 'hold'} the quoted words`,
    { ...figures, meant: found.selected.size },
  )
  return found
}

/** Explains which terms of the query occur, after stemming and without stop words. */
export function explainTerms(
  query: string,
  terms: readonly string[],
  passages: DocumentPassages,
  stages: Stages,
): void {
  const queryTerms = [...new Set(terms)]
  const present = queryTerms.filter((term) => passages.termCounts.has(term))
  const absent = queryTerms.filter((term) => !passages.termCounts.has(term))
  const figures = {
    words: listWordTerms(query, new Set(queryTerms)),
    present: present.slice(0, MAX_SHOWN_TERMS).map((term) => ({ term, passages: passages.termCounts.get(term) ?? 0 })),
    absent: absent.slice(0, MAX_SHOWN_TERMS),
  }
  if (queryTerms.length === 0) {
    stages.addMissed('terms', 'no-terms', 'the query holds no letter or digit to search for', figures)
  } else if (present.length === 0) {
    const text = `none of the query's terms occurs in the document: ${queryTerms.slice(0, MAX_SHOWN_TERMS).join(', ')}`
    stages.addMissed('terms', 'no-term-in-common', text, figures)
  } else {
    const without = absent.length === 0 ? '' : `, without ${absent.slice(0, MAX_SHOWN_TERMS).join(', ')}`
    const text = `${present.length} of ${queryTerms.length} terms occur: ${present.slice(0, MAX_SHOWN_TERMS).join(', ')}${without}`
    stages.addPassed('terms', 'terms-in-common', text, figures)
  }
}

/** Each word of the query with its terms; none for a stop word. */
function listWordTerms(query: string, queryTerms: ReadonlySet<string>): { word: string; terms: string[] }[] {
  const words = new Set([...query.matchAll(/[\p{L}\p{M}\p{N}_]+(?:['’]\p{L}+)?/gu)].map(([word]) => word))
  return [...words].slice(0, MAX_SHOWN_TERMS).map((word) => {
    return { word, terms: [...new Set(analyzeQuery(word))].filter((term) => queryTerms.has(term)) }
  })
}

/** Text for comparing quotes: without differences of case, white space and compatibility forms. */
export function normalizeText(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase()
}
