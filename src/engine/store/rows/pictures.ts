import type { ProviderProblem } from '../../base/provider-problem.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { jsonPathSql } from '../readable.js'
import type { LiveVersionMatch, VersionPosition } from './derivations.js'
import type { VersionRow } from './document-versions.js'
import type { DocumentRow } from './documents.js'
import { hasOtherGateways } from './gateways.js'
import type { ProviderWait } from './provider-wait.js'

/** The next live versions of a space; `meets` is set for those with pictures that the model has not described. */
export function* listPictureVersions(
  spaceKey: number,
  after: VersionPosition,
  model: string,
  limit: number,
): Read<LiveVersionMatch[]> {
  return yield* sql.all<LiveVersionMatch>(
    `SELECT v.key, v.from_revision revision, v.node_count nodes,
       (CAST(${jsonPathSql('v.metadata', '$.pictures')} AS INTEGER) > 0) IS TRUE AND NOT EXISTS
         (SELECT 1 FROM picture_readings p WHERE p.version_key = v.key AND p.model = ?) meets
     FROM versions v INDEXED BY versions_live
     WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision > 0
       AND (v.from_revision, v.node_count, v.key) > (?, ?, ?)
     ORDER BY v.from_revision, v.node_count, v.key LIMIT +?`,
    [model, spaceKey, after.revision, after.nodes, after.key, limit],
  )
}

/** A live version of a space with its document; undefined if one of them is removed. */
export function* findPictureVersion(
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

/** A model's description of a picture; `said` is null if it was rejected. */
export interface PictureDescription {
  said: string | null
  error: string | null
}

/**
 * The description of a picture: that of this document, else that of another document of the space with the same
 * picture.
 */
export function* findPictureDescription(
  { spaceKey, docKey }: { spaceKey: number; docKey: number },
  model: string,
  picture: string,
): Read<(PictureDescription & { isOwn: boolean }) | undefined> {
  const own = yield* sql.get<PictureDescription>(
    'SELECT said, error FROM picture_descriptions WHERE doc_key = ? AND model = ? AND picture = ?',
    [docKey, model, picture],
  )
  if (own !== undefined) return { ...own, isOwn: true }
  const other = yield* sql.get<PictureDescription>(
    `SELECT said, error FROM picture_descriptions WHERE space_key = ? AND model = ? AND picture = ? AND said IS NOT NULL
     LIMIT 1`,
    [spaceKey, model, picture],
  )
  return other === undefined ? undefined : { ...other, isOwn: false }
}

/** Ends the wait for the model: it responds again. */
export function* clearPictureWait(spaceKey: number): Write<void> {
  yield* sql.run('DELETE FROM picture_waits WHERE space_key = ?', [spaceKey])
}

/** Stores a model's description of a picture of a document, or why it was rejected; nothing for a deleted document. */
export function* storePictureDescription(
  { spaceKey, docKey }: { spaceKey: number; docKey: number },
  model: string,
  picture: string,
  { said, error }: PictureDescription,
): Write<void> {
  const isLive = yield* sql.exists(
    'SELECT 1 one FROM documents WHERE key = ? AND space_key = ? AND deleted_at IS NULL',
    [docKey, spaceKey],
  )
  if (!isLive) return
  yield* sql.run(
    `INSERT OR REPLACE INTO picture_descriptions (doc_key, model, picture, space_key, said, error, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [docKey, model, picture, spaceKey, said, error, yield* readClock()],
  )
}

/** A model's descriptions of the pictures of documents. @param docs row keys */
export function* listPictureDescriptions(
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

/** Number of times that a document was compiled again for its picture descriptions. */
export function* getPictureRounds(docKey: number, model: string): Read<number> {
  return (
    (yield* sql.get<{ rounds: number }>('SELECT rounds FROM picture_readings WHERE doc_key = ? AND model = ?', [
      docKey,
      model,
    ]))?.rounds ?? 0
  )
}

/** Records that the model has processed all pictures of a version, inside the caller's transaction. */
export function* markPicturesRead(
  version: { spaceKey: number; docKey: number; versionKey: number },
  model: string,
  rounds: number,
): Write<void> {
  yield* sql.run(
    `INSERT OR REPLACE INTO picture_readings (doc_key, space_key, version_key, model, rounds) VALUES (?, ?, ?, ?, ?)`,
    [version.docKey, version.spaceKey, version.versionKey, model, rounds],
  )
}

/** Removes the descriptions of the pictures of a document that is deleted. */
export function* removePictureDescriptions(docKey: number): Write<void> {
  yield* sql.run('DELETE FROM picture_readings WHERE doc_key = ?', [docKey])
  yield* sql.run('DELETE FROM picture_descriptions WHERE doc_key = ?', [docKey])
}

export function* findPictureWait(spaceKey: number): Read<ProviderWait | undefined> {
  return yield* sql.get<ProviderWait>('SELECT * FROM picture_waits WHERE space_key = ?', [spaceKey])
}

export function* listPictureWaits(): Read<ProviderWait[]> {
  return yield* sql.all<ProviderWait>('SELECT * FROM picture_waits')
}

export function* deferPictures(spaceKey: number, problem: ProviderProblem, now: number, nextAt: number): Write<void> {
  yield* sql.run(
    `INSERT INTO picture_waits (space_key, attempts, since, next_at, error_class, error, permanent) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (space_key) DO UPDATE SET attempts = picture_waits.attempts + 1, next_at = excluded.next_at,
       error_class = excluded.error_class, error = excluded.error, permanent = excluded.permanent`,
    [spaceKey, now, nextAt, problem.class, problem.message, problem.isPermanent ? 1 : 0],
  )
}

/** Makes vision models retry now, after a start, unless other gateways are running. */
export function* retryPicturesNow(gateway: string): Write<void> {
  if (!(yield* hasOtherGateways(gateway))) yield* sql.run('UPDATE picture_waits SET next_at = 0')
}

/** Number of described and of rejected pictures of a space. */
export function* countPictures(spaceKey: number, model: string): Read<{ described: number; refused: number }> {
  const row = yield* sql.get<{ described: number; refused: number }>(
    `SELECT count(said) described, count(*) - count(said) refused FROM picture_descriptions
     WHERE space_key = ? AND model = ?`,
    [spaceKey, model],
  )
  return { described: row?.described ?? 0, refused: row?.refused ?? 0 }
}
