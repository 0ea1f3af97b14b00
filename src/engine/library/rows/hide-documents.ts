import { type Read, sql, type Write } from '../../store/program.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import { logRemoved } from '../../store/rows/projection-log.js'

/** Number of versions and nodes of a document. */
interface DocumentCounts {
  versions: number
  nodes: number
}

/** The result of hiding documents. */
export interface HiddenDocuments {
  counts: DocumentCounts[]
  /** the last entry of the index log for the nodes; 0 if there are none */
  seq: number
}

/**
 * Hides documents of a space and their versions from every revision from `revision` on, and removes their nodes from
 * the search indexes.
 */
export function* hideDocuments(
  spaceKey: number,
  rows: readonly DocumentRow[],
  revision: number,
  now: number,
): Write<HiddenDocuments> {
  const versions = yield* sql.allEach<{ node_count: number; first_node: number | null; last_node: number | null }>(
    'SELECT node_count, first_node, last_node FROM versions WHERE doc_key = ? AND version > 0',
    rows.map(({ key }) => [key]),
  )
  const seq = yield* logRemoved(spaceKey, versions.flat())
  yield* sql.runEach(
    'UPDATE versions SET until_revision = ? WHERE doc_key = ? AND until_revision IS NULL',
    rows.map(({ key }) => [revision, key]),
  )
  yield* sql.runEach(
    'UPDATE documents SET deleted_at = ?, updated_at = ? WHERE key = ?',
    rows.map(({ key }) => [now, now, key]),
  )
  const counts = versions.map((ofDocument) => ({
    versions: ofDocument.length,
    nodes: ofDocument.reduce((sum, version) => sum + version.node_count, 0),
  }))
  return { counts, seq }
}

/** Ids of the open jobs of documents. */
export function* listOpenJobs(docKeys: readonly number[]): Read<string[]> {
  const rows = yield* sql.allEach<{ id: string }>(
    'SELECT id FROM jobs WHERE doc_key = ? AND completed_at IS NULL',
    docKeys.map((key) => [key]),
  )
  return rows.flat().map(({ id }) => id)
}

export function* cancelJobs(ids: readonly string[], now: number): Write<void> {
  yield* sql.runEach(
    "UPDATE jobs SET stage = 'canceled', claimed_by = NULL, updated_at = ?, completed_at = ? WHERE id = ?",
    ids.map((id) => [now, now, id]),
  )
}
