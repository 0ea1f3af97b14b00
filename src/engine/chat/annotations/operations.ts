import type {
  Annotation,
  AnnotationBody,
  AnnotationJob,
  AnnotationJobStatus,
  AnnotationList,
  AnnotationReplyBody,
  AnnotationsQuery,
} from '../../../contract/chat/annotations.js'
import type { EngineContext } from '../../context.js'
import { createAnnotation, deleteAnnotation, listAnnotations, updateAnnotation } from '../../rows/chat/annotations.js'
import { type AppSession, appIn } from '../apps.js'
import { AnnotationJobs, type ReplyAction } from './jobs.js'
import { AnnotationMatcher } from './match.js'

/** Questions of an application with fixed answers. Every failure is a `ChatError`. */
export interface AnnotationOperations {
  list(session: AppSession, query: AnnotationsQuery): Promise<AnnotationList>
  create(session: AppSession, body: AnnotationBody): Promise<Annotation>
  update(session: AppSession, id: string, body: AnnotationBody): Promise<Annotation>
  delete(session: AppSession, id: string): Promise<void>
  setReply(session: AppSession, action: ReplyAction, body: AnnotationReplyBody): Promise<AnnotationJob>
  replyJob(session: AppSession, action: string, id: string): Promise<AnnotationJobStatus>
}

export interface Annotations {
  operations: AnnotationOperations
  matcher: AnnotationMatcher
  close(): Promise<void>
}

export function createAnnotations(context: EngineContext): Annotations {
  const { db } = context
  const matcher = new AnnotationMatcher(context)
  const jobs = new AnnotationJobs(context, matcher)
  return {
    operations: {
      list: (session, query) => db.read(listAnnotations(appIn(session), query)),
      create: (session, body) => db.write(() => createAnnotation(appIn(session), body, Date.now())),
      update: (session, id, body) => db.write(() => updateAnnotation(appIn(session), id, body)),
      delete: (session, id) => db.write(() => deleteAnnotation(appIn(session), id)),
      setReply: (session, action, body) => jobs.begin(session, action, body),
      replyJob: (session, action, id) => jobs.status(session, action, id),
    },
    matcher,
    close: () => jobs.close(),
  }
}
