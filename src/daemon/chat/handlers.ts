import type { ChatRoute } from '../../contract/chat/routes.js'
import type { RouteInput } from '../../contract/route.js'
import type { Engine } from '../../engine/api.js'
import type { AppSession } from '../../engine/chat/apps.js'
import type { ChatTurn } from '../../engine/chat/turn.js'

/** What a chat operation answers with: a JSON value, nothing, or an answer that streams. */
export type ChatAnswer = { json: unknown } | { stream: ChatTurn } | 'empty'

type ChatHandler<R extends ChatRoute> = (session: AppSession, input: RouteInput<R>) => ChatAnswer | Promise<ChatAnswer>

type ChatHandlers = { [R in ChatRoute as R['id']]: ChatHandler<R> }

const EMPTY: ChatAnswer = 'empty'
const DONE: ChatAnswer = { json: { result: 'success' } }

/** The handler of every chat route, by its id. A route without one does not compile. */
export function chatHandlers({ chat }: Engine): ChatHandlers {
  return {
    sendChatMessage: async (session, { body }) => {
      const turn = await chat.send(session, body)
      return body.response_mode === 'streaming' ? { stream: turn } : { json: await turn.completion() }
    },
    replayChatMessage: (session, { params, query }) => ({ stream: chat.replay(session, params.task_id, query.user) }),
    stopChatMessage: (session, { params, body }) => {
      chat.stop(session, params.task_id, body.user)
      return DONE
    },
    rateMessage: async (session, { params, body }) => {
      await chat.rate(session, params.message_id, body)
      return DONE
    },
    listFeedbacks: (session, { query }) => ({ json: chat.feedbacks(session, query) }),
    suggestQuestions: async (session, { params, query }) => ({
      json: { result: 'success', data: await chat.suggest(session, params.message_id, query.user) },
    }),
    listMessages: (session, { query }) => ({ json: chat.messages(session, query) }),
    listConversations: (session, { query }) => ({ json: chat.conversations(session, query) }),
    deleteConversation: async (session, { params, body }) => {
      await chat.deleteConversation(session, params.conversation_id, body.user)
      return EMPTY
    },
    renameConversation: async (session, { params, body }) => ({
      json: await chat.renameConversation(session, params.conversation_id, body),
    }),
    listConversationVariables: (session, { params, query }) => ({
      json: chat.variables(session, params.conversation_id, query),
    }),
    getChatInfo: (session) => ({ json: chat.info(session) }),
    getChatParameters: (session) => ({ json: chat.parameters(session) }),
    getChatMeta: () => ({ json: chat.meta() }),
    getChatSite: (session) => ({ json: chat.site(session) }),
  }
}
