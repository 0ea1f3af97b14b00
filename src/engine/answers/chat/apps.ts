import { createHash, randomBytes } from 'node:crypto'
import type { ChatApp, ChatAppBody, ChatAppKey, ChatAppUpdate, NewChatAppKey } from '../../../contract/chat/apps.js'
import { CHAT_LIMITS } from '../../../contract/chat/limits.js'
import { KsError, notFoundError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { readClock } from '../../base/statements.js'
import type { EngineContext } from '../../library/index.js'
import { isBuiltin } from '../../models/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { mapReadable, parseJsonCell } from '../../store/readable.js'
import {
  type AppRow,
  type AppScope,
  type ChatKeyRow,
  countApps,
  countKeys,
  deleteAppRow,
  findAppById,
  findAppByKey,
  findOwnApp,
  insertApp,
  insertKey,
  listChatKeys,
  listOwnApps,
  revokeChatKey,
  updateAppRow,
} from '../../store/rows/chat/apps.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'

/** The caller of an application: a holder of one of its keys, or an anonymous visitor of its page. */
export interface AppSession {
  tenant: string
  /** Subject that created the application. */
  owner: string
  app: ChatApp
  /** Present for an anonymous visitor. */
  visitor?: {
    /**
     * Counts a model call other than the answer to a question.
     * @throws KsError `rate-limited`
     */
    countModelCall(): void
  }
}

/** The key of a session's application for row lookups. */
export function toAppKey({ tenant, app }: Pick<AppSession, 'tenant' | 'app'>): AppScope {
  return { tenant, appId: app.id }
}

/** The caller as which an application reads: its owner. */
export function getOwner({ tenant, owner }: Pick<AppSession, 'tenant' | 'owner'>): Caller {
  return { tenant, subject: owner }
}

type AppFields = Omit<ChatApp, 'id' | 'createdAt' | 'updatedAt'>

const DEFAULT_FIELDS: Omit<AppFields, 'name'> = {
  description: '',
  mode: 'chat',
  enabled: true,
  knowledgeSpaceIds: [],
  model: null,
  modelSettings: {},
  prices: null,
  instructions: '',
  sensitiveWords: {
    enabled: false,
    words: [],
    inputs: { enabled: false, response: '' },
    outputs: { enabled: false, response: '' },
  },
  tags: [],
  openingStatement: '',
  suggestedQuestions: [],
  suggestedQuestionsAfterAnswer: false,
  retrieverResource: true,
  maxConcurrentRequests: 0,
  userInputForm: [],
  conversationVariables: [],
  site: {},
  uploadStatus: 200,
  vision: { enabled: false, numberLimits: 3, detail: 'high', transferMethods: ['remote_url', 'local_file'] },
  documents: { enabled: false, numberLimits: 3 },
  speechToText: { enabled: false, model: null, language: '' },
  textToSpeech: { enabled: false, model: null, voice: '', language: '', autoPlay: false },
}

const KEY_BYTES = 32
const HINT_CHARS = 4

/**
 * @throws KsError `not-found` for a space of another tenant, `unavailable` for an unknown model, `capacity-exceeded`
 */
export async function createApp(context: EngineContext, caller: Caller, body: ChatAppBody): Promise<ChatApp> {
  const { db } = context
  return writeReply(db, caller, function* () {
    if ((yield* countApps(caller.tenant)) >= CHAT_LIMITS.appsPerTenant)
      throw new KsError('capacity-exceeded', `a tenant can have at most ${CHAT_LIMITS.appsPerTenant} chat applications`)
    const fields: AppFields = { ...mergeFields({ ...DEFAULT_FIELDS, name: body.name }, body), name: body.name }
    yield* assertUsable(context, caller, body)
    assertDistinctVariables(fields)
    const id = newId()
    yield* insertApp(caller, id, fields)
    return yield* findApp(caller, id)
  })
}

/** An application answers with the read access of its owner, so only the owner can see it and its keys. */
export function* listApps(caller: Caller): Read<{ items: ChatApp[] }> {
  return { items: mapReadable(yield* listOwnApps(caller), toApp) }
}

/** @throws KsError `not-found`, also for an application of another tenant or subject */
export function* findApp(caller: Caller, id: string): Read<ChatApp> {
  const row = yield* findOwnApp(caller, id)
  if (row === undefined) throw notFoundError('chat application', id)
  return toApp(row)
}

export async function updateApp(
  context: EngineContext,
  caller: Caller,
  id: string,
  body: ChatAppUpdate,
): Promise<ChatApp> {
  const { db } = context
  return writeReply(db, caller, function* () {
    const { id: _, createdAt: __, updatedAt: ___, ...before } = yield* findApp(caller, id)
    const fields = mergeFields(before, body)
    yield* assertUsable(context, caller, body)
    assertDistinctVariables(fields)
    yield* updateAppRow(caller, id, fields)
    return yield* findApp(caller, id)
  })
}

export async function deleteApp(db: Driver, caller: Caller, id: string): Promise<void> {
  await writeReply(db, caller, function* () {
    yield* findApp(caller, id)
    yield* deleteAppRow(caller, id)
  })
}

/** Creates a key. Only its hash is stored, so no later response can return it. */
export async function createKey(db: Driver, caller: Caller, appId: string): Promise<NewChatAppKey> {
  const key = `app-${randomBytes(KEY_BYTES).toString('base64url')}`
  return writeReply(db, caller, function* () {
    yield* findApp(caller, appId)
    const app = { tenant: caller.tenant, appId }
    if ((yield* countKeys(app)) >= CHAT_LIMITS.keysPerApp)
      throw new KsError('capacity-exceeded', `a chat application can have at most ${CHAT_LIMITS.keysPerApp} keys`)
    const now = yield* readClock()
    const row: ChatKeyRow = { id: newId(), hint: key.slice(-HINT_CHARS), created_at: now, revoked_at: null }
    yield* insertKey(app, row, hashKey(key))
    return { ...toKey(row), key }
  })
}

export function* listKeys(caller: Caller, appId: string): Read<{ items: ChatAppKey[] }> {
  yield* findApp(caller, appId)
  return { items: mapReadable(yield* listChatKeys({ tenant: caller.tenant, appId }), toKey) }
}

/**
 * Revokes a key; a second revocation has no effect.
 * @throws KsError `not-found`
 */
export async function revokeKey(db: Driver, caller: Caller, appId: string, keyId: string): Promise<void> {
  await writeReply(db, caller, function* () {
    yield* findApp(caller, appId)
    if (!(yield* revokeChatKey({ tenant: caller.tenant, appId }, keyId))) throw notFoundError('key', keyId)
  })
}

/** The application of a key; undefined for an unknown or revoked key. */
export function* authenticate(key: string): Read<AppSession | undefined> {
  const row = yield* findAppByKey(hashKey(key))
  return row === undefined ? undefined : toSession(row)
}

/** The application by its id, without a key. */
export function* findSession(app: AppScope): Read<AppSession | undefined> {
  const row = yield* findAppById(app)
  return row === undefined ? undefined : toSession(row)
}

function toSession(row: AppRow): AppSession {
  return { tenant: row.tenant, owner: row.owner, app: toApp(row) }
}

/** Merges an update; omitted keys of a feature stay unchanged, too. */
function mergeFields(fields: AppFields, body: ChatAppUpdate): AppFields {
  const { vision = {}, documents = {}, speechToText = {}, textToSpeech = {}, ...plain } = body
  return {
    ...fields,
    ...omitUndefined(plain),
    vision: { ...fields.vision, ...omitUndefined(vision) },
    documents: { ...fields.documents, ...omitUndefined(documents) },
    speechToText: { ...fields.speechToText, ...omitUndefined(speechToText) },
    textToSpeech: { ...fields.textToSpeech, ...omitUndefined(textToSpeech) },
  }
}

function hashKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function* assertUsable(context: EngineContext, caller: Caller, body: ChatAppUpdate): Read<void> {
  const { knowledgeSpaceIds, model, textToSpeech, speechToText } = body
  for (const id of knowledgeSpaceIds ?? []) yield* findSpace(caller.tenant, id)
  const requestedModels = [
    { field: 'model', kind: 'generation', model: model && isBuiltin(model) ? null : model },
    { field: 'textToSpeech.model', kind: 'speech', model: textToSpeech?.model },
    { field: 'speechToText.model', kind: 'transcription', model: speechToText?.model },
  ] as const
  for (const { field, kind, model } of requestedModels)
    if (model && !context.models.has(model, kind))
      throw new KsError(
        'invalid-request',
        `${field}: this daemon has no ${kind} provider ${model.pluginId}/${model.provider}`,
      )
}

/** Ensures that `{{name}}` is unambiguous. */
function assertDistinctVariables({ userInputForm, conversationVariables }: AppFields): void {
  const controls = new Set(userInputForm.flatMap((form) => Object.values(form).map(({ variable }) => variable)))
  const duplicate = conversationVariables.find(({ name }) => controls.has(name))
  if (duplicate !== undefined)
    throw new KsError('invalid-request', `conversationVariables: ${duplicate.name} is a variable of userInputForm too`)
}

function toApp(row: AppRow): ChatApp {
  // An application created by an older version lacks the newer fields.
  const fields: AppFields = { ...DEFAULT_FIELDS, ...parseJsonCell(row.body) }
  const times = { createdAt: new Date(row.created_at).toISOString(), updatedAt: new Date(row.updated_at).toISOString() }
  return { id: row.id, ...fields, ...times }
}

function toKey(row: ChatKeyRow): ChatAppKey {
  return {
    id: row.id,
    hint: row.hint,
    createdAt: new Date(row.created_at).toISOString(),
    revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at).toISOString(),
  }
}
