import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeCursor } from '../../../../src/engine/base/cursor.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  createFinding,
  type IntegrityFinding,
  type IntegrityScan,
} from '../../../../src/engine/upkeep/integrity/findings.js'
import { scanPage } from '../../../../src/engine/upkeep/integrity/pages.js'
import { makeScanSlice, type ScanPhase } from '../../../../src/engine/upkeep/integrity/phase.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

const KEY = ObjectStore.key(ADA.tenant, 'ab'.repeat(32))

let small: SmallSpaces
let space: SpaceRow
let scan: IntegrityScan
beforeEach(async () => {
  // A page also ends after two seconds: no time passes here.
  vi.spyOn(performance, 'now').mockReturnValue(1)
  small = await openSmallSpaces()
  space = small.store.createSpace()
  scan = { context: small.store.context, reader: ADA, space, now: small.clock.now }
})
afterEach(async () => {
  vi.restoreAllMocks()
  await small.store.end()
})

const issue = (id: string): IntegrityFinding =>
  createFinding('broken-path-target', 'made-up', `${id} is wrong`, {
    target: { type: 'knowledge-path', id },
    remedy: { by: 'nobody' },
  })

/** A phase with a number of findings, a few per slice; it records where it was started. */
function phase(name: string, count: number, slice: number, begun: string[] = []): ScanPhase {
  return async (_, after) => {
    begun.push(`${name} after ${after}`)
    const from = Number(after ?? 0)
    const rows = Array.from({ length: Math.min(slice, count - from) }, (_unused, place) => from + place + 1)
    return makeScanSlice(
      rows,
      slice,
      rows.map((row) => issue(`${name}${row}`)),
      (row) => row,
    )
  }
}

const page = (phases: ScanPhase[], cursor?: string) =>
  scanPage(scan, phases, { filter: 'filter', cursor }, ({ issue: { target } }: IntegrityFinding) => target)
const idsOf = (findings: IntegrityFinding[]) => findings.map(({ issue: { target } }) => target.id)

describe('a slice of a check', () => {
  it('contains the start of the next slice if it is full, and none if it is the last', () => {
    const rows = [{ key: 3 }, { key: 5 }]
    expect(makeScanSlice(rows, 2, ['found'], ({ key }) => key)).toEqual({ scanned: 2, findings: ['found'], next: 5 })
    expect(makeScanSlice(rows, 3, [], ({ key }) => key)).toEqual({ scanned: 2, findings: [] })
    expect(makeScanSlice([], 0, [], () => 1)).toEqual({ scanned: 0, findings: [] })
  })
})

describe('a page of a check', () => {
  it('contains the findings of all phases, in order, when there are few', async () => {
    const begun: string[] = []
    const { scanned, findings, cursor } = await page([phase('a', 3, 2, begun), phase('b', 1, 2, begun)])
    expect(idsOf(findings)).toEqual(['a1', 'a2', 'a3', 'b1'])
    expect([scanned, cursor]).toEqual([4, undefined])
    expect(begun).toEqual(['a after undefined', 'a after 2', 'b after undefined'])
  })

  it('ends when it is full, and the next page continues without a gap or a repetition', async () => {
    const phases = [phase('a', 900, 200), phase('b', 900, 200), phase('c', 1, 200)]
    const all: string[] = []
    const sizes: number[] = []
    let cursor: string | undefined
    do {
      const next = await page(phases, cursor)
      all.push(...idsOf(next.findings).map(String))
      sizes.push(next.findings.length)
      cursor = next.cursor
    } while (cursor !== undefined)
    expect(sizes).toEqual([900, 900, 1])
    expect(all).toEqual([
      ...Array.from({ length: 900 }, (_, place) => `a${place + 1}`),
      ...Array.from({ length: 900 }, (_, place) => `b${place + 1}`),
      'c1',
    ])
  })

  it('never contains more than a thousand findings', async () => {
    const { findings, cursor } = await page([phase('a', 5000, 200)])
    expect(findings.length).toBeGreaterThan(800)
    expect(findings.length).toBeLessThanOrEqual(1000)
    expect((await page([phase('a', 5000, 200)], cursor)).findings[0]?.issue.target.id).toBe(`a${findings.length + 1}`)
  })

  it('ends after a number of checked items, even without a finding', async () => {
    const looked: ScanPhase = async (_, after) => ({ scanned: 10_000, findings: [], next: Number(after ?? 0) + 1 })
    const first = await page([looked])
    expect(first.scanned).toBe(50_000)
    expect((await page([looked], first.cursor)).scanned).toBe(50_000)
    const once: ScanPhase = async () => ({ scanned: 60_000, findings: [] })
    expect((await page([once])).cursor).toBeUndefined()
    expect((await page([once, once])).cursor).toBeDefined()
  })

  it('continues at its cursor, and rejects a malformed cursor and a cursor of another filter', async () => {
    const begun: string[] = []
    const phases = [phase('a', 1, 2, begun), phase('b', 9, 2, begun)]
    await page(phases, encodeCursor({ after: [1, 4] }, 'filter'))
    expect(begun[0]).toBe('b after 4')
    for (const after of [[2], [-1], ['1'], []])
      await expect(page(phases, encodeCursor({ after }, 'filter'))).rejects.toMatchObject({ code: 'invalid-cursor' })
    await expect(page(phases, encodeCursor({ after: [0] }, 'other'))).rejects.toMatchObject({ code: 'invalid-cursor' })
  })

  it('omits findings on documents hidden from the caller', async () => {
    small.restrict(space, 'secret', 'eve')
    await small.store.upload(space, { 'a.md': 'one', 'b.md': 'two' })
    small.store.run("UPDATE documents SET source_id = 'secret' WHERE filename = 'a.md'")
    const ids = small.store.rows<{ id: string }>('SELECT id FROM documents ORDER BY filename').map(({ id }) => id)
    const both: ScanPhase = async () => ({ scanned: 2, findings: ids.map(issue) })
    expect(idsOf((await page([both])).findings)).toEqual([ids[1]])
  })
})

