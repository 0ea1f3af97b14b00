import type { EvidenceItem } from '../../contract/gateway/queries.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import type { Asker } from '../rows/permissions.js'
import { namesBeside, sectionsOf } from '../rows/research/follow-up-terms.js'
import type { Read } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'

/** Looks at a question that is still open. */
export const FOLLOW_UPS_PER_QUESTION = 2
/** Documents whose headings are read, sections and entities considered. */
const DOCUMENTS = 3
const SECTIONS = 500
const ENTITIES = 60
/** An entity mentioned this often leads nowhere in particular. */
const COMMON = 200
/** What makes a heading a lead: a word of the question that nothing found holds counts most. */
const WEIGHT_MISSING = 2
const WEIGHT_ASKED = 1
/** an entity that the graph relates to what was found, rather than one that was merely found with it */
const RELATED = 0.5

interface FollowUp {
  text: string
  weight: number
}

/**
 * Words that may lead to what a question still lacks: headings of the documents where something was found, and names
 * that the graph relates to it. Those that hold words of the question come first, and nothing comes twice.
 *
 * @param missing words of the question that nothing found holds
 */
export function* followUpTerms(
  spaceKey: number,
  reader: Asker,
  open: { question: string; missing: readonly string[]; items: readonly EvidenceItem[] },
): Read<string[]> {
  const asked = new Set(analyzeQuery(open.question))
  const missing = new Set(open.missing.flatMap((word) => analyzeQuery(word)))
  const seen = new Set(open.items.flatMap((item) => item.citations.map(({ sectionPath }) => sectionPath.at(-1) ?? '')))
  const weigh = (text: string): number => {
    let weight = 0
    for (const term of new Set(analyzeQuery(text))) {
      if (missing.has(term)) weight += WEIGHT_MISSING
      else if (asked.has(term)) weight += WEIGHT_ASKED
    }
    return weight
  }
  const headings = (yield* headingsOf(spaceKey, open.items))
    .filter((heading) => !seen.has(heading))
    .map((text): FollowUp => ({ text, weight: weigh(text) }))
    .filter(({ weight }) => weight > 0)
  const names = (yield* relatedNames(spaceKey, reader, open.items)).map(({ text, weight }) => ({
    text,
    weight: weight + weigh(text),
  }))
  const leads = [...headings, ...names]
    // a name that the question already has adds nothing to it
    .filter(({ text }) => analyzeQuery(text).some((term) => !asked.has(term)))
    .sort((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1))
  return [...new Set(leads.map(({ text }) => text))].slice(0, FOLLOW_UPS_PER_QUESTION)
}

/** Titles of the sections of the documents that the best items are of. */
function* headingsOf(spaceKey: number, items: readonly EvidenceItem[]): Read<string[]> {
  const documents = [...new Set(items.flatMap((item) => item.citations.map((cited) => cited.documentAssetId)))]
  const rows = yield* sectionsOf(spaceKey, documents.slice(0, DOCUMENTS), SECTIONS)
  const titles = readable(rows, ({ section }) => fromCell<string[]>(section)).flatMap((path) => path.at(-1) ?? [])
  return [...new Set(titles)]
}

/** Names that the graph relates to those of the best items. */
function* relatedNames(spaceKey: number, reader: Asker, items: readonly EvidenceItem[]): Read<FollowUp[]> {
  const nodes = items.slice(0, DOCUMENTS).map(({ nodeId }) => nodeId)
  const rows = yield* namesBeside(spaceKey, reader, nodes, { most: ENTITIES, common: COMMON })
  return rows.map(({ name, confidence }) => ({ text: name, weight: RELATED * confidence }))
}
