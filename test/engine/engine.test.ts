import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../src/contract/gateway/queries.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../helpers/engine.js'

let test: TestEngine
let spaceId: string

/** How far the clock of the engine is ahead, in milliseconds. */
let ahead = 0

beforeEach(async () => {
  ahead = 0
  test = await startEngine({ now: () => Date.now() + ahead })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

const RETENTION = `# Retention\n\n## Defaults\n\nAnswer traces are kept for 90 days.\n\n## Changes\n\nChanging the policy deletes nothing at once; a cleanup runs later.\n`
const LIGHTHOUSE = `# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n`

const bundleOf = (metadata: Record<string, unknown> | undefined): EvidenceBundle =>
  (metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle

describe('the main use case', () => {
  it('uploaded files become a space whose answers cite documents that can be opened', async () => {
    await ingest(test.engine, ADA, spaceId, { 'docs/retention.md': RETENTION, 'docs/lighthouse.md': LIGHTHOUSE })
    const asked = await ask(test.engine, ADA, spaceId, 'How long are answer traces kept?')
    expect(asked.answer).toContain('90 days')
    expect(asked.answer).toMatch(/\[1\]/)
    expect(asked.done.finishReason).toBe('retrieval-evidence')
    const bundle = bundleOf(asked.done.metadata)
    const [citation] = bundle.items[0].citations
    const asset = await test.engine.documents.get(ADA, spaceId, citation.documentAssetId)
    expect(asset.filename).toBe('docs/retention.md')
    const artifact = await test.engine.documents
      .parseArtifact(ADA, spaceId, asset.id, citation.documentVersion)
      .then((body) => body.value())
    expect(artifact.artifactHash).toBe(citation.artifactHash)
    expect(artifact.elements.length).toBeGreaterThan(2)
    const outline = await test.engine.documents.outline(ADA, spaceId, asset.id).then((body) => body.value())
    expect(JSON.stringify(outline.nodes)).toContain('Defaults')
  })

  it('an engine answers from uploaded documents after a restart', async () => {
    await ingest(test.engine, ADA, spaceId, { 'lighthouse.md': LIGHTHOUSE })
    await test.reopen()
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(asked.answer).toContain('1908')
  })

  it('F06: the trace of an answer is committed before its done frame, with the evidence bundle', async () => {
    await ingest(test.engine, ADA, spaceId, { 'retention.md': RETENTION })
    const asked = await ask(test.engine, ADA, spaceId, 'How long are traces kept?')
    const trace = await test.engine.queries.trace(ADA, asked.traceId)
    expect(trace.steps.map((step) => step.name)).toEqual([
      'query.route',
      'query.embed',
      'query.retrieve',
      'query.answer',
      'query.generate',
    ])
    expect(trace.steps.at(-1)?.metadata.evidenceBundle).toEqual(bundleOf(asked.done.metadata))
    expect(JSON.stringify(trace)).not.toContain(asked.answer.slice(0, 40))
    const evidence = await test.engine.queries.evidence(ADA, asked.traceId, { limit: 25 })
    expect(evidence.items.map((item) => item.targetId)).toEqual(
      bundleOf(asked.done.metadata).items.map((i) => i.nodeId),
    )
  })

  it('an empty space answers without evidence', async () => {
    const asked = await ask(test.engine, ADA, spaceId, 'Is anybody here?')
    expect(asked.done.finishReason).toBe('no-retrieval-evidence')
    expect(bundleOf(asked.done.metadata)).toMatchObject({ state: 'not-enough-evidence', items: [] })
  })

  it('an unreadable file fails alone, with its reason', async () => {
    const [good, bad] = await ingest(test.engine, ADA, spaceId, {
      'good.md': LIGHTHOUSE,
      'bad.pdf': '%PDF-1.7 this is no pdf',
    })
    expect((await test.engine.documents.get(ADA, spaceId, good.asset.id)).parserStatus).toBe('parsed')
    const failed = await test.engine.documents.get(ADA, spaceId, bad.asset.id)
    expect(failed.parserStatus).toBe('failed')
    expect(failed.metadata.error).toMatchObject({ message: expect.stringMatching(/bad\.pdf/) })
    const job = await test.engine.jobs.get(ADA, bad.compilationJob.id)
    expect(job).toMatchObject({ stage: 'failed', error: expect.stringMatching(/bad\.pdf/) })
  })

  it('files without a searchable word and a file of one endless word are published', async () => {
    const files = { 'a.md': '# A', 'the.txt': 'the and of', 'long.txt': 'x'.repeat(5000), 'dots.md': '...' }
    for (const { asset } of await ingest(test.engine, ADA, spaceId, files)) {
      const { filename, parserStatus } = await test.engine.documents.get(ADA, spaceId, asset.id)
      expect({ filename, parserStatus }).toEqual({ filename, parserStatus: 'parsed' })
    }
  })
})

describe('the life of documents', () => {
  it('an upload of the same bytes under the same name returns the existing document and compiles nothing', async () => {
    const [first] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const [second] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    expect(second.asset.id).toBe(first.asset.id)
    expect(second.compilationJob).toEqual({ id: first.compilationJob.id, stage: 'published' })
    const checked = await test.engine.documents.check(ADA, spaceId, {
      items: [
        { filename: 'a.md', sha256: first.asset.sha256 },
        { filename: 'a.md', sha256: '0'.repeat(64) },
        { filename: 'b.md', sha256: first.asset.sha256 },
      ],
    })
    expect(checked.items.map((item) => item.status)).toEqual(['unchanged', 'changed', 'new'])
  })

  it('other bytes under the same name replace the document, and its old text disappears', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE.replace('1908', '1877') })
    const list = await test.engine.documents.list(ADA, spaceId, { limit: 50 })
    expect(list.items).toHaveLength(1)
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(asked.answer).toContain('1877')
    expect(JSON.stringify(asked.done)).not.toContain('1908')
  })

  it('a deleted document disappears from every read at once, with its bytes', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE, 'b.md': RETENTION })
    const before = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    const report = await test.engine.documents.delete(ADA, spaceId, [
      item.asset.id,
      '018f22aa-0000-7000-8000-000000000000',
    ])
    expect(report.items.map((entry) => entry.status)).toEqual(['deleted', 'not_found'])
    expect(report.items[0].objectDeleted).toBe(true)
    expect(report.items[0].nodesDeleted).toBeGreaterThan(0)
    expect(existsSync(join(test.dataDir, 'objects', item.asset.objectKey))).toBe(false)
    await expect(test.engine.documents.get(ADA, spaceId, item.asset.id)).rejects.toMatchObject({ code: 'not-found' })
    await expect(test.engine.queries.trace(ADA, before.traceId)).rejects.toMatchObject({ code: 'not-found' })
    const after = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(JSON.stringify(after.done)).not.toContain('1908')
    const bulk = await test.engine.jobs.bulk(ADA, report.bulkJobId)
    expect(bulk).toMatchObject({ status: 'completed', totalItems: 2, completedItems: 1, failedItems: 1 })
  })

  it('a document keeps answering during a reindex, which raises its version by one', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const report = await test.engine.documents.reindex(ADA, spaceId, { all: true })
    expect(report.total).toBe(1)
    for (let tries = 0; tries < 100; tries++) {
      const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
      expect(asked.answer).toContain('1908')
      if ((await test.engine.jobs.bulk(ADA, report.bulkJobId)).status === 'completed') break
    }
    const asset = await test.engine.documents.get(ADA, spaceId, item.asset.id)
    expect(asset.version).toBe(2)
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(bundleOf(asked.done.metadata).items[0].citations[0].documentVersion).toBe(2)
  })

  it('a document keeps as many versions as the retention policy allows; older ones are purged later', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    for (let round = 0; round < 4; round++) {
      const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [item.asset.id] })
      await expect.poll(() => test.engine.jobs.bulk(ADA, bulkJobId)).toMatchObject({ status: 'completed' })
    }
    const artifact = (version: number) =>
      test.engine.documents.parseArtifact(ADA, spaceId, item.asset.id, version).then((body) => body.value())
    for (const version of [3, 4, 5]) expect((await artifact(version)).version).toBe(version)
    expect((await artifact(1)).version).toBe(1)
    ahead = 16 * 60_000
    await expect.poll(() => artifact(1).catch((error) => error.code)).toBe('not-found')
    await expect.poll(() => artifact(2).catch((error) => error.code)).toBe('not-found')
  })

  it('a query can be restricted to given documents', async () => {
    const [, retention] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE, 'b.md': RETENTION })
    const asked = await ask(test.engine, ADA, spaceId, 'lighthouse policy days', {
      activeDocumentIds: [retention.asset.id],
    })
    const ids = bundleOf(asked.done.metadata).items.flatMap((i) => i.citations.map((c) => c.documentAssetId))
    expect(new Set(ids)).toEqual(new Set([retention.asset.id]))
  })
})

