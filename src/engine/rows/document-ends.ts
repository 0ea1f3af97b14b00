import { type Read, sql, type Write } from '../storage/program.js'
import type { DocumentRow } from './documents.js'
import { logRemoved } from './projection-log.js'

/** What a document made: its versions and their nodes. */
export interface Made {
  versions: number
  nodes: number
  /** the log's last entry for the nodes; 0 where there are none */
  seq: number
}

/** Takes a document and its versions out of every revision from `revision` on, and its nodes out of the search indexes. */
export function* hideDocument(row: DocumentRow, revision: number, now: number): Write<Made> {
  const versions = yield* sql.all<{
    key: number
    node_count: number
    first_node: number | null
    last_node: number | null
  }>('SELECT key, node_count, first_node, last_node FROM versions WHERE doc_key = ? AND version > 0', [row.key])
  let seq = 0
  for (const version of versions) {
    if (version.first_node !== null && version.last_node !== null)
      seq = yield* logRemoved(row.space_key, version.first_node, version.last_node)
  }
  yield* sql.run('UPDATE versions SET until_revision = ? WHERE doc_key = ? AND until_revision IS NULL', [
    revision,
    row.key,
  ])
  yield* sql.run('UPDATE documents SET deleted_at = ?, updated_at = ? WHERE key = ?', [now, now, row.key])
  return { versions: versions.length, nodes: versions.reduce((sum, version) => sum + version.node_count, 0), seq }
}

/** Ids of a document's jobs that have not ended. */
export function* openJobsOf(docKey: number): Read<string[]> {
  const open = yield* sql.all<{ id: string }>('SELECT id FROM jobs WHERE doc_key = ? AND completed_at IS NULL', [
    docKey,
  ])
  return open.map(({ id }) => id)
}

export function* cancelJob(id: string, now: number): Write<void> {
  yield* sql.run(
    "UPDATE jobs SET stage = 'canceled', claimed_by = NULL, updated_at = ?, completed_at = ? WHERE id = ?",
    [now, now, id],
  )
}
