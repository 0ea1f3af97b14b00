import { createHash, randomBytes } from 'node:crypto'
import type { ChatApp, ChatAppBody, ChatAppKey, ChatAppUpdate, NewChatAppKey } from '../../contract/chat/apps.js'
import { CHAT_LIMITS } from '../../contract/chat/limits.js'
import { KsError, notFound } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { isBuiltin } from '../models/registry.js'
import {
  type AppRow,
  appById,
  appOfKey,
  countApps,
  countKeys,
  insertApp,
  insertKey,
  type KeyRow,
  keysOf,
  markRevoked,
  type OfApp,
  ownApp,
  ownApps,
  removeApp,
  writeApp,
} from '../rows/chat/apps.js'
import { findSpace } from '../rows/spaces.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'

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
export function appIn({ tenant, app }: Pick<AppSession, 'tenant' | 'app'>): OfApp {
  return { tenant, appId: app.id }
}

type AppFields = Omit<ChatApp, 'id' | 'createdAt' | 'updatedAt'>

const DEFAULTS: Omit<AppFields, 'name'> = {
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
  speechToText: { enabled: false, model: null, language: '' },
  textToSpeech: { enabled: false, model: null, voice: '', language: '', autoPlay: false },
}

const KEY_BYTES = 32
const HINT_CHARACTERS = 4

/**
 * @throws KsError `not-found` for a space of another tenant, `unavailable` for an unknown model, `capacity-exceeded`
 */
export async function createApp(context: EngineContext, caller: Caller, body: ChatAppBody): Promise<ChatApp> {
  const { db } = context
  return writeAnswer(db, caller, function* () {
    if ((yield* countApps(caller.tenant)) >= CHAT_LIMITS.appsPerTenant)
      throw new KsError('capacity-exceeded', `a tenant can have at most ${CHAT_LIMITS.appsPerTenant} chat applications`)
    const fields: AppFields = { ...changed({ ...DEFAULTS, name: body.name }, body), name: body.name }
    yield* assertUsable(context, caller, body)
    assertOneMeaning(fields)
    const id = newId()
    yield* insertApp(caller, { id, fields, now: Date.now() })
    return yield* findApp(caller, id)
  })
}

/** An application answers with the read access of its owner, so only the owner can see it and its keys. */
export function* listApps(caller: Caller): Read<{ items: ChatApp[] }> {
  return { items: readable(yield* ownApps(caller), toApp) }
}

/** @throws KsError `not-found`, also for an application of another tenant or subject */
export function* findApp(caller: Caller, id: string): Read<ChatApp> {
  const row = yield* ownApp(caller, id)
  if (row === undefined) throw notFound('chat application', id)
  return toApp(row)
}

export async function updateApp(
  context: EngineContext,
  caller: Caller,
  id: string,
  body: ChatAppUpdate,
): Promise<ChatApp> {
  const { db } = context
  return writeAnswer(db, caller, function* () {
    const { id: _, createdAt: __, updatedAt: ___, ...before } = yield* findApp(caller, id)
    const fields = changed(before, body)
    yield* assertUsable(context, caller, body)
    assertOneMeaning(fields)
    yield* writeApp(caller, id, fields, Date.now())
    return yield* findApp(caller, id)
  })
}

export async function deleteApp(db: Driver, caller: Caller, id: string): Promise<void> {
  await writeAnswer(db, caller, function* () {
    yield* findApp(caller, id)
    yield* removeApp(caller, id)
  })
}

/** Creates a key. Only its hash is stored, so no later response can return it. */
export async function createKey(db: Driver, caller: Caller, appId: string): Promise<NewChatAppKey> {
  const key = `app-${randomBytes(KEY_BYTES).toString('base64url')}`
  return writeAnswer(db, caller, function* () {
    yield* findApp(caller, appId)
    const of = { tenant: caller.tenant, appId }
    if ((yield* countKeys(of)) >= CHAT_LIMITS.keysPerApp)
      throw new KsError('capacity-exceeded', `a chat application can have at most ${CHAT_LIMITS.keysPerApp} keys`)
    const row: KeyRow = { id: newId(), hint: key.slice(-HINT_CHARACTERS), created_at: Date.now(), revoked_at: null }
    yield* insertKey(of, row, hashOf(key))
    return { ...toKey(row), key }
  })
}

