import type { z } from 'zod'
import { ChatError, filenameMissingError } from '../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../contract/chat/limits.js'
import type { ChatRoute } from '../../contract/chat/routes.js'
import type { RouteInput } from '../../contract/route.js'
import type { AppSession, ChatStream, ChatUpload, OpenChatFile } from '../../engine/answers/index.js'
import type { Engine } from '../../engine/api.js'
import type { ChatFormRules, ReceivedFormFile } from './form.js'

/** The reply of a chat operation: a JSON value, a stream, a stored file, bytes, or nothing. */
export type ChatReply =
  | { json: unknown; status?: 200 | 201 }
  | { stream: ChatStream }
  | { file: OpenChatFile; asAttachment: boolean }
  | { bytes: Uint8Array; mediaType: string }
  | 'empty'

type ChatHandler<R extends ChatRoute> = (
  input: RouteInput<R> & ChatCallContext<FormFields<R>>,
) => ChatReply | Promise<ChatReply>

type FormFields<R> = R extends { multipart: { fields: infer F extends z.ZodObject } } ? z.output<F> : never

/** Input of a handler in addition to that of the route. */
export interface ChatCallContext<Fields> {
  /** The application of the request's key. */
  session: AppSession
  /**
   * Reads the form of a multipart route.
   * @returns its validated fields
   */
  receive(rules: ChatFormRules): Promise<Fields>
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  /** The address that opens a file of a message without a key. */
  linkTo(fileId: string): string
}

/** Input of operations with two routes. */
type ChatInput<Id> = RouteInput<Extract<ChatRoute, { id: Id }>> & { session: AppSession }

type ChatHandlers = { [R in ChatRoute as R['id']]: ChatHandler<R> }

const EMPTY_REPLY: ChatReply = 'empty'
const SUCCESS_REPLY: ChatReply = { json: { result: 'success' } }

/** The handler of every chat route, by its id. A route without a handler does not compile. */
export function createChatHandlers({ chat }: Engine): ChatHandlers {
  const setVariable = async ({ session, params, body }: ChatInput<'setConversationVariable'>): Promise<ChatReply> => {
    const ids = { conversationId: params.conversation_id, variableId: params.variable_id }
    return { json: await chat.setVariable(session, ids, body) }
  }
  const rename = async ({ session, params, body }: ChatInput<'renameConversation'>): Promise<ChatReply> => ({
    json: await chat.renameConversation(session, params.conversation_id, body),
  })
  return {
    sendChatMessage: async ({ session, body }) => {
      const turn = await chat.send(session, body)
      return body.response_mode === 'streaming' ? { stream: turn } : { json: await turn.completion() }
    },
    replayChatMessage: async ({ session, params, query }) => ({
      stream: await chat.replay(session, params.task_id, query.user),
    }),
    stopChatMessage: async ({ session, params, body }) => {
      await chat.stop(session, params.task_id, body.user)
      return SUCCESS_REPLY
    },
    rateMessage: async ({ session, params, body }) => {
      await chat.rate(session, params.message_id, body)
      return SUCCESS_REPLY
    },
    listFeedbacks: async ({ session, query }) => ({ json: await chat.feedbacks(session, query) }),
    suggestQuestions: async ({ session, params, query }) => ({
      json: { result: 'success', data: await chat.suggest(session, params.message_id, query.user) },
    }),
    listMessages: async ({ session, query, linkTo }) => ({ json: await chat.messages(session, query, linkTo) }),
    listConversations: async ({ session, query }) => ({ json: await chat.conversations(session, query) }),
    deleteConversation: async ({ session, params, body }) => {
      await chat.deleteConversation(session, params.conversation_id, body.user)
      return EMPTY_REPLY
    },
    renameConversation: rename,
    changeConversation: rename,
    listConversationVariables: async ({ session, params, query }) => ({
      json: await chat.variables(session, params.conversation_id, query),
    }),
    setConversationVariable: setVariable,
    changeConversationVariable: setVariable,
    uploadChatFile: async ({ session, receive }) => {
      const upload = chat.files.upload(session)
      try {
        const { user } = await receive(createFileFormRules(upload))
        return { json: await upload.commit(user), status: session.app.uploadStatus }
      } catch (error) {
        await upload.abort()
        throw error
      }
    },
    previewChatFile: async ({ session, params, query }) => ({
      file: await chat.files.open(session, params.file_id),
      asAttachment: query.as_attachment,
    }),
    audioToText: async ({ session, receive, signal }) => {
      const listening = chat.speech.listen(session)
      try {
        await receive(createAudioFormRules((file) => listening.receive(file)))
        return { json: { text: await listening.transcribe(signal) } }
      } finally {
        listening.end()
      }
    },
    textToAudio: async ({ session, body, signal }) => {
      const { audio, mimeType } = await chat.speech.speak(session, body, signal)
      return { bytes: audio, mediaType: mimeType }
    },
    getChatInfo: async ({ session }) => ({ json: await chat.info(session) }),
    getChatParameters: async ({ session }) => ({ json: await chat.parameters(session) }),
    getChatMeta: ({ session }) => ({ json: chat.meta(session) }),
    getChatSite: ({ session }) => ({ json: chat.site(session) }),
    listAnnotations: async ({ session, query }) => ({ json: await chat.annotations.list(session, query) }),
    createAnnotation: async ({ session, body }) => ({ json: await chat.annotations.create(session, body) }),
    updateAnnotation: async ({ session, params, body }) => ({
      json: await chat.annotations.update(session, params.annotation_id, body),
    }),
    deleteAnnotation: async ({ session, params }) => {
      await chat.annotations.delete(session, params.annotation_id)
      return EMPTY_REPLY
    },
    setAnnotationReply: async ({ session, params, body }) => ({
      json: await chat.annotations.setReply(session, params.action, body),
    }),
    getAnnotationReplyJob: async ({ session, params }) => ({
      json: await chat.annotations.replyJob(session, params.action, params.job_id),
    }),
  }
}

const MAX_FIELD_BYTES = 8192

function createFileFormRules(upload: ChatUpload): ChatFormRules {
  const accept = (file: ReceivedFormFile) => upload.receive(file)
  return {
    file: { name: 'file', maxBytes: upload.maxBytes, accept, unnamed: filenameMissingError },
    maxFieldBytes: MAX_FIELD_BYTES,
    missing: () => new ChatError('no_file_uploaded', 'Please upload your file.'),
    tooLarge: () => upload.createTooLargeError(),
  }
}

function createAudioFormRules(accept: (file: ReceivedFormFile) => Promise<void>): ChatFormRules {
  return {
    file: { name: 'file', maxBytes: CHAT_LIMITS.audioBytes, accept },
    maxFieldBytes: MAX_FIELD_BYTES,
    missing: () => new ChatError('no_audio_uploaded', 'Please upload your audio.'),
    tooLarge: () =>
      new ChatError('audio_too_large', `Audio size exceeded: it has at most ${CHAT_LIMITS.audioBytes} bytes.`),
  }
}
