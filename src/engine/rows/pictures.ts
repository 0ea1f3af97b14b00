import type { DegradedClass } from '../base/degraded.js'
import type { ProviderTrouble } from '../models/trouble.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { othersThan } from './gateways.js'

/** SQL: whether the pictures of version `v` were not all asked for. @param model quoted, of `quotedModel` */
export function isUnread(model: string): string {
  return `(EXISTS (SELECT 1 FROM item_assets a WHERE a.version_key = v.key)
    AND NOT EXISTS (SELECT 1 FROM picture_readings p WHERE p.version_key = v.key AND p.model = ${model}))`
}

/** A model as a text of SQL: conditions over versions are written with what they compare. */
export function quotedModel(model: string): string {
  return `'${model.replaceAll("'", "''")}'`
}

/** A picture that a version has, and whether the model was asked for it. */
export interface PictureRow {
  item_id: string
  content_type: string
  sha256: string
  size: number
  isAsked: number
}

/** The pictures of a version in the order of their names, without their bytes. */
export function* picturesOf(spaceKey: number, versionKey: number, model: string, limit: number): Read<PictureRow[]> {
  return yield* sql.all<PictureRow>(
    `SELECT a.item_id, a.content_type, a.sha256, length(a.bytes) size,
       EXISTS (SELECT 1 FROM picture_descriptions d
         WHERE d.space_key = ? AND d.model = ? AND d.picture = a.sha256) isAsked
     FROM item_assets a WHERE a.version_key = ? AND a.content_type LIKE 'image/%'
     ORDER BY length(a.item_id), a.item_id LIMIT +?`,
    [spaceKey, model, versionKey, limit],
  )
}

/** Whether a picture was asked for meanwhile, as another gateway may have done. */
export function* isDescribed(spaceKey: number, model: string, picture: string): Read<boolean> {
  return (
    (yield* sql.get('SELECT 1 one FROM picture_descriptions WHERE space_key = ? AND model = ? AND picture = ?', [
      spaceKey,
      model,
      picture,
    ])) !== undefined
  )
}

/** Keeps what a model said of a picture, or why it refused it. */
export function* describe(
  spaceKey: number,
  model: string,
  picture: string,
  { said, error }: { said?: string; error?: string },
): Write<void> {
  // of a picture that was purged meanwhile nothing would remove it
  const there = yield* sql.get(
    `SELECT 1 one FROM item_assets a JOIN versions v ON v.key = a.version_key WHERE a.sha256 = ? AND v.space_key = ?`,
    [picture, spaceKey],
  )
  if (there === undefined) return
  yield* sql.run(
    `INSERT OR REPLACE INTO picture_descriptions (space_key, model, picture, said, error, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [spaceKey, model, picture, said ?? null, error ?? null, Date.now()],
  )
  yield* sql.run('DELETE FROM picture_waits WHERE space_key = ?', [spaceKey])
}

/** What a model said of the pictures that the published versions of documents have. @param docs row keys */
export function* descriptionsOf(
  spaceKey: number,
  model: string,
  docs: readonly number[],
): Read<{ doc_key: number; picture: string; said: string }[]> {
  return yield* sql.all(
    `SELECT v.doc_key, d.picture, d.said FROM json_each(?) wanted
     CROSS JOIN versions v INDEXED BY versions_visible ON v.doc_key = wanted.value
     CROSS JOIN item_assets a ON a.version_key = v.key
     JOIN picture_descriptions d ON d.space_key = ? AND d.model = ? AND d.picture = a.sha256
     WHERE v.space_key = ? AND v.from_revision IS NOT NULL AND v.until_revision IS NULL AND d.said IS NOT NULL`,
    [JSON.stringify(docs), spaceKey, model, spaceKey],
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

/** Forgets what was said of the pictures of a version that goes, but for those that others of its space show as well. */
export function* forgetPictures(versionKey: number): Write<void> {
  yield* sql.run('DELETE FROM picture_readings WHERE version_key = ?', [versionKey])
  yield* sql.run(
    `DELETE FROM picture_descriptions WHERE space_key = (SELECT space_key FROM versions WHERE key = ?)
       AND picture IN (SELECT sha256 FROM item_assets WHERE version_key = ?)
       AND NOT EXISTS (SELECT 1 FROM item_assets other JOIN versions v ON v.key = other.version_key
         WHERE other.sha256 = picture_descriptions.picture AND v.space_key = picture_descriptions.space_key AND v.key <> ?)`,
    [versionKey, versionKey, versionKey],
  )
}

/** A space whose vision model does not answer. */
export interface PictureWait {
  space_key: number
  attempts: number
  since: number
  next_at: number
  error_class: DegradedClass
  error: string
  permanent: number
}

export function* pictureWait(spaceKey: number): Read<PictureWait | undefined> {
  return yield* sql.get<PictureWait>('SELECT * FROM picture_waits WHERE space_key = ?', [spaceKey])
}

export function* putOffPictures(spaceKey: number, trouble: ProviderTrouble, now: number, nextAt: number): Write<void> {
  yield* sql.run(
    `INSERT INTO picture_waits (space_key, attempts, since, next_at, error_class, error, permanent) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (space_key) DO UPDATE SET attempts = attempts + 1, next_at = excluded.next_at,
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
