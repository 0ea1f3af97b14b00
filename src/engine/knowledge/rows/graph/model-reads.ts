import { formatModelName, type ModelReference } from '../../../base/model-reference.js'
import { type Read, sql, type Write } from '../../../store/program.js'

/** A model's reply about a text of the space, as JSON; undefined if the model was not asked. */
export function* findModelReply(spaceKey: number, model: ModelReference, textHash: string): Read<string | undefined> {
  return (yield* sql.get<{ said: string }>(
    'SELECT said FROM graph_model_reads WHERE space_key = ? AND model = ? AND text_hash = ? LIMIT 1',
    [spaceKey, formatModelName(model), textHash],
  ))?.said
}

/** Stores a model's reply about a node, which the graph contains now, inside the caller's transaction. */
export function* storeModelReply(
  spaceKey: number,
  model: ModelReference,
  node: number,
  { textHash, reply }: { textHash: string; reply: string },
): Write<void> {
  // no purge would remove the reply of a passage that was purged meanwhile
  if ((yield* sql.get('SELECT 1 one FROM nodes WHERE key = ? AND space_key = ?', [node, spaceKey])) === undefined)
    return
  yield* sql.run('UPDATE graph_model_reads SET is_current = 0 WHERE node_key = ?', [node])
  yield* sql.run(
    `INSERT OR REPLACE INTO graph_model_reads (node_key, model, space_key, text_hash, said, is_current)
     VALUES (?, ?, ?, ?, ?, 1)`,
    [node, formatModelName(model), spaceKey, textHash, reply],
  )
}

export interface LivePassage {
  key: number
  version_key: number
  /** 1 if the graph contains the model's reply about it */
  isRead: number
}

/** Published passages of a space after one, in key order. */
export function* listPassagesAfter(
  spaceKey: number,
  model: ModelReference,
  after: number,
  limit: number,
): Read<LivePassage[]> {
  return yield* sql.all<LivePassage>(
    `SELECT n.key, n.version_key, EXISTS (SELECT 1 FROM graph_model_reads r
       WHERE r.node_key = n.key AND r.model = ? AND r.is_current = 1) isRead
     FROM nodes n INDEXED BY nodes_place CROSS JOIN versions v ON v.key = n.version_key
     CROSS JOIN documents d ON d.key = v.doc_key
     WHERE n.space_key = ? AND n.key > ? AND v.from_revision IS NOT NULL AND v.until_revision IS NULL
       AND d.deleted_at IS NULL ORDER BY n.key LIMIT +?`,
    [formatModelName(model), spaceKey, after, limit],
  )
}

export function* findNodeText(spaceKey: number, node: number): Read<string | undefined> {
  return (yield* sql.get<{ text: string }>('SELECT text FROM nodes WHERE key = ? AND space_key = ?', [node, spaceKey]))
    ?.text
}
