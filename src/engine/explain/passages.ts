import { setImmediate as turn } from 'node:timers/promises'
import { analyzeQuery, analyzeTitled } from '../../lib/text/analyze.js'
import { counted } from '../../lib/text/counted.js'
import { type NodeRow, nodesAfter, type VisibleVersion } from '../rows/explain.js'
import type { Driver } from '../storage/driver.js'
import { failed, missed, passed, type Stages } from './stages.js'

/** The passages of a document that are explained, with their terms. */
export interface Passages {
  /** by row key: all of the document, or those that contain the quote */
  meant: Map<number, NodeRow>
  /** row keys of all passages of the document */
  all: Set<number>
  /** number of selected passages that contain each term of the query */
  termCounts: Map<string, number>
}

const SLICE = 100 // passages analysed before yielding to other work: some milliseconds
const SHOWN_TERMS = 50

/** Reads the passages and counts the query's terms in them; the stages report what is missing. */
export async function readPassages(
  db: Driver,
  version: VisibleVersion,
  terms: readonly string[],
  quote: string | undefined,
  stages: Stages,
): Promise<Passages | undefined> {
  const found: Passages = { meant: new Map(), all: new Set(), termCounts: new Map() }
  const asked = new Set(terms)
  const wanted = quote === undefined ? undefined : plain(quote)
  let characters = 0
  for (let ordinal = -1; ; ) {
    const rows = await db.read(nodesAfter(version.key, ordinal, SLICE))
    for (const row of rows) {
      found.all.add(row.key)
      characters += row.body.length
      if (wanted !== undefined && !plain(row.body).includes(wanted)) continue
      found.meant.set(row.key, row)
      const { title, body } = analyzeTitled(row.title, row.body)
      const held = new Set([...title, ...body])
      for (const term of asked) if (held.has(term)) found.termCounts.set(term, (found.termCounts.get(term) ?? 0) + 1)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < SLICE) break
    ordinal = last.ordinal
    await turn()
  }
  return judge(found, characters, quote, stages)
}

function judge(found: Passages, characters: number, quote: string | undefined, stages: Stages): Passages | undefined {
  const figures = { passages: found.all.size, characters }
  if (found.all.size === 0) {
    failed(stages, 'no-text', {
      stage: 'text',
      reason: 'no-text',
      text: 'no text could be taken from the document: it is empty, or holds pictures of text only',
      figures,
    })
    return undefined
  }
  if (found.meant.size === 0) {
    failed(stages, 'passage-not-found', {
      stage: 'text',
      reason: 'quote-not-in-one-passage',
      text: `none of the document's ${counted(found.all.size, 'passage')} holds the quoted words ${JSON.stringify(quote ?? '')}`,
      figures,
    })
    return undefined
  }
  passed(
    stages,
    'text',
    'has-text',
    quote === undefined
      ? `the document has ${counted(found.all.size, 'passage')}, ${counted(characters, 'character')}`
      : `${found.meant.size} of the document's ${counted(found.all.size, 'passage')} ${found.meant.size === 1 ? 'holds' : 'hold'} the quoted words`,
    { ...figures, meant: found.meant.size },
  )
  return found
}

/** Explains which terms of the query occur, after stemming and without stop words. */
export function explainTerms(query: string, terms: readonly string[], passages: Passages, stages: Stages): void {
  const asked = [...new Set(terms)]
  const present = asked.filter((term) => passages.termCounts.has(term))
  const absent = asked.filter((term) => !passages.termCounts.has(term))
  const figures = {
    words: wordsOf(query, new Set(asked)),
    present: present.slice(0, SHOWN_TERMS).map((term) => ({ term, passages: passages.termCounts.get(term) ?? 0 })),
    absent: absent.slice(0, SHOWN_TERMS),
  }
  if (asked.length === 0) {
    missed(stages, 'terms', 'no-terms', 'the query holds no letter or digit to search for', figures)
  } else if (present.length === 0) {
    const text = `none of the query's terms occurs in the document: ${asked.slice(0, SHOWN_TERMS).join(', ')}`
    missed(stages, 'terms', 'no-term-in-common', text, figures)
  } else {
    const without = absent.length === 0 ? '' : `, without ${absent.slice(0, SHOWN_TERMS).join(', ')}`
    const text = `${present.length} of ${asked.length} terms occur: ${present.slice(0, SHOWN_TERMS).join(', ')}${without}`
    passed(stages, 'terms', 'terms-in-common', text, figures)
  }
}

/** Each word of the query with its terms; none for a stop word. */
function wordsOf(query: string, asked: ReadonlySet<string>): { word: string; terms: string[] }[] {
  const words = new Set([...query.matchAll(/[\p{L}\p{M}\p{N}_]+(?:['’]\p{L}+)?/gu)].map(([word]) => word))
  return [...words].slice(0, SHOWN_TERMS).map((word) => {
    return { word, terms: [...new Set(analyzeQuery(word))].filter((term) => asked.has(term)) }
  })
}

function plain(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase()
}
