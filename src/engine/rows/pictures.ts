import type { ProviderTrouble } from '../models/trouble.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { jsonAt } from '../storage/readable.js'
import type { LiveVersion, Place } from './derivations.js'
import type { VersionRow } from './document-versions.js'
import type { DocumentRow } from './documents.js'
import { othersThan } from './gateways.js'
import type { ProviderWait } from './provider-wait.js'

/** The next versions that a space shows; those meet that have pictures which the model was not asked for. */
export function* picturedAfter(spaceKey: number, after: Place, model: string, limit: number): Read<LiveVersion[]> {
  return yield* sql.all<LiveVersion>(
    `SELECT v.key, v.from_revision revision, v.node_count nodes,
       (CAST(${jsonAt('v.metadata', '$.pictures')} AS INTEGER) > 0) IS TRUE AND NOT EXISTS
         (SELECT 1 FROM picture_readings p WHERE p.version_key = v.key AND p.model = ?) meets
     FROM versions v INDEXED BY versions_live
     WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision > 0
       AND (v.from_revision, v.node_count, v.key) > (?, ?, ?)
     ORDER BY v.from_revision, v.node_count, v.key LIMIT +?`,
    [model, spaceKey, after.revision, after.nodes, after.key, limit],
  )
}

/** A version that a space shows, with its document; nothing where one of them is gone. */
export function* pictured(
  spaceKey: number,
  versionKey: number,
): Read<{ row: VersionRow; document: DocumentRow } | undefined> {
  const row = yield* sql.get<VersionRow>(
    'SELECT * FROM versions WHERE key = ? AND space_key = ? AND until_revision IS NULL',
    [versionKey, spaceKey],
  )
  if (row === undefined) return undefined
  const document = yield* sql.get<DocumentRow>(
    'SELECT * FROM documents WHERE key = ? AND space_key = ? AND deleted_at IS NULL',
    [row.doc_key, spaceKey],
  )
  return document === undefined ? undefined : { row, document }
}

/** What a model said of a picture; `said` is null where it was refused. */
export interface Said {
  said: string | null
  error: string | null
}

/** What is known of a picture: of this document first, else of another one of the space that shows the same. */
export function* saidOf(
  { spaceKey, docKey }: { spaceKey: number; docKey: number },
  model: string,
  picture: string,
): Read<(Said & { isOwn: boolean }) | undefined> {
  const own = yield* sql.get<Said>(
    'SELECT said, error FROM picture_descriptions WHERE doc_key = ? AND model = ? AND picture = ?',
    [docKey, model, picture],
  )
  if (own !== undefined) return { ...own, isOwn: true }
  const other = yield* sql.get<Said>(
    `SELECT said, error FROM picture_descriptions WHERE space_key = ? AND model = ? AND picture = ? AND said IS NOT NULL
     LIMIT 1`,
    [spaceKey, model, picture],
  )
  return other === undefined ? undefined : { ...other, isOwn: false }
}

/** The model answers. */
export function* forgetPictureWait(spaceKey: number): Write<void> {
  yield* sql.run('DELETE FROM picture_waits WHERE space_key = ?', [spaceKey])
}

/** Keeps what a model said of a picture of a document, or why it refused it; nothing of a document that is gone. */
export function* keepSaid(
  { spaceKey, docKey }: { spaceKey: number; docKey: number },
  model: string,
  picture: string,
  { said, error }: Said,
): Write<void> {
  const there = yield* sql.get('SELECT 1 one FROM documents WHERE key = ? AND space_key = ? AND deleted_at IS NULL', [
    docKey,
    spaceKey,
  ])
  if (there === undefined) return
  yield* sql.run(
    `INSERT OR REPLACE INTO picture_descriptions (doc_key, model, picture, space_key, said, error, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [docKey, model, picture, spaceKey, said, error, Date.now()],
  )
}

/** What a model said of the pictures of documents. @param docs row keys */
export function* descriptionsOf(
  spaceKey: number,
  model: string,
  docs: readonly number[],
): Read<{ doc_key: number; picture: string; said: string }[]> {
  return yield* sql.all(
    `SELECT d.doc_key, d.picture, d.said FROM json_each(?) wanted
     CROSS JOIN picture_descriptions d ON d.doc_key = wanted.value AND d.model = ?
     WHERE d.space_key = ? AND d.said IS NOT NULL`,
    [JSON.stringify(docs), model, spaceKey],
  )
}

/** How often a document was read again for what a model said of its pictures. */
export function* roundsOf(docKey: number, model: string): Read<number> {
  return (
    (yield* sql.get<{ rounds: number }>('SELECT rounds FROM picture_readings WHERE doc_key = ? AND model = ?', [
      docKey,
      model,
    ]))?.rounds ?? 0
  )
}

/** Notes that the pictures of a version were all asked for, inside the caller's transaction. */
export function* noteRead(
  of: { spaceKey: number; docKey: number; versionKey: number },
  model: string,
  rounds: number,
): Write<void> {
  yield* sql.run(
    `INSERT OR REPLACE INTO picture_readings (doc_key, space_key, version_key, model, rounds) VALUES (?, ?, ?, ?, ?)`,
    [of.docKey, of.spaceKey, of.versionKey, model, rounds],
  )
}

/** Forgets what was said of the pictures of a document that goes. */
export function* forgetPictures(docKey: number): Write<void> {
  yield* sql.run('DELETE FROM picture_readings WHERE doc_key = ?', [docKey])
  yield* sql.run('DELETE FROM picture_descriptions WHERE doc_key = ?', [docKey])
}

export function* pictureWait(spaceKey: number): Read<ProviderWait | undefined> {
  return yield* sql.get<ProviderWait>('SELECT * FROM picture_waits WHERE space_key = ?', [spaceKey])
}

export function* pictureWaits(): Read<ProviderWait[]> {
  return yield* sql.all<ProviderWait>('SELECT * FROM picture_waits')
}

export function* putOffPictures(spaceKey: number, trouble: ProviderTrouble, now: number, nextAt: number): Write<void> {
  yield* sql.run(
    `INSERT INTO picture_waits (space_key, attempts, since, next_at, error_class, error, permanent) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (space_key) DO UPDATE SET attempts = picture_waits.attempts + 1, next_at = excluded.next_at,
       error_class = excluded.error_class, error = excluded.error, permanent = excluded.permanent`,
    [spaceKey, now, nextAt, trouble.class, trouble.message, trouble.isPermanent ? 1 : 0],
  )
}

/** Asks vision models again at once, after a start, unless other gateways know what theirs said. */
export function* hurryPictures(gateway: string): Write<void> {
  if (!(yield* othersThan(gateway))) yield* sql.run('UPDATE picture_waits SET next_at = 0')
}

/** Pictures of a space that were described, and those that were refused. */
export function* countPictures(spaceKey: number, model: string): Read<{ described: number; refused: number }> {
  const row = yield* sql.get<{ described: number; refused: number }>(
    `SELECT count(said) described, count(*) - count(said) refused FROM picture_descriptions
     WHERE space_key = ? AND model = ?`,
    [spaceKey, model],
  )
  return { described: row?.described ?? 0, refused: row?.refused ?? 0 }
}
