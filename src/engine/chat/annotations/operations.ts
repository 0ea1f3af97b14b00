import type {
  Annotation,
  AnnotationJob,
  AnnotationJobStatus,
  AnnotationList,
  AnnotationReplyBody,
  AnnotationsQuery,
  ChatAnnotationBody,
} from '../../../contract/chat/annotations.js'
import type { EngineContext } from '../../context.js'
import { createAnnotation, deleteAnnotation, listAnnotations, updateAnnotation } from '../../rows/chat/annotations.js'
import { type AppSession, toAppKey } from '../apps.js'
import { AnnotationJobs, type AnnotationReplyAction } from './jobs.js'
import { AnnotationMatcher } from './match.js'

/** Questions of an application with fixed answers. Every failure is a `ChatError`. */
export interface AnnotationOperations {
  list(session: AppSession, query: AnnotationsQuery): Promise<AnnotationList>
  create(session: AppSession, body: ChatAnnotationBody): Promise<Annotation>
  update(session: AppSession, id: string, body: ChatAnnotationBody): Promise<Annotation>
  delete(session: AppSession, id: string): Promise<void>
  setReply(session: AppSession, action: AnnotationReplyAction, body: AnnotationReplyBody): Promise<AnnotationJob>
  replyJob(session: AppSession, action: string, id: string): Promise<AnnotationJobStatus>
}

export interface AnnotationService {
  operations: AnnotationOperations
  matcher: AnnotationMatcher
  close(): Promise<void>
}

export function createAnnotationService(context: EngineContext): AnnotationService {
  const { db } = context
  const matcher = new AnnotationMatcher(context)
  const jobs = new AnnotationJobs(context, matcher)
  return {
    operations: {
      list: (session, query) => db.read(listAnnotations(toAppKey(session), query)),
      create: (session, body) => db.write(() => createAnnotation(toAppKey(session), body, Date.now())),
      update: (session, id, body) => db.write(() => updateAnnotation(toAppKey(session), id, body)),
      delete: (session, id) => db.write(() => deleteAnnotation(toAppKey(session), id)),
      setReply: (session, action, body) => jobs.begin(session, action, body),
      replyJob: (session, action, id) => jobs.status(session, action, id),
    },
    matcher,
    close: () => jobs.close(),
  }
}