describe('a cursor of a check', () => {
  it('belongs to one check, depth and space', async () => {
    small.commits(space, 0, 1100)
    const first = await small.integrity.fsck(ADA, space.id, { check: 'raw-objects', deep: false })
    const { cursor } = first
    expect(cursor).toBeDefined()
    const second = await small.integrity.fsck(ADA, space.id, { check: 'raw-objects', deep: false, cursor })
    expect(first.issues.length + second.issues.length).toBe(1100)
    const refused = { code: 'invalid-cursor' }
    const other = small.store.createSpace()
    for (const [of, check, deep] of [
      [space.id, 'raw-objects', true],
      [space.id, 'references', false],
      [other.id, 'raw-objects', false],
    ] as const)
      await expect(small.integrity.fsck(ADA, of, { check, deep, cursor })).rejects.toMatchObject(refused)
    await expect(small.integrity.gcDryRun(ADA, space.id, { cursor })).rejects.toMatchObject(refused)
  })

  it('belongs to one prefix of object keys in a dry run of a garbage collection', async () => {
    small.commits(space, 0, 1100)
    const { cursor, summary } = await small.integrity.gcDryRun(ADA, space.id, {})
    expect(summary.candidateCount).toBe(summary.failedCommitCount)
    const rest = await small.integrity.gcDryRun(ADA, space.id, { cursor })
    expect(summary.candidateCount + rest.summary.candidateCount).toBe(1100)
    const prefixed = { cursor, stagedObjectPrefix: 'tmp/' }
    await expect(small.integrity.gcDryRun(ADA, space.id, prefixed)).rejects.toMatchObject({ code: 'invalid-cursor' })
  })
})

describe('a report of a check', () => {
  it('counts its issues by severity, and the issues that can be repaired automatically', async () => {
    await small.publish(space, { 'a.md': 'one', 'b.md': 'two' })
    small.commit(space, uuid(1))
    small.store.run("UPDATE documents SET size_bytes = 99 WHERE filename = 'a.md'")
    small.store.run("UPDATE documents SET sha256 = 'other' WHERE filename = 'b.md'")
    small.store.run('DELETE FROM objects WHERE sha256 = (SELECT substr(object_key, -64) FROM documents LIMIT 1)')
    const report = await small.integrity.fsck(ADA, space.id, { check: 'raw-objects', deep: false })
    expect(report.summary).toMatchObject({ info: 1, warning: 1, error: 1, critical: 1, repairable: 2 })
    expect(report.scannedAt).toBe(new Date(small.clock.now).toISOString())
    const repaired = await small.integrity.repair(ADA, space.id, { check: 'raw-objects', deep: false, dryRun: true })
    expect(repaired).toMatchObject({
      ...{ knowledgeSpaceId: space.id, tenantId: ADA.tenant, dryRun: true, scannedAt: report.scannedAt },
      summary: {
        ...{ scanned: report.summary.scanned, wouldRepair: 2, repaired: 0, failed: 0, manual: 2, notRepairable: 0 },
      },
    })
    const types = ['failed-commit-expired' as const]
    const some = await small.integrity.repair(ADA, space.id, {
      check: 'raw-objects',
      deep: false,
      dryRun: false,
      types,
    })
    expect(some.items).toMatchObject([{ issue: { type: 'failed-commit-expired' }, status: 'repaired' }])
    expect(some.summary).toMatchObject({ wouldRepair: 0, repaired: 1, manual: 0 })
  })

  it.each([
    ['missing-raw-object', 'critical'],
    ['checksum-mismatch', 'critical'],
    ['size-mismatch', 'error'],
    ['missing-artifact-object', 'error'],
    ['segment-hash-mismatch', 'error'],
    ['broken-path-target', 'warning'],
    ['missing-node-target', 'error'],
    ['stale-projection', 'warning'],
    ['orphaned-staged-object', 'info'],
    ['failed-commit-expired', 'info'],
  ] as const)('gives %s the severity %s by default', (type, severity) => {
    const target = { type: 'knowledge-path' } as const
    expect(createFinding(type, 'c', 'm', { target, remedy: { by: 'nobody' } }).issue).toEqual({
      ...{ code: 'c', message: 'm', type, severity, repairability: 'not-repairable', target },
    })
    expect(
      createFinding(type, 'c', 'm', { target, remedy: { by: 'person', advice: 'x' }, severity: 'info' }).issue,
    ).toMatchObject({
      ...{ severity: 'info', repairability: 'manual' },
    })
    expect(createFinding(type, 'c', 'm', { target, remedy: { by: 'filling-vectors' } }).issue.repairability).toBe(
      'auto-repairable',
    )
  })
})

