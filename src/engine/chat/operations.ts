import type { ChatInfo, ChatMeta, ChatParameters, Site } from '../../contract/chat/application.js'
import type { ChatApp, ChatAppBody, ChatAppKey, ChatAppUpdate, NewChatAppKey } from '../../contract/chat/apps.js'
import type { ChatConversation, ConversationsQuery, RenameBody } from '../../contract/chat/conversations.js'
import type {
  ChatRequest,
  ConversationMessage,
  FeedbackBody,
  FeedbackItem,
  MessagesQuery,
} from '../../contract/chat/messages.js'
import type { TextToAudio } from '../../contract/chat/speech.js'
import type { VariableBody, VariableItem, VariablesQuery } from '../../contract/chat/variables.js'
import { KsError } from '../../contract/errors.js'
import type { Caller } from '../base/caller.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { createAddressRule } from '../egress/addresses.js'
import { createSafeFetch } from '../egress/safe-fetch.js'
import type { Speech } from '../models/types.js'
import type { AgentShared } from './agent/tools.js'
import { type AnnotationOperations, createAnnotationService } from './annotations/operations.js'
import * as apps from './apps.js'
import {
  type ChatPage,
  deleteConversation,
  listConversations,
  nameInBackground,
  renameConversation,
} from './conversations.js'
import { describeInfo, describeMeta, describeParameters, describeSite } from './describe.js'
import { findSessionOfFile, type OpenChatFile, openChatFile } from './files/preview.js'
import { type ChatUpload, startUpload } from './files/upload.js'
import { replayTurn, stopRemoteTurn } from './gateways/remote-turns.js'
import { listFeedbacks, listMessages, rateMessage } from './messages.js'
import { type SentMessage, sendMessage } from './send.js'
import { convertToSpeech } from './speech/speak.js'
import { type Transcription, Transcriptions } from './speech/transcriptions.js'
import { QuestionSuggestions } from './suggestions.js'
import type { ChatStream, ChatTurn } from './turn.js'
import { ChatTurns } from './turns.js'
import { listVariables, setVariable } from './variables/operations.js'

/** Names the conversation without waiting for a long answer. */
const NAMING_DELAY_MS = 1000

/** Operations of `Engine.chat`. Those of the service fail with `ChatError`, those on applications with `KsError`. */
export interface ChatOperations {
  apps: {
    create(caller: Caller, body: ChatAppBody): Promise<ChatApp>
    list(caller: Caller): Promise<{ items: ChatApp[] }>
    get(caller: Caller, id: string): Promise<ChatApp>
    update(caller: Caller, id: string, body: ChatAppUpdate): Promise<ChatApp>
    delete(caller: Caller, id: string): Promise<void>
    createKey(caller: Caller, id: string): Promise<NewChatAppKey>
    listKeys(caller: Caller, id: string): Promise<{ items: ChatAppKey[] }>
    revokeKey(caller: Caller, id: string, keyId: string): Promise<void>
  }
  annotations: AnnotationOperations
  /** The application of a key; undefined for an unknown or revoked one. */
  authenticate(key: string): Promise<apps.AppSession | undefined>
  /** The application by its id, for callers with other proof of access. */
  session(of: Pick<Caller, 'tenant'> & { appId: string }): Promise<apps.AppSession | undefined>
  info(session: apps.AppSession): ChatInfo
  parameters(session: apps.AppSession): Promise<ChatParameters>
  meta(session: apps.AppSession): ChatMeta
  site(session: apps.AppSession): Site
  /** Resolves when all messages admitted so far are stored or have failed. */
  stored(session: apps.AppSession): Promise<void>
  /** Admits a message; its answer is generated whether or not a client reads it. */
  send(session: apps.AppSession, request: ChatRequest): Promise<ChatTurn>
  /**
   * Replays a running or just finished answer.
   * @throws ChatError `not_found`
   */
  replay(session: apps.AppSession, taskId: string, user: string): Promise<ChatStream>
  /** Stops an answer of this user; no effect on other tasks. */
  stop(session: apps.AppSession, taskId: string, user: string): Promise<void>
  files: {
    upload(session: apps.AppSession): ChatUpload
    /**
     * Opens a file of a message of the application.
     * @throws ChatError `file_not_found`, `file_access_denied`
     */
    open(session: apps.AppSession, id: string): Promise<OpenChatFile>
    /** The application of a file, for a signed address. */
    sessionOf(id: string): Promise<apps.AppSession | undefined>
  }
  speech: {
    /** Converts a text or an answer to speech. */
    speak(session: apps.AppSession, body: TextToAudio, signal: AbortSignal): Promise<Speech>
    /** Admits a file for transcription. */
    listen(session: apps.AppSession): Transcription
  }
  rate(session: apps.AppSession, messageId: string, body: FeedbackBody): Promise<void>
  feedbacks(session: apps.AppSession, page: { page: number; limit: number }): Promise<{ data: FeedbackItem[] }>
  suggest(session: apps.AppSession, messageId: string, user: string): Promise<string[]>
  /** @param linkTo builds the address that opens a file without a key */
  messages(
    session: apps.AppSession,
    query: MessagesQuery,
    linkTo: (fileId: string) => string,
  ): Promise<ChatPage<ConversationMessage>>
  conversations(session: apps.AppSession, query: ConversationsQuery): Promise<ChatPage<ChatConversation>>
  deleteConversation(session: apps.AppSession, id: string, user: string): Promise<void>
  renameConversation(session: apps.AppSession, id: string, body: RenameBody): Promise<ChatConversation>
  variables(session: apps.AppSession, id: string, query: VariablesQuery): Promise<ChatPage<VariableItem>>
  setVariable(
    session: apps.AppSession,
    which: { conversationId: string; variableId: string },
    body: VariableBody,
  ): Promise<VariableItem>
}

