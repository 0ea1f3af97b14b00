import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GcCandidate, IntegrityTarget } from '../../../../src/contract/gateway/integrity.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { allCandidates, allIssues, noteText, spaceWith } from './space.js'

let running: TestEngine
let space: { id: string; names: string[] }
let theirs: string

beforeAll(async () => {
  running = await startEngine()
  space = await spaceWith(running.engine, 'gc', 6)
  theirs = (await running.engine.spaces.create(BOB, { name: 'Theirs', slug: 'theirs' })).id
  await ingest(running.engine, BOB, theirs, { 'secret.md': '# Secret\n\nThe bytes of another tenant.' })
  await ask(running.engine, ADA, space.id, 'zebragc1')
})
afterAll(() => running.end())

const HOURS_AGO = new Date(Date.now() - 3 * 60 * 60 * 1000)

/** An old unreferenced object. */
function orphan(digit: string, tenant = ADA.tenant): string {
  const key = ObjectStore.key(tenant, `cd${digit.repeat(62)}`)
  const path = join(running.dataDir, 'objects', key)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'left behind')
  utimesSync(path, HOURS_AGO, HOURS_AGO)
  return key
}

const pathOf = (key: string) => join(running.dataDir, 'objects', key)

async function insertCommit(
  id: string,
  status: string,
  changes: { expires?: number; key?: string } = {},
): Promise<void> {
  await rowsOf(running.dataDir).run(
    `INSERT INTO staged_commits (id, tenant, space_key, idempotency_key, operation_type, status, published_object_key,
           expires_at, created_at, updated_at) VALUES (?, ?, 1, ?, 'document-upload', ?, ?, ?, 1, 1)`,
    ...[id, ADA.tenant, id, status, changes.key ?? null, changes.expires ?? 1],
  )
}

const uuid = (end: string) => `018f0000-0000-7000-8000-${end.padStart(12, '0')}`

/** Everything that a reader can see of a space. */
async function picture(caller: typeof ADA, id: string) {
  const { engine, dataDir } = running
  const { items } = await engine.documents.list(caller, id, { limit: 100 })
  const artifacts = await Promise.all(
    items.map((item) => engine.documents.parseArtifact(caller, id, item.id, item.version).then((body) => body.value())),
  )
  return {
    items,
    artifacts,
    files: items.map((item) => existsSync(join(dataDir, 'objects', item.objectKey))),
    status: await engine.spaces.stats(caller, id, { windowMinutes: 60 }).then(({ projections }) => projections),
  }
}

test('a space without garbage has no candidates for a garbage collection', async () => {
  expect(await allCandidates(running.engine, space.id)).toEqual([])
})

test('a garbage collection removes orphaned objects and expired commits, and has the same result again', async () => {
  const { engine } = running
  const keys = [orphan('a'), orphan('b')]
  const named = orphan('c')
  await insertCommit(uuid('1'), 'failed-terminal', { key: named })
  await insertCommit(uuid('2'), 'canceled')
  await insertCommit(uuid('3'), 'failed-retryable')
  await insertCommit(uuid('4'), 'failed-terminal', { expires: Date.now() + 60_000 })
  const candidates = await allCandidates(engine, space.id)
  const types = candidates.map(({ candidateType }) => candidateType).sort()
  expect(types).toEqual([...Array(3).fill('failed-commit'), ...Array(3).fill('staged-object')])
  expect(new Set(candidates.map((each) => each.idempotencyKey)).size).toBe(6)
  expect(await allCandidates(engine, space.id, keys[0]!)).toMatchObject([{ target: { objectKey: keys[0] } }])
  expect(await allCandidates(engine, space.id, 'zz')).toEqual([])
  const first = await engine.integrity.gcExecute(ADA, space.id, candidates)
  expect(first).toMatchObject({ tenantId: ADA.tenant, deleted: 6, skipped: 0 })
  expect([...keys, named].map((key) => existsSync(pathOf(key)))).toEqual([false, false, false])
  expect(await engine.integrity.gcExecute(ADA, space.id, candidates)).toEqual(first)
  expect(await allCandidates(engine, space.id)).toEqual([])
  const { items } = await engine.integrity.commits(ADA, space.id, { limit: 100, status: 'gc-complete' })
  expect(items.map((item) => item.id)).toEqual([uuid('1'), uuid('2'), uuid('3')])
  expect(await allIssues(engine, space.id)).toEqual([])
})

