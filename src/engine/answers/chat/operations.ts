import type { ChatParameters } from '../../../contract/chat/application.js'
import type { ChatApp, ChatAppBody, ChatAppUpdate } from '../../../contract/chat/apps.js'
import type { RenameBody } from '../../../contract/chat/conversations.js'
import type { ChatRequest } from '../../../contract/chat/messages.js'
import { KsError } from '../../../contract/errors.js'
import type { Caller } from '../../base/caller.js'
import { asDeployment } from '../../base/tenant-scope.js'
import { createAddressRule, createSafeFetch } from '../../models/index.js'
import { bind, bindRead } from '../../store/bind-operation.js'
import type { Compiler } from '../../store/compiled.js'
import type { AgentServices } from './agent/tools.js'
import { createAnnotationService } from './annotations/operations.js'
import * as apps from './apps.js'
import { deleteConversation, listConversations, nameInBackground, renameConversation } from './conversations.js'
import { describeInfo, describeMeta, describeParameters, describeSite } from './describe.js'
import { UploadedDocuments } from './files/documents.js'
import { findSessionOfFile, openChatFile } from './files/preview.js'
import { startUpload } from './files/upload.js'
import { replayTurn, stopRemoteTurn } from './gateways/remote-turns.js'
import { listFeedbacks, listMessages, rateMessage } from './messages.js'
import { OpeningQuestions } from './overview/opening-questions.js'
import { type SentMessage, sendMessage } from './send.js'
import { convertToSpeech } from './speech/speak.js'
import { Transcriptions } from './speech/transcriptions.js'
import { QuestionSuggestions } from './suggestions.js'
import type { ChatTurn } from './turn.js'
import { ChatTurns } from './turns.js'
import { listVariables, setVariable } from './variables/operations.js'

/** Names the conversation without waiting for a long answer. */
const NAMING_DELAY_MS = 1000

/**
 * Creates the chat service of an engine, with the function that closes it. Operations of the service fail with
 * `ChatError`, those on applications with `KsError`.
 *
 * @param services with the `reader` of documents of end users
 */
