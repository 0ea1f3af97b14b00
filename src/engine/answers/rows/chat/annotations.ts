import type {
  Annotation,
  AnnotationList,
  AnnotationsQuery,
  ChatAnnotationBody,
} from '../../../../contract/chat/annotations.js'
import { ChatError } from '../../../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../../../contract/chat/limits.js'
import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import { mapReadable } from '../../../store/readable.js'
import type { AppScope } from '../../../store/rows/chat/apps.js'

export interface AnnotationRow {
  id: string
  question: string
  answer: string
  hit_count: number
  created_at: number
}

export interface AnnotationReplySetting {
  enabled: boolean
  /** 0 to 1 */
  threshold: number
}

const COLUMNS = 'id, question, answer, hit_count, created_at'

export function* listAnnotations(app: AppScope, query: AnnotationsQuery): Read<AnnotationList> {
  const { page, limit, keyword } = query
  const where = `tenant = ? AND app_id = ? ${keyword === undefined ? '' : 'AND instr(folded, ?) > 0'}`
  const values = keyword === undefined ? [app.tenant, app.appId] : [app.tenant, app.appId, keyword.toLowerCase()]
  const total =
    (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM chat_annotations WHERE ${where}`, values))?.n ?? 0
  const rows = yield* sql.all<AnnotationRow>(
    `SELECT ${COLUMNS} FROM chat_annotations WHERE ${where} ORDER BY key DESC LIMIT ? OFFSET ?`,
    [...values, limit, (page - 1) * limit],
  )
  return { data: mapReadable(rows, toAnnotation), has_more: page * limit < total, limit, total, page }
}

/**
 * Inside the caller's transaction. @throws ChatError `too_many_requests` when the application has the maximum number
 */
export function* createAnnotation(app: AppScope, body: ChatAnnotationBody): Write<Annotation> {
  const { question, answer } = body
  const existing = yield* sql.get<{ n: number }>(
    'SELECT count(*) n FROM chat_annotations WHERE tenant = ? AND app_id = ?',
    [app.tenant, app.appId],
  )
  if ((existing?.n ?? 0) >= CHAT_LIMITS.annotationsPerApp)
    throw new ChatError(
      'too_many_requests',
      `an application holds at most ${CHAT_LIMITS.annotationsPerApp} annotations`,
    )
  const [id, now] = [newId(), yield* readClock()]
  yield* sql.run(
    'INSERT INTO chat_annotations (tenant, id, app_id, question, answer, folded, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [app.tenant, id, app.appId, question, answer, toSearchText(body), now],
  )
  return yield* getAnnotation(app, id)
}

/** Inside the caller's transaction. @throws ChatError `not_found` */
export function* updateAnnotation(app: AppScope, id: string, body: ChatAnnotationBody): Write<Annotation> {
  yield* sql.run(
    'UPDATE chat_annotations SET question = ?, answer = ?, folded = ? WHERE tenant = ? AND app_id = ? AND id = ?',
    [body.question, body.answer, toSearchText(body), app.tenant, app.appId, id],
  )
  return yield* getAnnotation(app, id)
}

/** Inside the caller's transaction. @throws ChatError `not_found` */
export function* deleteAnnotation(app: AppScope, id: string): Write<void> {
  yield* getAnnotation(app, id)
  yield* sql.run('DELETE FROM chat_annotations WHERE tenant = ? AND app_id = ? AND id = ?', [app.tenant, app.appId, id])
}

/** Every annotation of an application, newest first: of two equal matches the newer one answers. */
export function* listAllAnnotations(app: AppScope): Read<AnnotationRow[]> {
  return yield* sql.all<AnnotationRow>(
    `SELECT ${COLUMNS} FROM chat_annotations WHERE tenant = ? AND app_id = ? ORDER BY key DESC`,
    [app.tenant, app.appId],
  )
}

/** Inside the caller's transaction. */
export function* incrementHitCount(app: AppScope, id: string): Write<void> {
  yield* sql.run('UPDATE chat_annotations SET hit_count = hit_count + 1 WHERE tenant = ? AND app_id = ? AND id = ?', [
    app.tenant,
    app.appId,
    id,
  ])
}

/** Disabled until a job enables it. */
export function* getReplySetting(app: AppScope): Read<AnnotationReplySetting> {
  const row = yield* sql.get<{ enabled: number; score_threshold: number }>(
    'SELECT enabled, score_threshold FROM chat_annotation_replies WHERE tenant = ? AND app_id = ?',
    [app.tenant, app.appId],
  )
  return { enabled: row?.enabled === 1, threshold: row?.score_threshold ?? 1 }
}

/** Inside the caller's transaction. Disabling keeps the threshold. */
export function* setReplySetting(app: AppScope, enabled: boolean, threshold: number | null): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_annotation_replies (tenant, app_id, enabled, score_threshold)
     SELECT tenant, id, ?, coalesce(CAST(? AS REAL), 1) FROM chat_apps WHERE tenant = ? AND id = ?
     ON CONFLICT (tenant, app_id) DO UPDATE SET enabled = excluded.enabled, score_threshold = coalesce(?, score_threshold)`,
    [enabled ? 1 : 0, threshold, app.tenant, app.appId, threshold],
  )
}

function* getAnnotation(app: AppScope, id: string): Read<Annotation> {
  const row = yield* sql.get<AnnotationRow>(
    `SELECT ${COLUMNS} FROM chat_annotations WHERE tenant = ? AND app_id = ? AND id = ?`,
    [app.tenant, app.appId, id],
  )
  if (row === undefined) throw new ChatError('not_found', 'Annotation not found')
  return toAnnotation(row)
}

function toAnnotation(row: AnnotationRow): Annotation {
  return { ...row, created_at: Math.floor(row.created_at / 1000) }
}

function toSearchText({ question, answer }: ChatAnnotationBody): string {
  return `${question.toLowerCase()}\u0001${answer.toLowerCase()}`
}
