import { type Read, sql, type Write } from '../program.js'
import { type Reader, sqlCanRead, toReaderParameter } from './permissions.js'

/** A golden question or a failed query, as the owner of quotes. */
export interface QuoteOwner {
  tenant: string
  id: string
}

/**
 * SQL: whether a reader may read a golden question or a failed query: every source that it quotes. It takes one
 * parameter, `toReaderParameter(reader)`.
 *
 * @param owner its table
 */
export function sqlCanReadQuotes(owner: string): string {
  return `NOT EXISTS (SELECT 1 FROM quoted_sources quoted WHERE quoted.tenant = ${owner}.tenant AND quoted.owner = ${owner}.id
    AND NOT ${sqlCanRead('quoted.source_id')})`
}

/**
 * The restricted sources of passages and documents, of those that the reader may read.
 *
 * @param ids of nodes or documents; unknown ids are ignored
 */
export function* listRestrictedSources(reader: Reader, ids: readonly string[]): Read<string[]> {
  const rows = yield* sql.all<{ source_id: string }>(
    `SELECT DISTINCT d.source_id FROM json_each(?) wanted
     CROSS JOIN documents d ON d.key = coalesce((SELECT doc_key FROM nodes WHERE id = wanted.value),
       (SELECT key FROM documents WHERE tenant = ? AND id = wanted.value))
       AND d.tenant = ?
     WHERE d.source_id IN (SELECT source_id FROM source_readers) AND ${sqlCanRead('d.source_id')} ORDER BY d.source_id`,
    [JSON.stringify(ids), reader.tenant, reader.tenant, toReaderParameter(reader)],
  )
  return rows.map(({ source_id }) => source_id)
}

/** Adds quoted sources to a golden question or a failed query, inside the caller's transaction. */
export function* addQuotes({ tenant, id }: QuoteOwner, sources: readonly string[]): Write<void> {
  for (const source of sources)
    yield* sql.run('INSERT OR IGNORE INTO quoted_sources (tenant, owner, source_id) VALUES (?, ?, ?)', [
      tenant,
      id,
      source,
    ])
}

/** The sources that a golden question or a failed query quotes. */
export function* listQuotes({ tenant, id }: QuoteOwner): Read<string[]> {
  return (yield* sql.all<{ source_id: string }>(
    'SELECT source_id FROM quoted_sources WHERE tenant = ? AND owner = ? ORDER BY source_id',
    [tenant, id],
  )).map(({ source_id }) => source_id)
}
