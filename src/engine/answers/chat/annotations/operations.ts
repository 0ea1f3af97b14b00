import type {
  AnnotationReplyBody,
  AnnotationsQuery,
  ChatAnnotationBody,
} from '../../../../contract/chat/annotations.js'
import type { EngineContext } from '../../../library/index.js'
import { bind, bindRead } from '../../../store/bind-operation.js'
import { createAnnotation, deleteAnnotation, listAnnotations, updateAnnotation } from '../../rows/chat/annotations.js'
import { type AppSession, toAppKey } from '../apps.js'
import { AnnotationJobs, type AnnotationReplyAction } from './jobs.js'
import { AnnotationMatcher } from './match.js'

/** Operations on questions of an application with fixed answers. Every failure is a `ChatError`. */
export function createAnnotationService(context: EngineContext) {
  const { db } = context
  const matcher = new AnnotationMatcher(context)
  const jobs = new AnnotationJobs(context, matcher)
  const operations = {
    list: bindRead(db, (session: AppSession, query: AnnotationsQuery) => listAnnotations(toAppKey(session), query)),
    create: bind((session: AppSession, body: ChatAnnotationBody) =>
      db.write(() => createAnnotation(toAppKey(session), body)),
    ),
    update: bind((session: AppSession, id: string, body: ChatAnnotationBody) =>
      db.write(() => updateAnnotation(toAppKey(session), id, body)),
    ),
    delete: bind((session: AppSession, id: string) => db.write(() => deleteAnnotation(toAppKey(session), id))),
    setReply: bind((session: AppSession, action: AnnotationReplyAction, body: AnnotationReplyBody) =>
      jobs.begin(session, action, body),
    ),
    replyJob: bind((session: AppSession, action: string, id: string) => jobs.status(session, action, id)),
  }
  return { operations, matcher, close: () => jobs.close() }
}
