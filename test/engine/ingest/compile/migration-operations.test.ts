import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  cancelMigration,
  getMigration,
  startMigration,
} from '../../../../src/engine/ingest/compile/migration-operations.js'
import type { Write } from '../../../../src/engine/store/program.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, PROVIDED, type SmallStore } from '../../../helpers/store.js'
import { nodeKeys, publish } from './trained-spaces.js'

const OTHER = { ...PROVIDED, model: 'another-model' }
const BUILTIN = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
const UNKNOWN = { code: 'not-found' }

let store: SmallStore
let space: SpaceRow
/** Calls that the migration workers received. */
let told: unknown[]

beforeEach(async () => {
  store = await openSmallStore()
  space = store.createSpace({ model: PROVIDED })
  told = []
  store.context.migrations = {
    wake: () => void told.push('wake'),
    stopEnded: async ({ key }) => void told.push(key),
  }
})
afterEach(() => store.end())

const start = (model = OTHER, caller = ADA, id = space.id) => startMigration(store.context, caller, id, model)
const cancel = (id: string, caller = ADA) => cancelMigration(store.context, caller, space.id, id)
const get = (id: string, caller = ADA) => store.db.now(getMigration(caller, space.id, id))
const migrations = () => store.rows('SELECT id, state FROM embedding_migrations ORDER BY key')

describe('a migration to another embedding model', () => {
  it('starts, wakes its workers, and is visible to its tenant only', async () => {
    await publish(store, space, { 'a.md': 'one\n\ntwo' })
    const before = store.reload(space)
    const begun = await start()
    expect(begun).toMatchObject({ state: 'filling', filled: 0, total: 2, refused: 0, embeddingProfile: OTHER })
    expect(told).toEqual(['wake'])
    expect(get(begun.id)).toEqual(begun)
    expect(() => get(begun.id, BOB)).toThrow(expect.objectContaining(UNKNOWN))
    expect(() => get(newId())).toThrow(expect.objectContaining(UNKNOWN))
    // The start changes nothing in the space.
    expect(store.reload(space)).toEqual(before)
    expect(nodeKeys(store)).toHaveLength(2)
  })

  it('excludes another migration of the same space until it is canceled', async () => {
    const { id } = await start()
    await expect(start(BUILTIN)).rejects.toMatchObject({ code: 'migration-active' })
    expect(migrations()).toEqual([{ id, state: 'filling' }])
    expect(told).toEqual(['wake'])
    await start(OTHER, ADA, store.createSpace().id)
    await cancel(id)
    expect((await start(BUILTIN)).embeddingProfile).toEqual(BUILTIN)
  })

  it('fails for a model that this daemon does not have and for a space of another tenant', async () => {
    store.context.models = { ...store.context.models, has: () => false }
    await expect(start()).rejects.toMatchObject({ code: 'provider-not-configured' })
    await expect(start({ ...BUILTIN, model: 'lsa-999' })).rejects.toMatchObject({ code: 'provider-not-configured' })
    await expect(start(BUILTIN, BOB)).rejects.toMatchObject(UNKNOWN)
    await expect(start(BUILTIN, ADA, newId())).rejects.toMatchObject(UNKNOWN)
    expect(migrations()).toEqual([])
    expect(told).toEqual([])
  })

  it('records the replies to its start and its cancellation for the idempotency key', async () => {
    const answers: unknown[] = []
    const caller = {
      ...ADA,
      // biome-ignore lint/correctness/useYield: a program without a statement
      *recordAnswer(answer: unknown): Write<void> {
        answers.push(answer)
      },
    }
    const begun = await start(OTHER, caller)
    // A transaction may run more than once: its last reply counts.
    expect(answers.at(-1)).toEqual(begun)
    const canceled = await cancel(begun.id, caller)
    expect(answers.at(-1)).toEqual(canceled)
  })
})

describe('the cancellation of an embedding migration', () => {
  it('drops the new vectors and notifies the workers before the reply', async () => {
    const { id } = await start()
    const [{ vector_space: target = '' } = {}] = store.rows<{ vector_space: string }>(
      'SELECT vector_space FROM embedding_migrations',
    )
    store.run(
      `INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES (?, ?, 1, 2, 'building', 1)`,
      ...[target, space.key],
    )
    told.length = 0
    let isTold = false
    store.context.migrations.stopEnded = async ({ key, space_key }) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      const [row] = store.rows<{ key: number; state: string }>('SELECT key, state FROM embedding_migrations')
      isTold = row?.state === 'canceled' && row.key === key && space_key === space.key
    }
    const canceled = await cancel(id)
    expect(isTold).toBe(true)
    expect(canceled).toMatchObject({ id, state: 'canceled', completedAt: expect.anything() })
    expect(get(id)).toEqual(canceled)
    expect(store.rows('SELECT state FROM vector_spaces')).toEqual([{ state: 'superseded' }])
    expect(store.reload(space)).toEqual(space)
  })

  it('fails the second time, for other tenants, and for an unknown migration', async () => {
    const { id } = await start()
    await expect(cancel(id, BOB)).rejects.toMatchObject(UNKNOWN)
    expect(get(id).state).toBe('filling')
    await cancel(id)
    told.length = 0
    await expect(cancel(id)).rejects.toMatchObject({ code: 'already-terminal' })
    await expect(cancel(newId())).rejects.toMatchObject(UNKNOWN)
    expect(told).toEqual([])
  })
})
