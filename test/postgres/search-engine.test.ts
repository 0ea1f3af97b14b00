import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EngineLog } from '../../src/engine/base/log.js'
import type { EngineOptions } from '../../src/engine/base/options.js'
import type { ObjectLocation } from '../../src/local/object-location.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { startStrictS3 } from '../helpers/places/strict-s3.js'
import {
  addressOf,
  connect,
  createMigratedDatabase,
  createSearchableDatabase,
  hasVectors,
} from '../helpers/postgres.js'
import { SUPERUSER } from '../helpers/postgres-server.js'

const TIDES = `# Tides

High water at Brest comes about four hours after the moon has passed the meridian.
`
const LAMPS = `# Lamps

The keeper of the lighthouse fills the lamp with colza oil every evening at sunset.
`

/** A new data directory with the keys of another. */
function withKeysOf(dataDir: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ks-engine-'))
  for (const name of ['signing.key', 'data.key']) copyFileSync(join(dataDir, name), join(folder, name))
  return folder
}

describe.skipIf(!hasVectors)('an engine that searches in the database', () => {
  let database: string
  let engines: TestEngine[]
  /** failures in the log */
  let told: unknown[]

  beforeEach(async () => {
    database = await createSearchableDatabase()
    engines = []
    told = []
  })

  afterEach(async () => {
    for (const one of engines) await one.end()
    vi.unstubAllEnvs()
  })

  async function start(changes: Partial<EngineOptions> = {}): Promise<TestEngine> {
    const tell = (fields: object, message: string) => void told.push({ ...fields, message })
    const log: EngineLog = { debug() {}, info() {}, warn: tell, error: tell }
    const test = await startEngine({ database: addressOf(database), search: 'postgres', log, ...changes })
    engines.push(test)
    return test
  }

  /** Starts another gateway of the same deployment. */
  async function beside({ dataDir }: TestEngine, objects: ObjectLocation): Promise<TestEngine> {
    return await start({ objects, dataDir: withKeysOf(dataDir) })
  }

  async function cited({ engine }: TestEngine, space: string, question: string) {
    const { answer, done, error } = await ask(engine, ADA, space, question)
    expect(error).toBeUndefined()
    const items = done.metadata?.evidenceBundle?.items ?? []
    const documents = items.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId))
    return { answer, documents: [...new Set(documents)], metrics: done.metadata?.retrieval }
  }

  it('publishes and cites documents, no longer finds deleted ones, and continues after a restart', async () => {
    const test = await start()
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    const accepted = await ingest(test.engine, ADA, id, { 'tides.md': TIDES, 'lamps.md': LAMPS })
    const [tides, lamps] = accepted.map(({ asset }) => asset.id)
    const oil = await cited(test, id, 'What does the keeper fill the lamp with?')
    expect(oil.answer).toContain('colza oil')
    expect(oil.documents).toContain(lamps)
    expect((await test.engine.health()).components).toMatchObject({ database: true, indexes: true })
    await test.engine.documents.delete(ADA, id, [String(lamps)])
    expect((await cited(test, id, 'What does the keeper fill the lamp with?')).documents).not.toContain(lamps)
    await test.reopen()
    const water = await cited(test, id, 'When does high water come at Brest?')
    expect(water.answer).toContain('four hours')
    expect(water.documents).toEqual([tides])
    expect(told).toEqual([])
  })

  it('finds documents of another gateway with the first question, and no longer those it has deleted', async () => {
    const bucket = await startStrictS3({ supportsConditions: true })
    for (const [name, value] of Object.entries(bucket.env)) vi.stubEnv(name, value)
    onTestFinished(() => bucket.end())
    const one = await start({ objects: bucket.place })
    const other = await beside(one, bucket.place)
    const { id } = await one.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(one.engine, ADA, id, { 'tides.md': TIDES })
    expect((await cited(other, id, 'When does high water come at Brest?')).answer).toContain('four hours')
    const [lamps] = await ingest(one.engine, ADA, id, { 'lamps.md': LAMPS })
    const found = await cited(other, id, 'What does the keeper fill the lamp with?')
    expect(found.documents).toContain(lamps?.asset.id)
    await one.engine.documents.delete(ADA, id, [String(lamps?.asset.id)])
    expect((await cited(other, id, 'What does the keeper fill the lamp with?')).documents).not.toContain(
      lamps?.asset.id,
    )
    await ingest(other.engine, ADA, id, { 'lamps.md': LAMPS })
    expect((await cited(one, id, 'What does the keeper fill the lamp with?')).answer).toContain('colza oil')
    expect(told).toEqual([])
  })

  it('finds no passage of another tenant, and hides a space of another tenant', async () => {
    const { engine } = await start()
    const mine = await engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    const theirs = await engine.spaces.create(BOB, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(engine, ADA, mine.id, { 'tides.md': TIDES })
    await ingest(engine, BOB, theirs.id, { 'lamps.md': LAMPS })
    const found = await ask(engine, BOB, theirs.id, 'When does high water come at Brest?')
    expect(found.done.metadata?.evidenceBundle?.items ?? []).toEqual([])
    await expect(ask(engine, BOB, mine.id, 'When does high water come at Brest?')).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('rebuilds search tables by a repair if fsck finds that they differ from the rows', async () => {
    const test = await start()
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(test.engine, ADA, id, { 'tides.md': TIDES, 'lamps.md': LAMPS })
    const issues = async () => {
      const report = await test.engine.integrity.fsck(ADA, id, { check: 'references', deep: true })
      return report.issues.map(({ code }) => code).sort()
    }
    expect(await issues()).toEqual([])
    const client = await connect(database, SUPERUSER)
    const { rows } = await client.query<{ nspname: string }>(
      "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'search\\_%'",
    )
    await client.query(`DELETE FROM ${rows[0]?.nspname}.nodes WHERE node = (SELECT max(key) FROM nodes)`)
    await client.end()
    expect(await issues()).toContain('text-count')
    await test.engine.integrity.repair(ADA, id, { dryRun: false, check: 'references', deep: true })
    expect(await issues()).toEqual([])
    expect((await cited(test, id, 'What does the keeper fill the lamp with?')).answer).toContain('colza oil')
  })

  it('removes all search rows of a deleted space', async () => {
    const test = await start()
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(test.engine, ADA, id, { 'tides.md': TIDES })
    const client = await connect(database, SUPERUSER)
    const count = async () => {
      const { rows } = await client.query<{ n: string }>(
        "SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT (SELECT count(*) FROM %1$I.nodes) + (SELECT count(*) FROM %1$I.terms) + (SELECT count(*) FROM %1$I.spaces) n', nspname), false, true, '')))[1]::text n FROM pg_namespace WHERE nspname LIKE 'search\\_%'",
      )
      return Number(rows[0]?.n)
    }
    try {
      expect(await count()).toBeGreaterThan(5)
      await test.engine.spaces.delete(ADA, id)
      await test.reopen()
      await expect.poll(count).toBe(0)
    } finally {
      await client.end()
    }
  })

  it('does not start without the extension vector, which it needs with --search postgres only', async () => {
    database = await createMigratedDatabase()
    await expect(start()).rejects.toThrow(/needs the extension vector .*CREATE EXTENSION vector/)
    await expect(startEngine({ search: 'postgres' })).rejects.toThrow(
      /must be on a server: give its address with --backend/,
    )
    const plain = await startEngine({ database: addressOf(await createMigratedDatabase()) })
    engines.push(plain)
    expect((await plain.engine.health()).ok).toBe(true)
  })
})
