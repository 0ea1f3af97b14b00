import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import type { Read } from '../../store/program.js'
import { mapReadable, parseJsonCell } from '../../store/readable.js'
import type { ReaderIdentity } from '../../store/rows/permissions.js'
import { listRelatedNames, listSections } from '../rows/research/follow-up-terms.js'

/** Maximum further retrievals for a question that is still open. */
export const MAX_LEADS_PER_QUESTION = 2
/** Maximum documents whose headings are read, and maximum sections and entities that are considered. */
const MAX_DOCUMENTS = 3
const MAX_SECTIONS = 500
const MAX_ENTITIES = 60
/** An entity with this many mentions is too general. */
const MAX_MENTIONS = 200
/** Weights of a heading's words: words of the question that nothing contains yet weigh most. */
const WEIGHT_MISSING = 2
const WEIGHT_ASKED = 1
/** Weight of an entity that the graph relates to the evidence, relative to one that merely occurs in it. */
const RELATED_WEIGHT = 0.5

interface SearchLead {
  text: string
  weight: number
}

/**
 * Finds words that may lead to what a question still lacks: headings of the documents with evidence, and names that the
 * graph relates to it. Those with words of the question come first; each is listed once.
 *
 * @param missing words of the question that no evidence contains
 */
export function* findSearchLeads(
  spaceKey: number,
  reader: ReaderIdentity,
  open: { question: string; missing: readonly string[]; items: readonly EvidenceItem[] },
): Read<string[]> {
  const questionTerms = new Set(analyzeQuery(open.question))
  const missingTerms = new Set(open.missing.flatMap((word) => analyzeQuery(word)))
  const seen = new Set(open.items.flatMap((item) => item.citations.map(({ sectionPath }) => sectionPath.at(-1) ?? '')))
  const weigh = (text: string): number => {
    let weight = 0
    for (const term of new Set(analyzeQuery(text))) {
      if (missingTerms.has(term)) weight += WEIGHT_MISSING
      else if (questionTerms.has(term)) weight += WEIGHT_ASKED
    }
    return weight
  }
  const headings = (yield* findHeadings(spaceKey, open.items))
    .filter((heading) => !seen.has(heading))
    .map((text): SearchLead => ({ text, weight: weigh(text) }))
    .filter(({ weight }) => weight > 0)
  const names = (yield* findRelatedNames(spaceKey, reader, open.items)).map(({ text, weight }) => ({
    text,
    weight: weight + weigh(text),
  }))
  const leads = [...headings, ...names]
    // A name that the question already contains adds nothing.
    .filter(({ text }) => analyzeQuery(text).some((term) => !questionTerms.has(term)))
    .sort((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1))
  return [...new Set(leads.map(({ text }) => text))].slice(0, MAX_LEADS_PER_QUESTION)
}

/** Titles of the sections of the documents of the best items. */
function* findHeadings(spaceKey: number, items: readonly EvidenceItem[]): Read<string[]> {
  const documents = [...new Set(items.flatMap((item) => item.citations.map((cited) => cited.documentAssetId)))]
  const rows = yield* listSections(spaceKey, documents.slice(0, MAX_DOCUMENTS), MAX_SECTIONS)
  const titles = mapReadable(rows, ({ section }) => parseJsonCell<string[]>(section)).flatMap(
    (path) => path.at(-1) ?? [],
  )
  return [...new Set(titles)]
}

/** Names that the graph relates to those in the best items. */
function* findRelatedNames(
  spaceKey: number,
  reader: ReaderIdentity,
  items: readonly EvidenceItem[],
): Read<SearchLead[]> {
  const nodes = items.slice(0, MAX_DOCUMENTS).map(({ nodeId }) => nodeId)
  const rows = yield* listRelatedNames(spaceKey, reader, nodes, { limit: MAX_ENTITIES, common: MAX_MENTIONS })
  return rows.map(({ name, confidence }) => ({ text: name, weight: RELATED_WEIGHT * confidence }))
}
