import { analyzeQuery } from '../../lib/text/analyze.js'
import type { EngineContext } from '../context.js'
import { LEG_CANDIDATES } from '../query/fast.js'
import { fuse } from '../query/fuse.js'
import type { SpaceRow } from '../spaces/store.js'
import { type Member, openDocuments } from './store.js'

/** A document below this share of the best one's score is about something else. */
const LEAST_SHARE = 0.25

/** Open documents that a name stands for: those whose passages the text index finds for it, best first. */
export async function documentsAbout(
  context: EngineContext,
  space: SpaceRow,
  name: string,
  limit: number,
  signal: AbortSignal,
): Promise<Member[]> {
  const { db, indexes } = context
  const terms = analyzeQuery(name)
  if (terms.length === 0) return []
  const found = await indexes.search(space.id, { terms, textK: LEG_CANDIDATES, vectorK: 0 }, signal)
  const ranked = fuse(found.hits)
  const docOf = new Map(
    db
      .all<{ key: number; doc_key: number }>(
        `SELECT n.key, n.doc_key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
         CROSS JOIN versions v ON v.key = n.version_key
         WHERE n.space_key = ? AND v.from_revision IS NOT NULL AND v.until_revision IS NULL`,
        ...[JSON.stringify(ranked.map(({ key }) => key)), space.key],
      )
      .map(({ key, doc_key }) => [key, doc_key]),
  )
  const best = new Map<number, number>()
  for (const { key, fused, bm25 } of ranked) {
    const doc = docOf.get(key)
    if (doc !== undefined && bm25 !== undefined) best.set(doc, Math.max(fused, best.get(doc) ?? 0))
  }
  const open = openDocuments(db, space.key, [...best.keys()])
  const top = Math.max(0, ...best.values())
  return [...best]
    .filter(([doc, score]) => open.has(doc) && score >= top * LEAST_SHARE)
    .slice(0, limit)
    .map(([key, score]) => ({ key, score: Math.min(1, score) }))
}