/** Creates the chat service of an engine, with the function that closes it. */
export function createChatService(
  context: EngineContext,
  shared: AgentShared,
): { operations: ChatOperations; running(): number; close(): Promise<void> } {
  const { db, log } = context
  const annotations = createAnnotationService(context)
  const turns = new ChatTurns(context, { ...shared, matcher: annotations.matcher })
  const fetcher = createSafeFetch(createAddressRule(context.options.sources?.egressAllow ?? []))
  const transcriptions = new Transcriptions(context)
  const ending = new AbortController()
  const suggestions = new QuestionSuggestions(context, ending.signal)
  const naming = new Set<Promise<void>>()

  const nameLater = (session: apps.AppSession, { turn, isNew }: SentMessage, request: ChatRequest) => {
    if (!isNew || !request.auto_generate_name) return
    const conversation = { id: turn.ids.conversationId, query: request.query }
    const soon = new Promise<void>((resolve) => setTimeout(resolve, NAMING_DELAY_MS).unref())
    const work = Promise.race([turn.ended(), soon])
      .then(async () => {
        // A model that just failed would fail again.
        if (!turn.settled && !turn.failed)
          await nameInBackground(context, session, request.user, conversation, ending.signal)
      })
      .catch((error: unknown) => {
        const isLimited = error instanceof KsError && error.code === 'rate-limited'
        log[isLimited ? 'debug' : 'warn']({ error: String(error) }, 'a conversation could not be named')
      })
      .finally(() => naming.delete(work))
    naming.add(work)
  }

  const operations: ChatOperations = {
    apps: {
      create: (caller, body) => apps.createApp(context, caller, body),
      list: (caller) => db.read(apps.listApps(caller)),
      get: (caller, id) => db.read(apps.findApp(caller, id)),
      update: (caller, id, body) => apps.updateApp(context, caller, id, body),
      delete: async (caller, id) => {
        await db.read(apps.findApp(caller, id))
        await turns.messageWrites.stored(id)
        await apps.deleteApp(db, caller, id)
        turns.cut((turn) => turn.sender.appId === id)
        context.wake()
      },
      createKey: (caller, id) => apps.createKey(db, caller, id),
      listKeys: (caller, id) => db.read(apps.listKeys(caller, id)),
      revokeKey: (caller, id, keyId) => apps.revokeKey(db, caller, id, keyId),
    },
    annotations: annotations.operations,
    authenticate: (key) => asDeployment(() => db.read(apps.authenticate(key))),
    session: (of) => db.read(apps.findSession(of)),
    info: describeInfo,
    parameters: (session) => db.read(describeParameters(context, session)),
    meta: describeMeta,
    site: describeSite,
    stored: (session) => turns.messageWrites.stored(session.app.id),
    send: async (session, request) => {
      const sent = await sendMessage(context, turns, fetcher, session, request)
      nameLater(session, sent, request)
      return sent.turn
    },
    replay: (session, taskId, user) =>
      replayTurn(context, turns.find({ appId: session.app.id, user }, taskId), session, taskId, user),
    stop: async (session, taskId, user) => {
      const turn = turns.find({ appId: session.app.id, user }, taskId)
      if (turn?.over === false) turn.abort('stopped')
      else if (turn === undefined && context.isShared) await stopRemoteTurn(db, session, taskId, user)
    },
    files: {
      upload: (session) => startUpload(context, session),
      open: (session, id) => openChatFile(context, session, id),
      sessionOf: (id) => asDeployment(() => db.read(findSessionOfFile(id))),
    },
    speech: {
      speak: (session, body, signal) => convertToSpeech(context, session, body, signal),
      listen: (session) => transcriptions.open(session),
    },
    rate: (session, id, body) => rateMessage(db, session, id, body),
    feedbacks: (session, page) => db.read(listFeedbacks(session, page)),
    suggest: (session, id, user) => suggestions.get(session, id, user),
    messages: (session, query, linkTo) => db.read(listMessages(session, query, linkTo)),
    conversations: (session, query) => db.read(listConversations(session, query)),
    deleteConversation: async (session, id, user) => {
      await deleteConversation(db, session, user, id)
      turns.cut((turn) => turn.ids.conversationId === id)
      context.wake()
    },
    renameConversation: (session, id, body) => renameConversation(context, session, id, body, ending.signal),
    variables: (session, id, query) => db.read(listVariables(session, id, query)),
    setVariable: (session, which, body) => setVariable(db, session, which, body),
  }
  return {
    operations,
    running: () => turns.running(),
    close: async () => {
      await Promise.all([turns.close(), annotations.close()])
      ending.abort()
      await Promise.all([...naming, fetcher.close()])
    },
  }
}