export function createChatService({ reader, ...services }: AgentServices & { reader: Compiler }) {
  const { context } = services
  const { db, log } = context
  const annotations = createAnnotationService(context)
  const ending = new AbortController()
  const openingQuestions = new OpeningQuestions(services, ending.signal)
  const uploads = new UploadedDocuments(context, reader)
  const turns = new ChatTurns({ ...services, openingQuestions, uploads, matcher: annotations.matcher })
  const fetcher = createSafeFetch(createAddressRule(context.options.sources?.egressAllow ?? []))
  const transcriptions = new Transcriptions(context)
  const suggestions = new QuestionSuggestions(context, ending.signal)
  const naming = new Set<Promise<void>>()

  const nameLater = (session: apps.AppSession, { turn, isNew }: SentMessage, request: ChatRequest) => {
    if (!isNew || !request.auto_generate_name) return
    const conversation = { id: turn.ids.conversationId, user: request.user, query: request.query }
    const soon = new Promise<void>((resolve) => setTimeout(resolve, NAMING_DELAY_MS).unref())
    const work = Promise.race([turn.ended(), soon])
      .then(async () => {
        // A model that just failed would fail again.
        if (!turn.settled && !turn.failed) await nameInBackground(context, session, conversation, ending.signal)
      })
      .catch((error: unknown) => {
        const isLimited = error instanceof KsError && error.code === 'rate-limited'
        log[isLimited ? 'debug' : 'warn']({ error: String(error) }, 'a conversation could not be named')
      })
      .finally(() => naming.delete(work))
    naming.add(work)
  }

  const findTurn = ({ app }: apps.AppSession, user: string, taskId: string) =>
    turns.find({ appId: app.id, user }, taskId)

  const prepareQuestions = (caller: Caller, app: ChatApp): ChatApp => {
    openingQuestions.prepare(caller, app)
    return app
  }

  const operations = {
    apps: {
      create: bind(async (caller: Caller, body: ChatAppBody) =>
        prepareQuestions(caller, await apps.createApp(context, caller, body)),
      ),
      list: bindRead(db, apps.listApps),
      get: bindRead(db, apps.findApp),
      update: bind(async (caller: Caller, id: string, body: ChatAppUpdate) =>
        prepareQuestions(caller, await apps.updateApp(context, caller, id, body)),
      ),
      delete: bind(async (caller: Caller, id: string) => {
        await db.read(apps.findApp(caller, id))
        await turns.messageWrites.stored(id)
        await apps.deleteApp(db, caller, id)
        turns.stopMatching((turn) => turn.sender.appId === id)
        context.wake()
      }),
      createKey: bind(apps.createKey, db),
      listKeys: bindRead(db, apps.listKeys),
      revokeKey: bind(apps.revokeKey, db),
    },
    annotations: annotations.operations,
    /** The application of a key; undefined for an unknown or revoked one. */
    authenticate: (key: string) => asDeployment(() => db.read(apps.authenticate(key))),
    /** The application by its id, for callers with other proof of access. */
    session: bindRead(db, apps.findSession),
    info: bindRead(db, describeInfo),
    parameters: bind(async (session: apps.AppSession): Promise<ChatParameters> => {
      const parameters = await db.read(describeParameters(context, session))
      if (parameters.suggested_questions.length > 0) return parameters
      return { ...parameters, suggested_questions: await openingQuestions.get(apps.getOwner(session), session.app) }
    }),
    meta: describeMeta,
    site: describeSite,
    /** Resolves when all messages admitted so far are stored or have failed. */
    stored: bind(({ app }: apps.AppSession) => turns.messageWrites.stored(app.id)),
    /** Admits a message; its answer is generated whether or not a client reads it. */
    send: bind(async (session: apps.AppSession, request: ChatRequest): Promise<ChatTurn> => {
      const sent = await sendMessage({ context, turns, fetcher }, session, request)
      nameLater(session, sent, request)
      return sent.turn
    }),
    /**
     * Replays a running or just finished answer.
     * @throws ChatError `not_found`
     */
    replay: bind((session: apps.AppSession, taskId: string, user: string) =>
      replayTurn(context, findTurn(session, user, taskId), session, { taskId, user }),
    ),
    /** Stops an answer of this user; no effect on other tasks. */
    stop: bind(async (session: apps.AppSession, taskId: string, user: string) => {
      const turn = findTurn(session, user, taskId)
      if (turn?.over === false) turn.abort('stopped')
      else if (turn === undefined && context.isShared) await stopRemoteTurn(db, session, taskId, user)
    }),
    files: {
      upload: bind(startUpload, { context, uploads }),
      /**
       * Opens a file of a message of the application.
       * @throws ChatError `file_not_found`, `file_access_denied`
       */
      open: bind(openChatFile, context),
      /** The application of a file, for a signed address. */
      sessionOf: (id: string) => asDeployment(() => db.read(findSessionOfFile(id))),
    },
    speech: {
      /** Converts a text or an answer to speech. */
      speak: bind(convertToSpeech, context),
      /** Admits a file for transcription. */
      listen: bind((session: apps.AppSession) => transcriptions.open(session)),
    },
    rate: bind(rateMessage, db),
    feedbacks: bindRead(db, listFeedbacks),
    suggest: bind((session: apps.AppSession, messageId: string, user: string) =>
      suggestions.get(session, messageId, user),
    ),
    messages: bindRead(db, listMessages),
    conversations: bindRead(db, listConversations),
    deleteConversation: bind(async (session: apps.AppSession, id: string, user: string) => {
      await deleteConversation(db, session, user, id)
      turns.stopMatching((turn) => turn.ids.conversationId === id)
      context.wake()
    }),
    renameConversation: bind((session: apps.AppSession, id: string, body: RenameBody) =>
      renameConversation(context, session, { id, ...body }, ending.signal),
    ),
    variables: bindRead(db, listVariables),
    setVariable: bind(setVariable, db),
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