describe('tenants and subjects', () => {
  it("cannot see each other's data", async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    const other = { tenant: ADA.tenant, subject: 'eve' }
    const refused = { code: 'not-found' }
    await expect(test.engine.spaces.get(BOB, spaceId)).rejects.toMatchObject(refused)
    await expect(test.engine.documents.get(BOB, spaceId, item.asset.id)).rejects.toMatchObject(refused)
    await expect(test.engine.jobs.get(BOB, item.compilationJob.id)).rejects.toMatchObject(refused)
    await expect(ask(test.engine, BOB, spaceId, 'x')).rejects.toMatchObject(refused)
    await expect(test.engine.queries.trace(BOB, asked.traceId)).rejects.toMatchObject(refused)
    await expect(test.engine.queries.trace(other, asked.traceId)).rejects.toMatchObject(refused)
    await expect(test.engine.fs.ls(BOB, spaceId, { path: '/sources', limit: 10 })).rejects.toMatchObject(refused)
    const session = await ask(test.engine, other, spaceId, 'x', { sessionId: asked.sessionId })
    expect(session.sessionId).not.toBe(asked.sessionId)
    const kept = await ask(test.engine, ADA, spaceId, 'x', { sessionId: asked.sessionId })
    expect(kept.sessionId).toBe(asked.sessionId)
  })
})