export function* listKeys(caller: Caller, appId: string): Read<{ items: ChatAppKey[] }> {
  yield* findApp(caller, appId)
  return { items: readable(yield* keysOf({ tenant: caller.tenant, appId }), toKey) }
}

/**
 * Revokes a key; a second revocation has no effect.
 * @throws KsError `not-found`
 */
export async function revokeKey(db: Driver, caller: Caller, appId: string, keyId: string): Promise<void> {
  await writeAnswer(db, caller, function* () {
    yield* findApp(caller, appId)
    if (!(yield* markRevoked({ tenant: caller.tenant, appId }, keyId, Date.now()))) throw notFound('key', keyId)
  })
}

/** The application of a key; undefined for an unknown or revoked key. */
export function* authenticate(key: string): Read<AppSession | undefined> {
  const row = yield* appOfKey(hashOf(key))
  return row === undefined ? undefined : toSession(row)
}

/** The application by its id, without a key. */
export function* sessionOf(of: OfApp): Read<AppSession | undefined> {
  const row = yield* appById(of)
  return row === undefined ? undefined : toSession(row)
}

function toSession(row: AppRow): AppSession {
  return { tenant: row.tenant, owner: row.owner, app: toApp(row) }
}

/** Merges an update; omitted keys of a feature stay unchanged, too. */
function changed(fields: AppFields, body: ChatAppUpdate): AppFields {
  const { vision = {}, speechToText = {}, textToSpeech = {}, ...plain } = body
  return {
    ...fields,
    ...defined(plain),
    vision: { ...fields.vision, ...defined(vision) },
    speechToText: { ...fields.speechToText, ...defined(speechToText) },
    textToSpeech: { ...fields.textToSpeech, ...defined(textToSpeech) },
  }
}

function hashOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function* assertUsable(context: EngineContext, caller: Caller, body: ChatAppUpdate): Read<void> {
  const { knowledgeSpaceIds, model, textToSpeech, speechToText } = body
  for (const id of knowledgeSpaceIds ?? []) yield* findSpace(caller.tenant, id)
  const wanted = [
    { field: 'model', kind: 'generation', model: model && isBuiltin(model) ? null : model },
    { field: 'textToSpeech.model', kind: 'speech', model: textToSpeech?.model },
    { field: 'speechToText.model', kind: 'transcription', model: speechToText?.model },
  ] as const
  for (const { field, kind, model } of wanted)
    if (model && !context.models.has(model, kind))
      throw new KsError(
        'invalid-request',
        `${field}: this daemon has no ${kind} provider ${model.pluginId}/${model.provider}`,
      )
}

/** Ensures that `{{name}}` is unambiguous. */
function assertOneMeaning({ userInputForm, conversationVariables }: AppFields): void {
  const controls = new Set(userInputForm.flatMap((form) => Object.values(form).map(({ variable }) => variable)))
  const both = conversationVariables.find(({ name }) => controls.has(name))
  if (both !== undefined)
    throw new KsError('invalid-request', `conversationVariables: ${both.name} is a variable of userInputForm too`)
}

function toApp(row: AppRow): ChatApp {
  // An application created by an older version lacks the newer fields.
  const fields: AppFields = { ...DEFAULTS, ...fromCell(row.body) }
  const times = { createdAt: new Date(row.created_at).toISOString(), updatedAt: new Date(row.updated_at).toISOString() }
  return { id: row.id, ...fields, ...times }
}

function toKey(row: KeyRow): ChatAppKey {
  return {
    id: row.id,
    hint: row.hint,
    createdAt: new Date(row.created_at).toISOString(),
    revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at).toISOString(),
  }
}