describe('staged commits', () => {
  it('can be listed with all fields, oldest first, page by page, and by status', async () => {
    const columns = {
      ...{ document_id: uuid(8), artifact_id: uuid(9), raw_object_key: 'tmp/x', published_object_key: KEY },
      ...{
        fingerprint: 'f',
        checksum: KEY.slice(-64),
        size_bytes: 7,
        error_code: 'e',
        error_message: 'm',
        expires_at: 5000,
        updated_at: 2000,
      },
    }
    small.commit(space, uuid(2), { status: 'canceled', expires_at: null })
    small.commit(space, uuid(1), { ...columns, created_at: 1000 })
    small.commit(space, uuid(3), { status: 'canceled' })
    small.commit(small.store.createSpace(), uuid(4))
    const { items, nextCursor } = await small.integrity.commits(ADA, space.id, { limit: 2 })
    expect(items).toEqual([
      {
        ...{ id: uuid(1), knowledgeSpaceId: space.id, tenantId: ADA.tenant, idempotencyKey: uuid(1) },
        ...{
          operationType: 'document-upload',
          status: 'failed-terminal',
          documentAssetId: uuid(8),
          parseArtifactId: uuid(9),
        },
        ...{ rawObjectKey: 'tmp/x', publishedObjectKey: KEY, projectionFingerprint: 'f', checksum: KEY.slice(-64) },
        ...{ sizeBytes: 7, errorCode: 'e', errorMessage: 'm', expiresAt: '1970-01-01T00:00:05.000Z' },
        ...{ createdAt: '1970-01-01T00:00:01.000Z', updatedAt: '1970-01-01T00:00:02.000Z' },
      },
      {
        ...{ id: uuid(2), knowledgeSpaceId: space.id, tenantId: ADA.tenant, idempotencyKey: uuid(2) },
        ...{ operationType: 'document-upload', status: 'canceled' },
        ...{ createdAt: '1970-01-01T00:00:00.001Z', updatedAt: '1970-01-01T00:00:00.001Z' },
      },
    ])
    const last = await small.integrity.commits(ADA, space.id, { limit: 2, cursor: nextCursor })
    expect(last.items.map(({ id }) => id)).toEqual([uuid(3)])
    expect(last.nextCursor).toBeUndefined()
    const canceled = await small.integrity.commits(ADA, space.id, { limit: 9, status: 'canceled' })
    expect(canceled.items.map(({ id }) => id)).toEqual([uuid(2), uuid(3)])
    expect(
      (await small.integrity.commits(ADA, space.id, { limit: 9, status: 'canceled', cursor: uuid(2) })).items,
    ).toHaveLength(1)
    await expect(small.integrity.commits(BOB, space.id, { limit: 2 })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('stay visible to readers of their source only, in a list by status as well', async () => {
    small.restrict(space, 'secret', 'eve')
    small.commit(space, uuid(1), { source_id: 'secret' })
    small.commit(space, uuid(2))
    const seen = async (caller: typeof ADA, status?: 'failed-terminal') =>
      (await small.integrity.commits(caller, space.id, { limit: 9, status })).items.length
    const eve = { tenant: ADA.tenant, subject: 'eve' }
    expect([await seen(ADA), await seen(ADA, 'failed-terminal')]).toEqual([1, 1])
    expect([await seen(eve), await seen(eve, 'failed-terminal')]).toEqual([2, 2])
  })

  it('come with at most a thousand per page', async () => {
    small.commits(space, 0, 1002)
    const { items, nextCursor } = await small.integrity.commits(ADA, space.id, { limit: 5000 })
    expect(items).toHaveLength(1000)
    expect((await small.integrity.commits(ADA, space.id, { limit: 5000, cursor: nextCursor })).items).toHaveLength(2)
  })
})