describe('spaces', () => {
  it('may use a slug once per tenant', async () => {
    await expect(test.engine.spaces.create(ADA, { name: 'Again', slug: 'notes' })).rejects.toMatchObject({
      code: 'slug-taken',
    })
    await expect(test.engine.spaces.create(BOB, { name: 'Mine', slug: 'notes' })).resolves.toMatchObject({
      slug: 'notes',
    })
  })

  it('freeze their embedding profile with the first document', async () => {
    const model = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
    await expect(test.engine.spaces.setEmbeddingProfile(ADA, spaceId, model)).resolves.toMatchObject({ revision: 2 })
    await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    await expect(test.engine.spaces.setEmbeddingProfile(ADA, spaceId, model)).rejects.toMatchObject({
      code: 'embedding-frozen',
    })
    expect((await test.engine.spaces.manifest(ADA, spaceId)).embeddingProfileFrozenAt).toBeDefined()
  })

  it('disappear with all content when deleted, and free their slug', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    await test.engine.spaces.delete(ADA, spaceId)
    await expect(test.engine.spaces.get(ADA, spaceId)).rejects.toMatchObject({ code: 'not-found' })
    await expect(test.engine.jobs.get(ADA, item.compilationJob.id)).rejects.toMatchObject({ code: 'not-found' })
    await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })
    await expect.poll(() => existsSync(join(test.dataDir, 'objects', item.asset.objectKey))).toBe(false)
  })

  it('publish retrieval profiles by revision and reject modes outside the profile', async () => {
    const first = await test.engine.spaces.retrievalProfile(ADA, spaceId)
    expect(first).toMatchObject({ revision: 1, defaultMode: 'fast', topK: 10, scoreThreshold: 0 })
    const { revision: _, ...body } = first
    const second = await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
      ...body,
      modes: ['deep'],
      defaultMode: 'deep',
    })
    expect(second.revision).toBe(2)
    await expect(ask(test.engine, ADA, spaceId, 'x', { mode: 'fast' })).rejects.toMatchObject({
      code: 'profile-mode-mismatch',
    })
  })
})

describe('the routing of a query', () => {
  it('records the fallback when auto mode has no reasoning model', async () => {
    const asked = await ask(test.engine, ADA, spaceId, 'anything', { mode: 'auto' })
    const trace = await test.engine.queries.trace(ADA, asked.traceId)
    expect(trace.mode).toBe('fast')
    expect(trace.steps[0].metadata).toMatchObject({
      requestedMode: 'auto',
      resolvedMode: 'fast',
      resolver: 'fallback',
      degraded: true,
      errorClass: 'reasoning-model-unavailable',
    })
  })
})
