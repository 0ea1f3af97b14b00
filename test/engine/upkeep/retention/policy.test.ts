import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../../../src/engine/index.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const CAROL: Caller = { tenant: ADA.tenant, subject: 'carol' }
const DEFAULTS = {
  answerTraceRetentionDays: 90,
  evidenceCacheRetentionDays: 7,
  inactiveProjectionRetentionDays: 30,
  parseArtifactVersions: 3,
  rawDocumentRetentionDays: null,
  sessionInactivityMinutes: 30,
}

let test: TestEngine
let spaceId: string
let ahead = 0

beforeEach(async () => {
  ahead = 0
  test = await startEngine({ now: () => Date.now() + ahead })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

describe('a retention policy', () => {
  it('appears in the manifest of its space', async () => {
    await test.engine.retention.setSpace(ADA, spaceId, { parseArtifactVersions: 9, answerTraceRetentionDays: 5 })
    const { retentionPolicy } = await test.engine.spaces.manifest(ADA, spaceId)
    expect(retentionPolicy).toEqual({ artifactVersionsToKeep: 9, failedCommitRetentionDays: 7, traceRetentionDays: 5 })
  })

  it('starts with the documented defaults, and keeps its id and times from the first read on', async () => {
    const tenant = await test.engine.retention.ofTenant(ADA)
    expect(tenant).toMatchObject({ ...DEFAULTS, scope: 'tenant', knowledgeSpaceId: null, tenantId: ADA.tenant })
    const space = await test.engine.retention.ofSpace(ADA, spaceId)
    expect(space).toMatchObject({ ...DEFAULTS, scope: 'knowledge_space', knowledgeSpaceId: spaceId })
    await test.reopen()
    expect(await test.engine.retention.ofTenant(CAROL)).toEqual(tenant)
    expect(await test.engine.retention.ofSpace(CAROL, spaceId)).toEqual(space)
  })

  it('does not pass from tenant to space or from space to tenant', async () => {
    await test.engine.retention.setTenant(ADA, { answerTraceRetentionDays: 1, rawDocumentRetentionDays: 2 })
    expect(await test.engine.retention.ofSpace(ADA, spaceId)).toMatchObject(DEFAULTS)
    await test.engine.retention.setSpace(ADA, spaceId, { parseArtifactVersions: 9 })
    const other = await test.engine.spaces.create(ADA, { name: 'Other', slug: 'other' })
    expect(await test.engine.retention.ofSpace(ADA, other.id)).toMatchObject(DEFAULTS)
    expect(await test.engine.retention.ofTenant(ADA)).toMatchObject({
      ...DEFAULTS,
      answerTraceRetentionDays: 1,
      rawDocumentRetentionDays: 2,
    })
  })

  it('changes only the given fields; null removes the limit of raw documents', async () => {
    const first = await test.engine.retention.setSpace(ADA, spaceId, { rawDocumentRetentionDays: 5 })
    ahead = 1000
    const second = await test.engine.retention.setSpace(ADA, spaceId, { sessionInactivityMinutes: 1 })
    expect(second).toMatchObject({ ...DEFAULTS, rawDocumentRetentionDays: 5, sessionInactivityMinutes: 1 })
    expect(second).toMatchObject({ id: first.id, createdAt: first.createdAt })
    expect(second.updatedAt > first.updatedAt).toBe(true)
    const third = await test.engine.retention.setSpace(ADA, spaceId, { rawDocumentRetentionDays: null })
    expect(third.rawDocumentRetentionDays).toBeNull()
    ahead = 2000
    expect(await test.engine.retention.setSpace(ADA, spaceId, {})).toEqual(third)
  })

  it('accepts the largest safe integer', async () => {
    const most = Number.MAX_SAFE_INTEGER
    const body = { answerTraceRetentionDays: most, sessionInactivityMinutes: most, rawDocumentRetentionDays: most }
    expect(await test.engine.retention.setSpace(ADA, spaceId, body)).toMatchObject(body)
    await ingest(test.engine, ADA, spaceId, { 'a.md': '# Lighthouse\n\nThe lighthouse was built in 1908.\n' })
    const { sessionId } = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    const status = await test.engine.spaces.status(ADA, spaceId)
    expect(status.activeSessions.items[0]).toMatchObject({ id: sessionId, expiresAt: '9999-12-31T23:59:59.999Z' })
  })

  it('stays hidden from other tenants and disappears with its space', async () => {
    await test.engine.retention.setTenant(ADA, { parseArtifactVersions: 8 })
    expect(await test.engine.retention.ofTenant(BOB)).toMatchObject(DEFAULTS)
    const gone = { code: 'not-found' }
    await expect(test.engine.retention.ofSpace(BOB, spaceId)).rejects.toMatchObject(gone)
    await expect(test.engine.retention.setSpace(BOB, spaceId, { parseArtifactVersions: 1 })).rejects.toMatchObject(gone)
    await test.engine.spaces.delete(ADA, spaceId)
    await expect(test.engine.retention.ofSpace(ADA, spaceId)).rejects.toMatchObject(gone)
    await expect(test.engine.retention.setSpace(ADA, spaceId, {})).rejects.toMatchObject(gone)
  })

  it('sets the lifetime of sessions, of existing sessions as well', async () => {
    const { sessionId } = await ask(test.engine, ADA, spaceId, 'Is anybody here?')
    const again = async () => (await ask(test.engine, ADA, spaceId, 'And now?', { sessionId })).sessionId
    await test.engine.retention.setSpace(ADA, spaceId, { sessionInactivityMinutes: 5 })
    ahead = 4 * 60_000
    expect(await again()).toBe(sessionId)
    ahead += 6 * 60_000
    expect((await test.engine.spaces.status(ADA, spaceId)).activeSessions).toMatchObject({ count: 0, items: [] })
    expect(await again()).not.toBe(sessionId)
  })
})
