import { sql, type Write } from '../../../store/program.js'

/** Removes a node with its vectors. */
export function* removeNode(spaceKey: number, nodeKey: number): Write<void> {
  yield* sql.run(
    'DELETE FROM vectors WHERE node_key = ? AND vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)',
    [nodeKey, spaceKey],
  )
  yield* sql.run('DELETE FROM nodes WHERE key = ?', [nodeKey])
}

/** Removes an answer trace with its evidence bundles. */
export function* removeTrace({ tenant, id }: { tenant: string; id: string }): Write<void> {
  yield* sql.run('DELETE FROM evidence_bundles WHERE tenant = ? AND trace_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM traces WHERE tenant = ? AND id = ?', [tenant, id])
}
