import { type Read, sql } from '../../../store/program.js'
import { sqlIsOpen } from '../../../store/rows/permissions.js'

/** Of some passages, those that the whole tenant may read, or that come from one of some sources. */
export function* filterOpenPassages(keys: readonly number[], audience: readonly string[]): Read<number[]> {
  return (yield* sql.all<{ key: number }>(
    `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
       CROSS JOIN documents d ON d.key = n.doc_key
       WHERE ${sqlIsOpen('d.source_id')} OR d.source_id IN (SELECT value FROM json_each(?)) ORDER BY wanted.key`,
    [JSON.stringify(keys), JSON.stringify(audience)],
  )).map(({ key }) => key)
}

/** The beginnings of some published passages that are open or come from one of some sources. */
export function* listOpenTexts(
  spaceKey: number,
  audience: readonly string[],
  { passages, characters }: { passages: number; characters: number },
): Read<string[]> {
  return (yield* sql.all<{ body: string }>(
    `SELECT substr(n.text, 1, ${characters}) body FROM versions v CROSS JOIN nodes n ON n.version_key = v.key
       CROSS JOIN documents d ON d.key = v.doc_key
       WHERE v.space_key = ? AND v.from_revision IS NOT NULL AND v.until_revision IS NULL AND d.deleted_at IS NULL
         AND (${sqlIsOpen('d.source_id')} OR d.source_id IN (SELECT value FROM json_each(?))) LIMIT ${passages}`,
    [spaceKey, JSON.stringify(audience)],
  )).map(({ body }) => String(body))
}

/** Names of unpublished documents that are open or come from one of some sources, newest first. */
export function* listOpenUnpublished(spaceKey: number, audience: readonly string[], limit: number): Read<string[]> {
  return (yield* sql.all<{ filename: string }>(
    `SELECT d.filename FROM documents d WHERE d.space_key = ? AND d.deleted_at IS NULL AND d.parser_status <> 'parsed'
       AND (${sqlIsOpen('d.source_id')} OR d.source_id IN (SELECT value FROM json_each(?))) ORDER BY d.key DESC LIMIT ?`,
    [spaceKey, JSON.stringify(audience), limit],
  )).map(({ filename }) => filename)
}

/** The document of each passage, by passage id, and when its version was stored. */
export function* listPassageVersions(nodes: readonly string[]): Read<{ document: string; published: number }[]> {
  return yield* sql.all<{ document: string; published: number }>(
    `SELECT documents.id document, versions.created_at published FROM json_each(?) wanted
     CROSS JOIN nodes ON nodes.id = wanted.value CROSS JOIN versions ON versions.key = nodes.version_key
     CROSS JOIN documents ON documents.key = nodes.doc_key`,
    [JSON.stringify(nodes)],
  )
}
