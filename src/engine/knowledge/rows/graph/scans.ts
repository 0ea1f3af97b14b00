import { type Read, sql, type Write } from '../../../store/program.js'

/** A passage as the graph extraction reads it. */
export interface ScannedNode {
  key: number
  version_key: number
  title: string
  text: string
  section: string
}

/** The last passage that was scanned; 0 before the first. */
export function* getScanPosition(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ node_key: number }>('SELECT node_key FROM graph_scans WHERE space_key = ?', [spaceKey]))
      ?.node_key ?? 0
  )
}

export function* setScanPosition(spaceKey: number, node: number): Write<void> {
  yield* sql.run('INSERT OR REPLACE INTO graph_scans (space_key, node_key) VALUES (?, ?)', [spaceKey, node])
}

/** Published passages of a space, in key order. */
export function* listNodesBetween(spaceKey: number, after: number, upTo: number, limit: number): Read<ScannedNode[]> {
  return yield* sql.all<ScannedNode>(
    `SELECT n.key, n.version_key, v.title, n.text, n.section FROM nodes n INDEXED BY nodes_place
     CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = v.doc_key
     WHERE n.space_key = ? AND n.key > ? AND n.key <= ? AND v.from_revision IS NOT NULL AND v.until_revision IS NULL
       AND d.deleted_at IS NULL ORDER BY n.key LIMIT +?`,
    [spaceKey, after, upTo, limit],
  )
}
