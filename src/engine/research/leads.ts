import type { EvidenceItem } from '../../contract/gateway/queries.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import { type Read, sql } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'

/** Looks at a question that is still open. */
export const LEADS_PER_QUESTION = 2
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

interface Lead {
  text: string
  weight: number
}

/**
 * Words that may lead to what a question still lacks: headings of the documents where something was found, and names
 * that the graph relates to it. Those that hold words of the question come first, and nothing comes twice.
 *
 * @param missing words of the question that nothing found holds
 */
export function* leadsFor(
  spaceKey: number,
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
    .map((text): Lead => ({ text, weight: weigh(text) }))
    .filter(({ weight }) => weight > 0)
  const names = (yield* relatedNames(spaceKey, open.items)).map(({ text, weight }) => ({
    text,
    weight: weight + weigh(text),
  }))
  const leads = [...headings, ...names]
    // a name that the question already has adds nothing to it
    .filter(({ text }) => analyzeQuery(text).some((term) => !asked.has(term)))
    .sort((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1))
  return [...new Set(leads.map(({ text }) => text))].slice(0, LEADS_PER_QUESTION)
}

/** Titles of the sections of the documents that the best items are of. */
function* headingsOf(spaceKey: number, items: readonly EvidenceItem[]): Read<string[]> {
  const documents = [...new Set(items.flatMap((item) => item.citations.map((cited) => cited.documentAssetId)))]
  const rows = yield* sql.all<{ section: string }>(
    `SELECT DISTINCT n.section FROM json_each(?) wanted
     CROSS JOIN documents d ON d.id = wanted.value AND d.space_key = ? AND d.deleted_at IS NULL
     CROSS JOIN versions v ON v.doc_key = d.key AND v.from_revision IS NOT NULL AND v.until_revision IS NULL
     CROSS JOIN nodes n ON n.version_key = v.key LIMIT ?`,
    [JSON.stringify(documents.slice(0, DOCUMENTS)), spaceKey, SECTIONS],
  )
  const titles = readable(rows, ({ section }) => fromCell<string[]>(section)).flatMap((path) => path.at(-1) ?? [])
  return [...new Set(titles)]
}

/** Names that the graph relates to those of the best items. */
function* relatedNames(spaceKey: number, items: readonly EvidenceItem[]): Read<Lead[]> {
  const nodes = items.slice(0, DOCUMENTS).map(({ nodeId }) => nodeId)
  const rows = yield* sql.all<{ name: string; confidence: number }>(
    `WITH found AS (
       SELECT DISTINCT m.entity_key key FROM json_each(?) wanted
       CROSS JOIN nodes n ON n.id = wanted.value AND n.space_key = ?
       CROSS JOIN graph_mentions m ON m.node_key = n.key LIMIT ?)
     SELECT e.name, max(r.confidence) confidence FROM found f
     CROSS JOIN graph_relations r ON f.key IN (r.subject_key, r.object_key)
     CROSS JOIN graph_entities e ON e.key = CASE WHEN r.subject_key = f.key THEN r.object_key ELSE r.subject_key END
     WHERE e.key NOT IN (SELECT key FROM found) AND e.type <> 'date'
       AND (SELECT count(*) FROM graph_mentions c WHERE c.entity_key = e.key) < ?
     GROUP BY e.key ORDER BY confidence DESC, e.name LIMIT ?`,
    [JSON.stringify(nodes), spaceKey, ENTITIES, COMMON, ENTITIES],
  )
  return rows.map(({ name, confidence }) => ({ text: name, weight: RELATED * confidence }))
}