test('an old candidate of a garbage collection does not remove an object that a new document uses again', async () => {
  const { engine } = running
  const text = noteText('again', 1)
  await ingest(engine, ADA, space.id, { 'again.md': text })
  const { items } = await engine.documents.list(ADA, space.id, { limit: 100 })
  const { objectKey, id } = items.find((item) => item.filename === 'again.md')!
  utimesSync(pathOf(objectKey), HOURS_AGO, HOURS_AGO)
  const old = forged('staged-object', { type: 'raw-object', objectKey })
  expect(await engine.integrity.gcExecute(ADA, space.id, [old])).toMatchObject({ deleted: 0, skipped: 1 })
  await engine.documents.delete(ADA, space.id, [id])
  await ingest(engine, ADA, space.id, { 'again.md': text })
  expect(await engine.integrity.gcExecute(ADA, space.id, [old])).toMatchObject({ deleted: 0, skipped: 1 })
  expect(await allIssues(engine, space.id, 'raw-objects')).toEqual([])
})

test('an expired commit under a lease is collected only after the lease is released', async () => {
  const { engine } = running
  const run = await engine.queries.start(
    ADA,
    { knowledgeSpaceId: space.id, query: 'zebragc1', activeDocumentIds: [], activeEntityIds: [] },
    new AbortController().signal,
  )
  const { items } = await engine.integrity.leases(ADA, space.id, { limit: 10 })
  expect(items).toMatchObject([{ leaseType: 'read', status: 'active', virtualPath: `/evidence/${run.traceId}` }])
  expect((await engine.integrity.leases(BOB, theirs, { limit: 10 })).items).toEqual([])
  await insertCommit(items[0]!.targetId, 'canceled')
  const candidates = await allCandidates(engine, space.id)
  expect(candidates).toHaveLength(1)
  expect(await engine.integrity.gcExecute(ADA, space.id, candidates)).toMatchObject({
    deleted: 0,
    items: [{ status: 'skipped-active-lease' }],
  })
  for await (const _frame of run.frames());
  expect((await engine.integrity.leases(ADA, space.id, { limit: 10 })).items).toEqual([])
  expect(await engine.integrity.gcExecute(ADA, space.id, candidates)).toMatchObject({ deleted: 1 })
})

test('a garbage collection removes unpublished versions, stray passages, old models and old traces', async () => {
  const { engine, dataDir } = running
  const { traceId } = await ask(engine, ADA, space.id, 'zebragc2')
  const old = await ask(engine, ADA, space.id, 'zebragc3')
  const change = rowsOf(dataDir).run
  await change(`INSERT INTO versions (doc_key, space_key, version, node_count, artifact_id, artifact_hash, content_type, parser,
        outline_id, items_id, created_at, title, metadata, outline, items, artifact)
      SELECT doc_key, space_key, 77, 0, 'abandoned', artifact_hash, content_type, parser, outline_id, items_id, created_at,
        title, metadata, outline, items, artifact FROM versions WHERE key = 1`)
  await change(`INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
        start_offset, end_offset, kind, row_hash)
      SELECT 9001, '${uuid('9001')}', space_key, doc_key, 9001, 0, title, text, section, outline_node, elements, start_offset,
        end_offset, kind, row_hash FROM nodes WHERE key = 1`)
  await change(`INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at)
      VALUES ('${uuid('77')}', 1, 1, 4, 'superseded', 1)`)
  await change('UPDATE traces SET created_at = 1 WHERE id = ?', old.traceId)
  const candidates = await allCandidates(engine, space.id)
  expect(candidates.map(({ candidateType }) => candidateType).sort()).toEqual([
    'answer-trace',
    'artifact-segment',
    'index-projection',
    'parse-artifact',
  ])
  expect(await engine.integrity.gcExecute(ADA, space.id, candidates)).toMatchObject({ deleted: 4, skipped: 0 })
  expect(await allCandidates(engine, space.id)).toEqual([])
  await expect(engine.queries.trace(ADA, old.traceId)).rejects.toMatchObject({ code: 'not-found' })
  expect((await engine.queries.trace(ADA, traceId)).id).toBe(traceId)
  expect(await allIssues(engine, space.id)).toEqual([])
})

function forged(candidateType: GcCandidate['candidateType'], target: IntegrityTarget, key = 'forged'): GcCandidate {
  return { candidateType, count: 1, estimatedBytes: 1, idempotencyKey: key, reason: 'because', target }
}

