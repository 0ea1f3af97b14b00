import { z } from 'zod'
import { isoDateTime, ModelReference, uuid } from '../primitives.js'
import { route } from '../route.js'
import { InputControl, Site } from './application.js'
import { ChatModelSettings, ChatPrices, SensitiveWords } from './behaviour.js'
import { DocumentUpload, SpeechToText, TextToSpeech, Vision } from './features.js'
import { CHAT_LIMITS } from './limits.js'
import { ConversationVariables } from './variables.js'

const displayText = z.string().max(CHAT_LIMITS.text)

const appShape = {
  name: z.string().trim().min(1).max(CHAT_LIMITS.appName),
  description: z.string().max(CHAT_LIMITS.appDescription),
  /** `agent-chat`: the model searches, lists and reads on its own; streaming only. */
  mode: z.enum(['chat', 'agent-chat']),
  /** A disabled application rejects its keys with 403. */
  enabled: z.boolean(),
  /** The spaces that answers are based on. */
  knowledgeSpaceIds: z.array(uuid).max(CHAT_LIMITS.spacesPerApp),
  /** null: the model in the retrieval profile of the first space, or the daemon's default. */
  model: ModelReference.nullable(),
  modelSettings: ChatModelSettings,
  /** Token prices of the model; null: no costs are reported. */
  prices: ChatPrices.nullable(),
  /** The system prompt; `{{variable}}` is replaced by its value. */
  instructions: displayText,
  sensitiveWords: SensitiveWords,
  tags: z.array(z.string().min(1).max(CHAT_LIMITS.appName)).max(CHAT_LIMITS.tags),
  openingStatement: displayText,
  suggestedQuestions: z.array(displayText.min(1)).max(CHAT_LIMITS.suggestedQuestions),
  suggestedQuestionsAfterAnswer: z.boolean(),
  /** Whether answers include the passages that they are based on. */
  retrieverResource: z.boolean(),
  /** Maximum number of concurrent answers; 0 is no limit. */
  maxConcurrentRequests: z.int().min(0).max(CHAT_LIMITS.concurrentRequests),
  userInputForm: z.array(InputControl).max(CHAT_LIMITS.inputControls),
  /** Variables stored with each conversation; their names differ from those in `userInputForm`. */
  conversationVariables: ConversationVariables,
  site: Site.partial(),
  /** Status of a successful upload: some clients accept only 201. */
  uploadStatus: z.literal([200, 201]),
  vision: Vision,
  /** Extension. */
  documents: DocumentUpload,
  speechToText: SpeechToText,
  textToSpeech: TextToSpeech,
}

/** Omitted keys of a feature stay unchanged, too. */
const appChanges = {
  ...appShape,
  vision: Vision.partial().meta({ id: 'ChatVisionChange' }),
  documents: DocumentUpload.partial().meta({ id: 'ChatDocumentUploadChange' }),
  speechToText: SpeechToText.partial().meta({ id: 'ChatSpeechToTextChange' }),
  textToSpeech: TextToSpeech.partial().meta({ id: 'ChatTextToSpeechChange' }),
}

export const ChatAppBody = z
  .strictObject(appChanges)
  .partial()
  .required({ name: true })
  .refine(hasDistinctVariables, 'two controls may not fill the same variable')
  .meta({ id: 'ChatAppRequest' })
export type ChatAppBody = z.output<typeof ChatAppBody>

export const ChatAppUpdate = z
  .strictObject(appChanges)
  .partial()
  .refine(hasDistinctVariables, 'two controls may not fill the same variable')
  .meta({ id: 'ChatAppUpdate' })
export type ChatAppUpdate = z.output<typeof ChatAppUpdate>

export const ChatApp = z
  .strictObject({ id: uuid, ...appShape, createdAt: isoDateTime, updatedAt: isoDateTime })
  .meta({ id: 'ChatApp' })
export type ChatApp = z.output<typeof ChatApp>

const keyFields = {
  id: uuid,
  /** The last characters, to distinguish keys. */
  hint: z.string(),
  createdAt: isoDateTime,
  revokedAt: isoDateTime.nullable(),
}

export const ChatAppKey = z.strictObject(keyFields).meta({ id: 'ChatAppKey' })
export type ChatAppKey = z.output<typeof ChatAppKey>

export const NewChatAppKey = z
  .strictObject({
    ...keyFields,
    /** Only in the first response; null in a response that is repeated for an Idempotency-Key. */
    key: z.string().nullable(),
  })
  .meta({ id: 'NewChatAppKey' })
export type NewChatAppKey = z.output<typeof NewChatAppKey>

function hasDistinctVariables({ userInputForm = [] }: { userInputForm?: InputControl[] | undefined }): boolean {
  const names = userInputForm.flatMap((control) => Object.values(control).map(({ variable }) => variable))
  return new Set(names).size === names.length
}

const AppParams = z.strictObject({ appId: uuid })
const KeyParams = z.strictObject({ appId: uuid, keyId: uuid })

export const chatAppRoutes = [
  route({
    id: 'createChatApp',
    method: 'POST',
    path: '/chat-apps',
    scope: 'write',
    summary: 'Create a chat application that answers from the given spaces.',
    body: ChatAppBody,
    ok: { 201: ChatApp },
    errors: [400, 404, 429],
    extension: true,
  }),
  route({
    id: 'listChatApps',
    method: 'GET',
    path: '/chat-apps',
    scope: 'read',
    summary: 'List the chat applications of the tenant, oldest first.',
    ok: { 200: z.strictObject({ items: z.array(ChatApp) }) },
    errors: [],
    extension: true,
  }),
  route({
    id: 'getChatApp',
    method: 'GET',
    path: '/chat-apps/{appId}',
    scope: 'read',
    summary: 'Get a chat application.',
    params: AppParams,
    ok: { 200: ChatApp },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'updateChatApp',
    method: 'PATCH',
    path: '/chat-apps/{appId}',
    scope: 'write',
    summary: 'Update a chat application; omitted fields stay unchanged.',
    params: AppParams,
    body: ChatAppUpdate,
    ok: { 200: ChatApp },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'deleteChatApp',
    method: 'DELETE',
    path: '/chat-apps/{appId}',
    scope: 'write',
    summary: 'Delete a chat application with its keys, conversations and feedback.',
    params: AppParams,
    ok: { 204: 'empty' },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'createChatAppKey',
    method: 'POST',
    path: '/chat-apps/{appId}/keys',
    scope: 'write',
    summary: 'Create a key for the application; only this response contains it.',
    params: AppParams,
    ok: { 201: NewChatAppKey },
    shownOnce: ['key'],
    errors: [404, 429],
    extension: true,
  }),
  route({
    id: 'listChatAppKeys',
    method: 'GET',
    path: '/chat-apps/{appId}/keys',
    scope: 'read',
    summary: 'List the keys of the application, without their secrets.',
    params: AppParams,
    ok: { 200: z.strictObject({ items: z.array(ChatAppKey) }) },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'revokeChatAppKey',
    method: 'DELETE',
    path: '/chat-apps/{appId}/keys/{keyId}',
    scope: 'write',
    summary: 'Revoke a key of the application; it is rejected from now on.',
    params: KeyParams,
    ok: { 204: 'empty' },
    errors: [404],
    extension: true,
  }),
] as const

export type ChatAppRoute = (typeof chatAppRoutes)[number]
