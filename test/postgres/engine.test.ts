import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EngineLog } from '../../src/engine/base/log.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { addressOf, connect, createMigratedDatabase, hasServer } from '../helpers/postgres.js'
import { until } from '../helpers/until.js'

const TIDES = `# Tides

High water at Brest comes about four hours after the moon has passed the meridian.
`
const LAMPS = `# Lamps

The keeper of the lighthouse fills the lamp with colza oil every evening at sunset.
`

describe.skipIf(!hasServer)('an engine on PostgreSQL', () => {
  let test: TestEngine
  let database: string
  /** failures in the log, which requests do not show */
  let told: unknown[]

  beforeEach(async () => {
    told = []
    const tell = (fields: object, message: string) => {
      // On a busy machine the text index still follows the deletion while the failed query is clustered.
      if (!message.includes('clustered by its words alone')) told.push({ ...fields, message })
    }
    const log: EngineLog = { debug() {}, info() {}, warn: tell, error: tell }
    database = await createMigratedDatabase()
    test = await startEngine({ database: addressOf(database), log })
  })

  afterEach(async () => {
    await test.end()
  })

  async function cited(space: string, question: string): Promise<{ answer: string; documents: string[] }> {
    const { answer, done, error } = await ask(test.engine, ADA, space, question)
    expect(error).toBeUndefined()
    const items = done.metadata?.evidenceBundle?.items ?? []
    const documents = items.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId))
    return { answer, documents: [...new Set(documents)] }
  }

  it('publishes and cites documents, no longer finds deleted ones, and continues after a restart', async () => {
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    const accepted = await ingest(test.engine, ADA, id, { 'tides.md': TIDES, 'lamps.md': LAMPS })
    const [tides, lamps] = accepted.map(({ asset }) => asset.id)
    const listed = await test.engine.documents.list(ADA, id, { limit: 10 })
    expect(listed.items.map(({ id: one, parserStatus }) => [one, parserStatus])).toEqual([
      [tides, 'parsed'],
      [lamps, 'parsed'],
    ])
    const oil = await cited(id, 'What does the keeper fill the lamp with?')
    expect(oil.answer).toContain('colza oil')
    expect(oil.documents).toContain(lamps)

    // Writes are visible at once, but only to their tenant.
    await test.engine.spaces.update(ADA, id, { name: 'Pharos' })
    expect(await test.engine.spaces.get(ADA, id)).toMatchObject({ name: 'Pharos' })
    await expect(test.engine.spaces.get(BOB, id)).rejects.toMatchObject({ code: 'not-found' })

    await test.engine.documents.delete(ADA, id, [String(lamps)])
    expect((await cited(id, 'What does the keeper fill the lamp with?')).documents).not.toContain(lamps)

    await test.reopen()
    const water = await cited(id, 'When does high water come at Brest?')
    expect(water.answer).toContain('four hours')
    expect(water.documents).toEqual([tides])
    expect(told).toEqual([])
  })

  it('keeps the turns of a session, and the trace of each answer', async () => {
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(test.engine, ADA, id, { 'lamps.md': LAMPS })
    const first = await ask(test.engine, ADA, id, 'What does the keeper fill the lamp with?')
    await test.reopen()
    const second = await ask(test.engine, ADA, id, 'When?', { sessionId: first.sessionId })
    expect(second.sessionId).toBe(first.sessionId)
    const trace = await test.engine.queries.trace(ADA, first.traceId)
    expect(trace).toMatchObject({ knowledgeSpaceId: id, query: 'What does the keeper fill the lamp with?' })
    expect(told).toEqual([])
  })

  it('captures a failed query, answers in research mode, and passes all checks of fsck', async () => {
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(test.engine, ADA, id, { 'lamps.md': LAMPS })
    await ask(test.engine, ADA, id, 'Who conducts the orchestra of Vienna?')
    const captured = async () => (await test.engine.quality.failed.list(ADA, id, { limit: 1 })).items
    await until(async () => (await captured()).length === 1)
    expect(await captured()).toMatchObject([{ query: 'Who conducts the orchestra of Vienna?' }])
    const researched = await ask(test.engine, ADA, id, 'What does the keeper fill the lamp with?', { mode: 'research' })
    expect(researched.answer).toContain('colza oil')
    for (const check of ['raw-objects', 'artifact-segments', 'references'] as const)
      expect((await test.engine.integrity.fsck(ADA, id, { check, deep: true })).issues).toEqual([])
    expect(told).toEqual([])
  })

  it('reports unhealthy while the database server is unavailable, and healthy afterwards', async () => {
    const client = await connect('postgres')
    const lose = (allows: boolean) => client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS ${allows}`)
    try {
      expect((await test.engine.health()).components).toMatchObject({ database: true, storage: true })
      await lose(false)
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
        [database],
      )
      await expect(test.engine.spaces.list(ADA, { limit: 1 })).rejects.toMatchObject({ code: 'unavailable' })
      expect(await test.engine.health()).toMatchObject({ ok: false, components: { database: false, storage: false } })
      await lose(true)
      expect(await test.engine.spaces.list(ADA, { limit: 1 })).toEqual({ items: [] })
      expect((await test.engine.health()).components).toMatchObject({ database: true, storage: true })
    } finally {
      await lose(true)
      await client.end()
    }
  })
})
