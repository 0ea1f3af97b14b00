import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Leases } from '../../../src/engine/base/leases.js'
import type { Driver } from '../../../src/engine/store/driver.js'
import { sql } from '../../../src/engine/store/program.js'
import { recordHeartbeat, removeGateway } from '../../../src/engine/store/rows/gateways.js'
import {
  isBeingRead,
  isLeased,
  listReadersSince,
  listSpaceLeases,
  reportLeases,
} from '../../../src/engine/store/rows/held-leases.js'
import type { SpaceRow } from '../../../src/engine/store/rows/spaces.js'
import { findDocumentToPurge } from '../../../src/engine/upkeep/rows/purge/documents.js'
import { ADA, ingest } from '../../helpers/engine.js'
import { engineAt, startGateways } from '../../helpers/gateways.js'
import { hasServer } from '../../helpers/postgres.js'
import { until } from '../../helpers/until.js'
import { BACKENDS, type Backend, newDocument, newSpace } from '../backends.js'

describe.each(BACKENDS)('leases of other gateways, on %s', (_, open) => {
  let backend: Backend
  let driver: Driver
  let space: SpaceRow
  const now = Date.now()
  const view = { leases: new Leases(Date.now), instance: 'one', isShared: true }
  const reading = (ago: number) => {
    const lease = { spaceKey: space.key, sessionId: 's', targetType: 'publication', targetId: 'p', virtualPath: '/p' }
    const held = new Leases(Date.now).acquire({ ...lease, subject: 'ada', type: 'read' })
    return { ...held, acquiredAt: now - ago * 1000 }
  }
  const tell = (seconds: number) => driver.write(() => reportLeases('two', [reading(seconds)]))
  const deletedSince = (seconds: number) =>
    driver.write(() =>
      sql.run('UPDATE documents SET deleted_at = ? WHERE space_key = ?', [now - seconds * 1000, space.key]),
    )
  const removable = async (of = view) =>
    (await driver.read(
      (function* () {
        return yield* findDocumentToPurge(yield* listReadersSince(of, now))
      })(),
    )) !== undefined

  beforeEach(async () => {
    backend = await open()
    driver = backend.driver
    space = await newSpace(driver)
    await driver.write(() => newDocument(space, 'a.md'))
    await driver.write(() => recordHeartbeat('two', undefined))
  })
  afterEach(() => backend.close())

  it('keep deleted rows until every gateway must have reported its readers, and as long as one reads', async () => {
    await deletedSince(60)
    expect(await removable()).toBe(false)
    // With a single gateway all readers are known.
    expect(await removable({ ...view, isShared: false })).toBe(true)
    await deletedSince(120)
    expect(await removable()).toBe(true)
    await tell(200)
    expect(await removable()).toBe(false)
    // A reader that started well after the deletion does not keep rows.
    await tell(80)
    expect(await removable()).toBe(true)
    await tell(200)
    await driver.write(() => removeGateway('two'))
    expect(await removable()).toBe(true)
  })

  it('can be found by space, and are replaced by the next report of their gateway', async () => {
    await tell(200)
    expect(await driver.read(listSpaceLeases(view, space.key))).toMatchObject([
      { subject: 'ada', type: 'read', fence: 1 },
    ])
    expect(await driver.read(isBeingRead(view, space.key))).toBe(true)
    expect(await driver.read(isBeingRead(view, space.key, now - 300_000))).toBe(false)
    expect(await driver.read(isLeased(view, space.key, ['/p']))).toBe(true)
    expect(await driver.read(isLeased(view, space.key, ['other', undefined]))).toBe(false)
    expect(await driver.read(isBeingRead(view, space.key + 1))).toBe(false)
    expect(await driver.read(isBeingRead({ ...view, isShared: false }, space.key))).toBe(false)
    await driver.write(() => reportLeases('two', []))
    expect(await driver.read(isBeingRead(view, space.key))).toBe(false)
  })
})

describe.skipIf(!hasServer)('a question that another gateway answers', () => {
  it('appears in the list of leases and counts as a session', { timeout: 120_000 }, async () => {
    const gateways = await startGateways(2)
    try {
      const [one, two] = [engineAt(gateways, 0), engineAt(gateways, 1)]
      const { id } = await one.spaces.create(ADA, { name: 'Sea', slug: 'sea' })
      await ingest(one, ADA, id, { 'tides.md': '# Tides\n\nThe moon pulls the sea and makes the tides.\n' })
      const body = { knowledgeSpaceId: id, query: 'What pulls the sea?', activeDocumentIds: [], activeEntityIds: [] }
      const run = await one.queries.start(ADA, body, new AbortController().signal)
      // Its frames are not read yet, so it keeps its lease.
      const held = async () => (await two.integrity.leases(ADA, id, { limit: 10 })).items
      await until(async () => (await held()).length > 0)
      expect(await held()).toMatchObject([{ id: run.traceId, leaseType: 'read', sessionId: run.sessionId }])
      expect((await two.spaces.status(ADA, id)).activeSessions.items).toMatchObject([{ id: run.sessionId }])
      for await (const _ of run.frames());
      await until(async () => (await held()).length === 0)
    } finally {
      await gateways.end()
    }
  })
})
