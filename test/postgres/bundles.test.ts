import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exportBundle, importBundle, listDifferences } from '../helpers/bundles.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { createFullSpace } from '../helpers/filled-space.js'
import { addressOf, createMigratedDatabase, hasServer } from '../helpers/postgres.js'

/** another tenant, that the sources of the space know */
const AWAY = { tenant: 'tenant-b', subject: 'ada' }

describe.skipIf(!hasServer)('a space that moves to PostgreSQL and back', () => {
  let files: TestEngine
  let server: TestEngine
  let again: TestEngine

  beforeEach(async () => {
    files = await startEngine({ sources: { egressAllow: ['127.0.0.0/8'] } })
    server = await startEngine({ database: addressOf(await createMigratedDatabase()) })
    again = await startEngine()
  })

  afterEach(async () => {
    for (const one of [files, server, again]) await one.end()
  })

  it('exports the same bundle each time, and answers on PostgreSQL with the same citation', async () => {
    const { space, lamps } = await createFullSpace(files.engine)
    const bundle = await exportBundle(files.engine, ADA, [space])
    await importBundle(server.engine, AWAY, bundle)
    expect(await listDifferences(bundle, await exportBundle(server.engine, AWAY, [space]))).toEqual([])
    const asked = await ask(server.engine, AWAY, space, 'What does the keeper fill the lamp with?')
    expect(asked.answer).toContain('colza oil')
    const items = asked.done.metadata?.evidenceBundle?.items ?? []
    expect(items.flatMap(({ citations }) => citations.map((one) => one.documentAssetId))).toContain(lamps)

    const after = await exportBundle(server.engine, AWAY, [space])
    await importBundle(again.engine, ADA, after)
    expect(await listDifferences(after, await exportBundle(again.engine, ADA, [space]))).toEqual([])
  }, 240_000)

  it('leaves nothing if the bundle is truncated, and can be imported afterwards', async () => {
    const { id } = await files.engine.spaces.create(ADA, { name: 'Lamps', slug: 'lamps' })
    await ingest(files.engine, ADA, id, { 'lamps.md': '# Lamps\n\nThe lamp burns colza oil.\n' })
    const bundle = await exportBundle(files.engine, ADA, [id])
    await expect(importBundle(server.engine, ADA, bundle.subarray(0, bundle.length - 2048))).rejects.toMatchObject({
      code: 'invalid-bundle',
    })
    expect((await server.engine.spaces.list(ADA, { limit: 10 })).items).toEqual([])
    await expect
      .poll(() => importBundle(server.engine, ADA, bundle).catch((error: Error) => error))
      .toMatchObject({ spaces: [{ id, documents: 1 }] })
  })
})
