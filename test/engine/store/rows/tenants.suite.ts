import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createAnnotation,
  deleteAnnotation,
  getReplySetting,
  listAllAnnotations,
  listAnnotations,
  setReplySetting,
  updateAnnotation,
} from '../../../../src/engine/answers/rows/chat/annotations.js'
import { findRating, listRatings, removeRating, setRating } from '../../../../src/engine/answers/rows/chat/feedback.js'
import {
  alignVariables,
  findVariable,
  listConversationVariables,
  setVariableValue,
} from '../../../../src/engine/answers/rows/chat/variables.js'
import { insertTaskCost, listTaskCosts } from '../../../../src/engine/answers/rows/research/costs.js'
import {
  findStepBody,
  getTaskUsage,
  listPartialsAfter,
  listStepBodies,
} from '../../../../src/engine/answers/rows/research/steps.js'
import {
  findSnapshotFile,
  insertSnapshot,
  listQueryBodies,
  listSnapshotFiles,
} from '../../../../src/engine/files/rows/snapshots.js'
import type { Driver } from '../../../../src/engine/store/driver.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { type Read, sql, type Write } from '../../../../src/engine/store/program.js'
import { findBulkJob, insertBulkJob } from '../../../../src/engine/store/rows/bulk-jobs.js'
import {
  findAnnotationJob,
  findOpenAnnotationJob,
  insertAnnotationJob,
  setAnnotationJobStatus,
} from '../../../../src/engine/store/rows/chat/annotation-jobs.js'
import {
  countKeys,
  findAppById,
  insertApp,
  insertKey,
  listChatKeys,
  revokeChatKey,
} from '../../../../src/engine/store/rows/chat/apps.js'
import {
  type EndUserScope,
  ensureUser,
  findConversation,
  findFirstQuery,
  findMessage,
  findMessagePosition,
  findUser,
  insertConversation,
  insertMessage,
  listConversationsAfter,
  listMessagesBefore,
  removeConversation,
  setConversationName,
} from '../../../../src/engine/store/rows/chat/conversations.js'
import {
  attachFiles,
  countUnusedUploads,
  expireFile,
  findChatFile,
  findOwnFile,
  insertFile,
  listConversationDocuments,
  listMessageFiles,
  listNewestFiles,
  markFileReady,
} from '../../../../src/engine/store/rows/chat/files.js'
import {
  filterReadableDocuments,
  insertDocuments,
  lookupDocument,
} from '../../../../src/engine/store/rows/documents.js'
import { addQuotes, listQuotes, listRestrictedSources } from '../../../../src/engine/store/rows/quotes.js'
import { listEventsAfter } from '../../../../src/engine/store/rows/research/events.js'
import { findTask, findTaskByKey, insertTask, moveTask } from '../../../../src/engine/store/rows/research/tasks.js'
import {
  filterStoredSessions,
  insertSessionTurn,
  listLastTurns,
  removeSession,
  upsertSession,
} from '../../../../src/engine/store/rows/sessions.js'
import { findTrace, insertTrace, readBundle } from '../../../../src/engine/store/rows/traces.js'
import { newId } from '../../../../src/lib/ids.js'

const NOW = 1_000_000
const SHA = '0'.repeat(64)
const OBJECT = ObjectStore.key('a', SHA)
let driver: Driver
const read = <T>(program: Read<T>): Promise<T> => driver.read(program)
const write = <T>(program: () => Write<T>): Promise<T> => driver.write(program)
/** The result, or undefined for a not-found error. */
const orNone = async <T>(look: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await look()
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^not[-_]found$/) })
    return undefined
  }
}

const A = { tenant: 'a', subject: 's' }
const B = { tenant: 'b', subject: 's' }

async function newSpace(tenant: string): Promise<{ key: number; tenant: string }> {
  const id = newId()
  const key = await write(() =>
    sql.inserted(
      `INSERT INTO spaces (id, tenant, name, slug, created_at, updated_at, manifest_id, manifest, embedding_plugin,
         embedding_provider, embedding_model, vector_space, publication_id, fingerprint, published_at)
       VALUES (?, ?, 'S', ?, 0, 0, ?, '{}', 'builtin', 'lsa', 'lsa-200', ?, ?, '', 0) RETURNING key`,
      [id, tenant, id, newId(), newId(), newId()],
    ),
  )
  return { key, tenant }
}

