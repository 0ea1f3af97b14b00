import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import type { AppScope } from '../../../store/rows/chat/apps.js'
import type { EndUserScope, MessageRow } from '../../../store/rows/chat/conversations.js'

/** A row of `chat_feedback`. */
export interface FeedbackRow {
  id: string
  app_id: string
  end_user_id: string
  conversation_id: string
  message_id: string
  rating: 'like' | 'dislike'
  content: string
  created_at: number
  updated_at: number
}

/** The rating that an end user gave an answer. */
export function* findRating(endUser: EndUserScope, messageId: string): Read<FeedbackRow['rating'] | undefined> {
  return (yield* sql.get<Pick<FeedbackRow, 'rating'>>(
    'SELECT rating FROM chat_feedback WHERE tenant = ? AND message_id = ? AND end_user_id = ?',
    [endUser.tenant, messageId, endUser.userId],
  ))?.rating
}

/** Removes a rating, if there is one, inside the caller's transaction. */
export function* removeRating(endUser: EndUserScope, messageId: string): Write<void> {
  yield* sql.run('DELETE FROM chat_feedback WHERE tenant = ? AND message_id = ? AND end_user_id = ?', [
    endUser.tenant,
    messageId,
    endUser.userId,
  ])
}

/** Rates an answer, once for each end user, inside the caller's transaction. */
export function* setRating(
  endUser: EndUserScope,
  message: MessageRow,
  { rating, content }: Pick<FeedbackRow, 'rating' | 'content'>,
): Write<void> {
  const now = yield* readClock()
  yield* sql.run(
    `INSERT INTO chat_feedback
       (tenant, id, app_id, end_user_id, conversation_id, message_id, rating, content, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, message_id, end_user_id) DO UPDATE SET
       rating = excluded.rating, content = excluded.content, updated_at = excluded.updated_at`,
    [
      endUser.tenant,
      newId(),
      endUser.appId,
      endUser.userId,
      message.conversation_id,
      message.id,
      rating,
      content,
      now,
      now,
    ],
  )
}

/** A page of the ratings of an application, newest first. */
export function* listRatings({ tenant, appId }: AppScope, page: number, limit: number): Read<FeedbackRow[]> {
  return yield* sql.all<FeedbackRow>(
    'SELECT * FROM chat_feedback WHERE tenant = ? AND app_id = ? ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?',
    [tenant, appId, limit, (page - 1) * limit],
  )
}