test('A19: forged candidates for live, foreign or unknown content remove nothing', {
  timeout: 60_000,
}, async () => {
  const { engine, dataDir } = running
  const mine = await picture(ADA, space.id)
  const other = await picture(BOB, theirs)
  const strangers = orphan('d', BOB.tenant)
  // Young age protects nothing here.
  for (const { objectKey } of [...mine.items, ...other.items]) utimesSync(pathOf(objectKey), HOURS_AGO, HOURS_AGO)
  const trace = await ask(engine, ADA, space.id, 'zebragc4')
  const names = new Set<string>(['..', '../../db/main.sqlite', '', 'tmp/..', 'tmp/x', strangers, trace.traceId])
  for (const { items, artifacts } of [mine, other]) {
    for (const item of items) for (const name of [item.id, item.objectKey, item.sha256]) names.add(name)
    for (const artifact of artifacts) names.add(artifact.id)
  }
  for (const table of ['nodes', 'staged_commits', 'vector_spaces', 'jobs', 'spaces'])
    for (const { id } of rowsOf(dataDir).all<{ id: string }>(`SELECT id FROM ${table}`)) names.add(id)
  const before = readdirSync(join(dataDir, 'objects'), { recursive: true }).length
  const count = (table: string) => rowsOf(dataDir).value(`SELECT count(*) FROM ${table}`)
  const tables = [
    'documents',
    'versions',
    'nodes',
    'vectors',
    'traces',
    'evidence_bundles',
    'vector_spaces',
    'staged_commits',
  ]
  const rows = tables.map(count)
  const name = fc.constantFrom(...names)
  const target = fc.record(
    {
      type: fc.constantFrom(
        ...(['raw-object', 'artifact-object', 'artifact-segment', 'knowledge-path', 'knowledge-node'] as const),
        ...(['index-projection', 'staged-commit'] as const),
      ),
      id: name,
      objectKey: name,
      documentAssetId: name,
      parseArtifactId: name,
      virtualPath: name,
    },
    { requiredKeys: ['type'] },
  )
  const type = fc.constantFrom(
    ...([
      'staged-object',
      'failed-commit',
      'artifact-segment',
      'parse-artifact',
      'index-projection',
      'answer-trace',
    ] as const),
  )
  const candidates = fc.array(fc.tuple(type, target, fc.uuid()), { minLength: 20, maxLength: 100 })
  await fc.assert(
    fc.asyncProperty(candidates, async (list) => {
      const made = list.map(([candidateType, place, key]) => forged(candidateType, place, key))
      expect((await engine.integrity.gcExecute(ADA, space.id, made)).deleted).toBe(0)
    }),
    { numRuns: 40 },
  )
  expect(tables.map(count)).toEqual(rows)
  expect(readdirSync(join(dataDir, 'objects'), { recursive: true }).length).toBe(before)
  expect(await picture(ADA, space.id)).toEqual(mine)
  expect(await picture(BOB, theirs)).toEqual(other)
})

test('F52: an upload of the same bytes during their collection ends with the bytes present', {
  timeout: 60_000,
}, async () => {
  const { engine, dataDir } = running
  for (let round = 0; round < 30; round++) {
    const text = `# Round ${round}\n\nBytes that come and go.`
    const objectKey = ObjectStore.key(ADA.tenant, createHash('sha256').update(text).digest('hex'))
    const path = join(dataDir, 'objects', objectKey)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    utimesSync(path, HOURS_AGO, HOURS_AGO)
    const upload = await engine.documents.upload(ADA, space.id, { many: false })
    await upload.add({ filename: `round-${round}.md`, content: Readable.from([Buffer.from(text)]) })
    const candidate = forged('staged-object', { type: 'raw-object', objectKey }, `round-${round}`)
    const [accepted] = await Promise.all([upload.commit({}), engine.integrity.gcExecute(ADA, space.id, [candidate])])
    expect(accepted[0]!.asset.objectKey).toBe(objectKey)
    expect(existsSync(path), `round ${round}`).toBe(true)
  }
  expect(await allIssues(engine, space.id, 'raw-objects')).toEqual([])
})

test('the staged commits of a space are listed page by page and by status', async () => {
  const { engine } = running
  const all = (await engine.integrity.commits(ADA, space.id, { limit: 1000 })).items
  expect(all.length).toBeGreaterThan(6)
  const paged: string[] = []
  let cursor: string | undefined
  do {
    const page = await engine.integrity.commits(ADA, space.id, { limit: 3, cursor })
    paged.push(...page.items.map((item) => item.id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(paged).toEqual(all.map((item) => item.id))
  const published = (await engine.integrity.commits(ADA, space.id, { limit: 1000, status: 'published' })).items
  expect(published.every((item) => item.status === 'published' && item.checksum !== undefined)).toBe(true)
  await expect(engine.integrity.commits(BOB, space.id, { limit: 10 })).rejects.toMatchObject({ code: 'not-found' })
})