/** @param open returns a database with the newest schema */
export function tenantsSuite(open: () => Promise<{ driver: Driver; close(): Promise<void> }>): void {
  describe('an id of another tenant', () => {
    let close: () => Promise<void>
    beforeAll(async () => {
      const opened = await open()
      driver = opened.driver
      close = () => opened.close()
    })
    afterAll(async () => {
      await close()
    })

    test('finds and changes nothing in chats, even with the ids of the application and user', async () => {
      const appId = newId()
      const mine: EndUserScope = { tenant: 'a', appId, userId: '' }
      await write(() => insertApp(A, appId, {}))
      mine.userId = await write(() => ensureUser(mine, 'kim', NOW))
      const theirs: EndUserScope = { ...mine, tenant: 'b' }
      const ids = { conversation: newId(), message: newId(), file: newId(), document: newId(), key: newId() }
      const stored = await read(findAppById(mine))
      const app = { conversationVariables: [{ name: 'v', valueType: 'string' as const, description: '' }] }
      await write(function* () {
        yield* insertKey(mine, { id: ids.key, hint: 'h', created_at: NOW, revoked_at: null }, new Uint8Array(32))
        yield* insertConversation(mine, { id: ids.conversation, name: 'mine', inputs: {}, now: NOW })
        yield* alignVariables(app, mine, ids.conversation, NOW)
        yield* insertMessage(mine, {
          id: ids.message,
          taskId: newId(),
          conversationId: ids.conversation,
          query: 'q',
          inputs: {},
          gateway: 'g',
          now: NOW,
        })
        for (const [id, mimeType] of [
          [ids.file, 'image/png'],
          [ids.document, 'text/markdown'],
        ] as const)
          yield* insertFile(
            {
              id,
              tenant: 'a',
              app_id: appId,
              end_user_id: mine.userId,
              name: 'n.png',
              extension: 'png',
              mime_type: mimeType,
              size_bytes: 1,
              sha256: SHA,
              object_key: OBJECT,
              created_at: NOW,
            },
            NOW * 2,
          )
      })
      await write(() => markFileReady({ tenant: 'b', id: ids.file }, NOW * 3))
      expect(await read(findOwnFile(mine, ids.file, NOW))).toBeUndefined() // The other tenant did not mark it as ready.
      for (const id of [ids.file, ids.document]) await write(() => markFileReady({ tenant: 'a', id }, NOW * 3))
      const unused = await read(countUnusedUploads(mine, NOW))
      expect([unused.files, (await read(countUnusedUploads(theirs, NOW))).files]).toEqual([2, 0])
      await write(() => attachFiles(mine, ids.message, [{ fileId: ids.file }, { fileId: ids.document }], NOW))
      const annotation = await write(() => createAnnotation(mine, { question: 'q', answer: 'a' }))
      const job = await write(() => insertAnnotationJob(mine, { action: 'enable', threshold: 0.5 }, 'g'))
      const message = await read(findMessage(mine, ids.message))
      const variable = (await read(listConversationVariables(mine, ids.conversation)))[0]
      if (message === undefined || variable === undefined) throw new Error('what was made is not there')
      await write(() => setRating(mine, message, { rating: 'like', content: '' }))
      await write(() => setReplySetting(mine, true, 0.5))

      const looks: ((who: EndUserScope) => Promise<unknown>)[] = [
        (who) => read(findAppById(who)),
        (who) => read(listChatKeys(who)),
        (who) => read(countKeys(who)),
        (who) => read(findUser(who, 'kim')),
        (who) => read(findConversation(who, ids.conversation)),
        (who) => read(listConversationsAfter(who, undefined, 'created_at', 10)),
        (who) => read(findFirstQuery(who, ids.conversation)),
        (who) => read(findMessage(who, ids.message)),
        (who) => read(findMessagePosition(who, ids.message)),
        (who) => read(listMessagesBefore(who, ids.conversation, 9, 10)),
        (who) => read(findRating(who, ids.message)),
        (who) => read(listRatings(who, 1, 10)),
        (who) => read(findOwnFile(who, ids.file, NOW)),
        (who) => read(findChatFile(who.tenant, ids.file)),
        (who) => read(listMessageFiles(who, ids.message)),
        (who) => read(listNewestFiles(who, ids.conversation, { after: 0, last: 9 })),
        (who) => read(listConversationDocuments(who, ids.conversation, { last: 9, limit: 9 })),
        (who) => read(listConversationVariables(who, ids.conversation)),
        (who) => read(findVariable(who, ids.conversation, variable.id)),
        (who) => read(listAllAnnotations(who)),
        (who) => read(listAnnotations(who, { page: 1, limit: 10 })).then(({ total }) => total),
        (who) => read(findAnnotationJob(who, 'enable', job)),
        (who) => read(findOpenAnnotationJob(who, 'enable')),
        (who) => read(getReplySetting(who)).then(({ enabled }) => (enabled ? 1 : 0)),
      ]
      const before = await Promise.all(looks.map((look) => look(mine)))
      for (const found of before)
        expect(found === undefined || found === 0 || (Array.isArray(found) && found.length === 0)).toBe(false)
      for (const look of looks) expect([undefined, 0, []]).toContainEqual(await look(theirs))

      await write(function* () {
        yield* expireFile({ tenant: theirs.tenant, id: ids.file }, NOW)
        yield* setConversationName(theirs, ids.conversation, 'theirs', 'user')
        yield* removeRating(theirs, ids.message)
        yield* setVariableValue(theirs, variable, 'theirs')
        yield* revokeChatKey(theirs, ids.key)
        yield* setAnnotationJobStatus(theirs, job, 'error', 'theirs')
        yield* setReplySetting(theirs, false, 1)
        yield* removeConversation(theirs, ids.conversation)
      })
      await orNone(() => write(() => updateAnnotation(theirs, annotation.id, { question: 'x', answer: 'x' })))
      await orNone(() => write(() => deleteAnnotation(theirs, annotation.id)))
      expect(await Promise.all(looks.map((look) => look(mine)))).toEqual(before)
      expect(await read(findAppById(mine))).toEqual(stored)
    })

    test('finds and changes nothing in documents, queries, sessions, research, snapshots and bulk jobs', async () => {
      const space = await newSpace('a')
      const documentId = newId()
      const made = { mime_type: 'text/plain', object_key: OBJECT, sha256: SHA, size_bytes: 1, metadata: {} }
      const traceId = newId()
      const bundle = { id: newId(), state: 'answerable', items: [] } as never
      const task = { tenant: 'a', id: newId() }
      const session = { tenant: 'a', id: newId() }
      const snapshot = newId()
      const owner = { tenant: 'a', id: newId() }
      const source = newId()
      await write(function* () {
        yield* sql.run("INSERT INTO source_readers (source_id, subject, space_key) VALUES (?, 's', ?)", [
          source,
          space.key,
        ])
        yield* insertDocuments([
          { ...made, tenant: 'a', id: documentId, space_key: space.key, source_id: source, filename: 'f' },
        ])
        yield* insertTrace({
          id: traceId,
          tenant: 'a',
          spaceKey: space.key,
          subject: 's',
          query: 'q',
          mode: 'fast',
          requestedMode: 'fast',
          completed: true,
          steps: [],
          bundle,
        })
        yield* upsertSession(A, space.key, session.id, { now: NOW, expiresAt: NOW * 9 })
        yield* insertSessionTurn(session, { query: 'q', answer: 'a', traceId }, NOW)
        yield* insertTask({
          ...task,
          subject: 's',
          space_key: space.key,
          queue_id: newId(),
          query: 'q',
          mode: 'fast',
          route: '{}',
          snapshot: '{}',
          profile: '{}',
          limits: null,
          budget_usd: null,
          metadata: null,
          permission_scope: null,
          created_at: NOW,
        })
        yield* insertTaskCost(
          task,
          'plan',
          { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 1, costUsd: 1 },
          NOW,
        )
        yield* insertSnapshot({
          id: snapshot,
          tenant: 'a',
          space_key: space.key,
          subject: 's',
          workspace: 'w',
          name: null,
          session_id: null,
          publication_id: newId(),
          file_count: 0,
          total_bytes: 0,
          created_at: NOW,
          queries: [{ traceId }],
        })
        yield* sql.run(
          `INSERT INTO snapshot_files (tenant, snapshot_id, space_key, path, object_key, sha256, size_bytes, content_type,
           version, updated_at) VALUES ('a', ?, ?, 'p', ?, ?, 1, 't', 1, 1)`,
          [snapshot, space.key, OBJECT, SHA],
        )
        yield* sql.run(
          `INSERT INTO research_steps (tenant, task_id, step, name, space_key, body, tool_calls, scanned, input_tokens,
           output_tokens, latency_ms, created_at) VALUES ('a', ?, 'plan', 'plan', ?, '{}', 1, 1, 1, 1, 1, 1)`,
          [task.id, space.key],
        )
        yield* sql.run(
          "INSERT INTO research_partials (tenant, task_id, sequence, space_key, body) VALUES ('a', ?, 1, ?, '{}')",
          [task.id, space.key],
        )
        yield* addQuotes(owner, [source])
      })
      const bulk = await write(() => insertBulkJob(space, 'document_upload', [{ documentId, outcome: 'completed' }]))
      const { key } = space

      const looks: ((caller: typeof A) => Promise<unknown>)[] = [
        (caller) => read(lookupDocument(caller, key, documentId)),
        (caller) => read(filterReadableDocuments(caller, key, [documentId])).then((known) => [...known]),
        (caller) => read(listRestrictedSources(caller, [documentId])),
        ({ tenant }) => read(listQuotes({ tenant, id: owner.id })),
        (caller) => orNone(() => read(findTrace(caller, traceId))),
        ({ tenant }) => read(readBundle(tenant, (bundle as { id: string }).id)),
        ({ tenant }) => read(listLastTurns(tenant, session.id, 9)),
        ({ tenant }) => read(filterStoredSessions(tenant, [session.id])).then(({ size }) => size),
        (caller) => orNone(() => read(findTask(caller, task.id))),
        ({ tenant }) => read(findTaskByKey({ tenant, id: task.id })),
        ({ tenant }) => read(listEventsAfter({ tenant, id: task.id }, 0, 9)),
        ({ tenant }) => read(listTaskCosts({ tenant, id: task.id })),
        ({ tenant }) => read(findStepBody({ tenant, id: task.id }, 'plan')),
        ({ tenant }) => read(listStepBodies({ tenant, id: task.id }, 'plan')),
        ({ tenant }) => read(listPartialsAfter({ tenant, id: task.id }, 0, 9)),
        ({ tenant }) => read(getTaskUsage({ tenant, id: task.id })).then(({ costUsd }) => costUsd),
        ({ tenant }) => read(listSnapshotFiles(tenant, snapshot)),
        ({ tenant }) => read(findSnapshotFile(tenant, snapshot, 'p')),
        ({ tenant }) => read(listQueryBodies(tenant, snapshot)),
        (caller) => orNone(() => read(findBulkJob(caller, bulk))),
      ]
      const before = await Promise.all(looks.map((look) => look(A)))
      for (const found of before)
        expect(found === undefined || found === 0 || (Array.isArray(found) && found.length === 0)).toBe(false)
      for (const look of looks) expect([undefined, 0, []]).toContainEqual(await look(B))

      await write(function* () {
        yield* removeSession({ tenant: 'b', id: session.id })
        yield* moveTask({ tenant: 'b', id: task.id }, { from: 'queued', to: 'canceled', now: NOW })
      })
      expect(await Promise.all(looks.map((look) => look(A)))).toEqual(before)
    })
  })
}
