import { type Read, sql, type Write } from '../storage/program.js'
import { askerOf, mayKnow, type Reader } from './permissions.js'

/**
 * SQL: whether a reader may know of a golden question or a failed query: of every source that it quotes. It takes one
 * parameter, `askerOf(reader)`.
 *
 * @param owner column of its id, with its table's name
 */
export function quotesKnown(owner: string): string {
  return `NOT EXISTS (SELECT 1 FROM quoted_sources quoted WHERE quoted.owner = ${owner}
    AND NOT ${mayKnow('quoted.source_id')})`
}

/**
 * The restricted sources of passages and documents, of those that the reader may know of.
 *
 * @param ids of nodes or documents; what they name in no space counts for nothing
 */
export function* restrictedSources(reader: Reader, ids: readonly string[]): Read<string[]> {
  const rows = yield* sql.all<{ source_id: string }>(
    `SELECT DISTINCT d.source_id FROM json_each(?) wanted
     CROSS JOIN documents d ON d.key = coalesce((SELECT doc_key FROM nodes WHERE id = wanted.value),
       (SELECT key FROM documents WHERE id = wanted.value))
     WHERE d.source_id IN (SELECT source_id FROM source_readers) AND ${mayKnow('d.source_id')} ORDER BY d.source_id`,
    [JSON.stringify(ids), askerOf(reader)],
  )
  return rows.map(({ source_id }) => source_id)
}

/** Notes what a golden question or a failed query quotes, beside what it quotes already, inside the caller's transaction. */
export function* recordQuotes(owner: string, sources: readonly string[]): Write<void> {
  for (const source of sources)
    yield* sql.run('INSERT OR IGNORE INTO quoted_sources (owner, source_id) VALUES (?, ?)', [owner, source])
}

/** What a golden question or a failed query quotes. */
export function* quotesOf(owner: string): Read<string[]> {
  return (yield* sql.all<{ source_id: string }>(
    'SELECT source_id FROM quoted_sources WHERE owner = ? ORDER BY source_id',
    [owner],
  )).map(({ source_id }) => source_id)
}
