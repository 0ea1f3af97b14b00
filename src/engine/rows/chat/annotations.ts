import type {
  Annotation,
  AnnotationBody,
  AnnotationList,
  AnnotationsQuery,
} from '../../../contract/chat/annotations.js'
import { ChatError } from '../../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../../contract/chat/limits.js'
import { newId } from '../../../lib/ids.js'
import { type Read, sql, type Write } from '../../storage/program.js'
import { readable } from '../../storage/readable.js'
import type { OfApp } from './apps.js'

export interface AnnotationRow {
  id: string
  question: string
  answer: string
  hit_count: number
  created_at: number
}

export interface ReplySetting {
  enabled: boolean
  /** 0 to 1 */
  threshold: number
}

const COLUMNS = 'id, question, answer, hit_count, created_at'

export function* listAnnotations(of: OfApp, query: AnnotationsQuery): Read<AnnotationList> {
  const { page, limit, keyword } = query
  const where = `tenant = ? AND app_id = ? ${keyword === undefined ? '' : 'AND instr(folded, ?) > 0'}`
  const values = keyword === undefined ? [of.tenant, of.appId] : [of.tenant, of.appId, keyword.toLowerCase()]
  const total =
    (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM chat_annotations WHERE ${where}`, values))?.n ?? 0
  const rows = yield* sql.all<AnnotationRow>(
    `SELECT ${COLUMNS} FROM chat_annotations WHERE ${where} ORDER BY key DESC LIMIT ? OFFSET ?`,
    [...values, limit, (page - 1) * limit],
  )
  return { data: readable(rows, toAnnotation), has_more: page * limit < total, limit, total, page }
}

/**
 * Inside the caller's transaction. @throws ChatError `too_many_requests` when the application has the maximum number
 */
export function* createAnnotation(of: OfApp, body: AnnotationBody, now: number): Write<Annotation> {
  const { question, answer } = body
  const held = yield* sql.get<{ n: number }>(
    'SELECT count(*) n FROM chat_annotations WHERE tenant = ? AND app_id = ?',
    [of.tenant, of.appId],
  )
  if ((held?.n ?? 0) >= CHAT_LIMITS.annotationsPerApp)
    throw new ChatError(
      'too_many_requests',
      `an application holds at most ${CHAT_LIMITS.annotationsPerApp} annotations`,
    )
  const id = newId()
  yield* sql.run(
    'INSERT INTO chat_annotations (tenant, id, app_id, question, answer, folded, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [of.tenant, id, of.appId, question, answer, foldedOf(body), now],
  )
  return yield* required(of, id)
}

/** Inside the caller's transaction. @throws ChatError `not_found` */
export function* updateAnnotation(of: OfApp, id: string, body: AnnotationBody): Write<Annotation> {
  yield* sql.run(
    'UPDATE chat_annotations SET question = ?, answer = ?, folded = ? WHERE tenant = ? AND app_id = ? AND id = ?',
    [body.question, body.answer, foldedOf(body), of.tenant, of.appId, id],
  )
  return yield* required(of, id)
}

/** Inside the caller's transaction. @throws ChatError `not_found` */
export function* deleteAnnotation(of: OfApp, id: string): Write<void> {
  yield* required(of, id)
  yield* sql.run('DELETE FROM chat_annotations WHERE tenant = ? AND app_id = ? AND id = ?', [of.tenant, of.appId, id])
}

/** Every annotation of an application, newest first: of two equal matches the newer one answers. */
export function* allAnnotations(of: OfApp): Read<AnnotationRow[]> {
  return yield* sql.all<AnnotationRow>(
    `SELECT ${COLUMNS} FROM chat_annotations WHERE tenant = ? AND app_id = ? ORDER BY key DESC`,
    [of.tenant, of.appId],
  )
}

/** Inside the caller's transaction. */
export function* countHit(of: OfApp, id: string): Write<void> {
  yield* sql.run('UPDATE chat_annotations SET hit_count = hit_count + 1 WHERE tenant = ? AND app_id = ? AND id = ?', [
    of.tenant,
    of.appId,
    id,
  ])
}

/** Disabled until a job enables it. */
export function* replySetting(of: OfApp): Read<ReplySetting> {
  const row = yield* sql.get<{ enabled: number; score_threshold: number }>(
    'SELECT enabled, score_threshold FROM chat_annotation_replies WHERE tenant = ? AND app_id = ?',
    [of.tenant, of.appId],
  )
  return { enabled: row?.enabled === 1, threshold: row?.score_threshold ?? 1 }
}

/** Inside the caller's transaction. Disabling keeps the threshold. */
export function* setReply(of: OfApp, enabled: boolean, threshold: number | null): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_annotation_replies (tenant, app_id, enabled, score_threshold)
     SELECT tenant, id, ?, coalesce(CAST(? AS REAL), 1) FROM chat_apps WHERE tenant = ? AND id = ?
     ON CONFLICT (tenant, app_id) DO UPDATE SET enabled = excluded.enabled, score_threshold = coalesce(?, score_threshold)`,
    [enabled ? 1 : 0, threshold, of.tenant, of.appId, threshold],
  )
}

function* required(of: OfApp, id: string): Read<Annotation> {
  const row = yield* sql.get<AnnotationRow>(
    `SELECT ${COLUMNS} FROM chat_annotations WHERE tenant = ? AND app_id = ? AND id = ?`,
    [of.tenant, of.appId, id],
  )
  if (row === undefined) throw new ChatError('not_found', 'Annotation not found')
  return toAnnotation(row)
}

function toAnnotation(row: AnnotationRow): Annotation {
  return { ...row, created_at: Math.floor(row.created_at / 1000) }
}

function foldedOf({ question, answer }: AnnotationBody): string {
  return `${question.toLowerCase()}\u0001${answer.toLowerCase()}`
}
