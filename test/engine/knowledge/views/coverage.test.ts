import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeUnread } from '../../../../src/engine/knowledge/derived/derivation.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { mountTmpfs, unmount } from '../../../helpers/small-disk.js'
import { until } from '../../../helpers/until.js'

/** Abstracts of a few fields, each with terms of its field, like abstracts of papers. */
const FIELDS = [
  ['myocardial infarction', 'statin', 'coronary artery', 'cholesterol', 'Framingham Heart Study'],
  ['CD8 T cell', 'cytokine', 'antigen presentation', 'interleukin', 'National Institute of Allergy'],
  ['insulin resistance', 'glucose uptake', 'adipose tissue', 'obesity', 'Joslin Diabetes Center'],
  ['DNA repair', 'homologous recombination', 'double strand break', 'genome', 'Broad Institute'],
  ['hippocampal neuron', 'synaptic plasticity', 'memory consolidation', 'dendrite', 'Allen Brain Institute'],
] as const

function abstract(place: number): string {
  const [topic, ...words] = FIELDS[place % FIELDS.length] ?? FIELDS[0]
  const said = words.map(
    (word, at) => `In cohort ${place} the ${topic} group showed ${word} changes at week ${at + 3}.`,
  )
  return `# ${topic} in cohort ${place}\n\nWe studied ${topic} in ${place + 20} patients. ${said.join(' ')} The ${words.at(-1)} funded it.\n`
}

function abstracts(first: number, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`abstract-${first + i}.md`, abstract(first + i)]))
}

/** The abstracts at the start of the tests, a fifth of each field. */
const ALL = 180

interface Covered {
  coveredDocuments: number
  totalDocuments: number
  stale: boolean
}

let test: TestEngine
let spaceId: string
const ls = (path: string) => test.engine.fs.ls(ADA, spaceId, { path, limit: 200 })
const topics = (body: { topicName?: string; topicSlug?: string; generatedVersion?: string } = {}) =>
  test.engine.graph.materializeTopic(ADA, spaceId, { limit: 20, ...body })
const communities = (body: { generatedVersion?: string } = {}) =>
  test.engine.graph.materializeCommunities(ADA, spaceId, body)
const number = (query: string, ...values: string[]) => rowsOf(test.dataDir).value(query, ...values)
const published = () =>
  number('SELECT count(*) FROM versions WHERE from_revision IS NOT NULL AND until_revision IS NULL')
const readable = () => number('SELECT count(*) FROM page_index')
const change = (statements: string) => rowsOf(test.dataDir).run(statements)

/** Page index and graph stop after the given number of documents. */
async function readAtMost(most: number): Promise<void> {
  await change(`DROP TRIGGER IF EXISTS enough; CREATE TRIGGER enough BEFORE INSERT ON page_index
    WHEN (SELECT count(*) FROM page_index) >= ${most} BEGIN SELECT RAISE(ABORT, 'not now'); END`)
}

function isSound({ coveredDocuments, totalDocuments, stale }: Covered): void {
  expect(coveredDocuments).toBeLessThanOrEqual(totalDocuments)
  if (coveredDocuments < totalDocuments) expect(stale).toBe(true)
}

async function coverageOf(kind: 'topics' | 'communities', which: (slug: string) => boolean = () => true) {
  const { items } = await ls(`/knowledge/${kind}`)
  const shown = items.filter(({ name, metadata }) => which(name) && metadata.named === false)
  return shown.map(({ metadata: { coveredDocuments, totalDocuments, stale } }) => ({
    coveredDocuments,
    totalDocuments,
    stale,
  }))
}

beforeAll(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Abstracts', slug: 'abstracts' })).id
}, 120_000)
afterAll(() => test.end())

describe('the coverage of topics and communities', { timeout: 180_000 }, () => {
  it('grows with the documents while they are published', async () => {
    const arriving = Promise.all([0, 1, 2].map((part) => ingest(test.engine, ADA, spaceId, abstracts(part * 60, 60))))
    let there = 0
    for (let call = 0; call < 3; call++) {
      await until(() => published() > Math.min(there, ALL - 1))
      const made = await topics()
      isSound(made)
      expect(made.documentCount).toBeLessThanOrEqual(made.totalDocuments)
      isSound(await communities())
      there = made.totalDocuments
    }
    await arriving
    expect(await topics()).toMatchObject({
      documentCount: ALL,
      coveredDocuments: ALL,
      totalDocuments: published(),
      stale: false,
    })
    expect(await communities()).toMatchObject({ coveredDocuments: ALL, totalDocuments: ALL, stale: false })
    expect(published()).toBe(ALL)
    expect((await ls('/knowledge/topics')).degradedReasons).toBeUndefined()
  })

  it('grows with the documents whose graph is built, within one publication', async () => {
    await change('DELETE FROM page_index')
    await test.reopen()
    for (const most of [40, 70, 105]) {
      await readAtMost(most)
      const made = await topics()
      expect(readable()).toBe(most)
      expect(made).toMatchObject({ documentCount: most, coveredDocuments: most, totalDocuments: ALL, stale: true })
      const told = { coveredDocuments: most, totalDocuments: ALL, stale: true }
      expect(await communities()).toMatchObject(told)
      for (const kind of ['topics', 'communities'] as const) {
        const shown = await coverageOf(kind)
        expect(shown.length).toBeGreaterThan(0)
        expect(shown).toEqual(shown.map(() => told))
        expect((await ls(`/knowledge/${kind}`)).degradedReasons).toEqual([
          `the ${kind} are built from ${most} of ${ALL} documents so far`,
        ])
      }
    }
  })

  it('mentions one document in the singular as a reason for degradation', () => {
    expect(describeUnread(1)).toBe('the graph of 1 document is still being built')
  })

  it('appears as a reason for degradation in lists of the graph while the graph is incomplete', async () => {
    const behind = ['the graph of 75 documents is still being built']
    const { entities, relations, traverse } = test.engine.graph
    const found = await entities(ADA, spaceId, { limit: 5, query: 'institute' })
    expect(found.degradedReasons).toEqual(behind)
    expect((await relations(ADA, spaceId, { limit: 5 })).degradedReasons).toEqual(behind)
    const from = { depth: 1, fanout: 5, maxNodes: 5, timeoutMs: 5000 }
    expect((await traverse(ADA, spaceId, { entityId: found.items[0]?.id ?? '', ...from })).degradedReasons).toEqual(
      behind,
    )
    expect((await ls('/knowledge/entities/organization')).degradedReasons).toEqual(behind)
    const grep = { path: '/knowledge/entities', q: 'Institute', limit: 5, timeoutMs: 5000 }
    expect((await test.engine.fs.grep(ADA, spaceId, grep)).degradedReasons).toEqual(behind)
    expect((await test.engine.spaces.stats(ADA, spaceId, { windowMinutes: 5 })).projections.graph.building).toBe(75)
    expect((await test.engine.spaces.status(ADA, spaceId)).index.summaries.graph.building).toBe(75)
  })

  it('triggers a new derivation of topics only if more documents can be covered', async () => {
    await change(`CREATE TABLE derived (kind TEXT);
      CREATE TRIGGER derives AFTER INSERT ON semantic_builds BEGIN INSERT INTO derived VALUES (NEW.kind); END;
      CREATE TRIGGER derives_again AFTER UPDATE OF built_at ON semantic_builds WHEN NEW.built_at > 0
        BEGIN INSERT INTO derived VALUES (NEW.kind); END;
      UPDATE semantic_builds SET built_at = 0`)
    const times = () => number("SELECT count(*) FROM derived WHERE kind = 'topic'")
    expect((await coverageOf('topics')).every(({ stale }) => stale === true)).toBe(true)
    // A call with its own parameters waits for a running derivation.
    await topics({ generatedVersion: 'one' })
    expect(times()).toBe(1)
    await change('DROP TRIGGER enough; UPDATE semantic_builds SET built_at = 0')
    await until(async () => {
      await change('UPDATE semantic_builds SET built_at = 0')
      return (await coverageOf('topics')).every(({ stale }) => stale === false)
    })
    expect(await coverageOf('topics')).toContainEqual({ coveredDocuments: ALL, totalDocuments: ALL, stale: false })
    expect(readable()).toBe(ALL)
    // The views of one derivation appear one after another: it may still be running.
    await topics({ generatedVersion: 'whole' })
    // Like a space with more documents than a view covers.
    await change('UPDATE semantic_builds SET built_at = 0, covered = 100; UPDATE semantic_views SET covered = 100')
    const before = times()
    expect((await coverageOf('topics'))[0]).toEqual({ coveredDocuments: 100, totalDocuments: ALL, stale: true })
    await topics({ generatedVersion: 'two' })
    expect(times()).toBe(before + 1)
    expect((await test.engine.graph.entities(ADA, spaceId, { limit: 5 })).degradedReasons).toBeUndefined()
  })

  it('counts every document, including those that a view does not list', async () => {
    const { documentCount, pathCount, topicSlug } = await topics()
    expect(documentCount).toBe(published())
    const { items } = await ls('/knowledge/topics')
    expect(items.reduce((sum, { metadata }) => sum + Number(metadata.documentCount), 0)).toBe(ALL)
    expect(pathCount).toBeLessThan(ALL)
    expect((await ls(`/knowledge/topics/${topicSlug}`)).items).toHaveLength(20)
    const named = await topics({ topicName: 'insulin resistance', topicSlug: 'insulin' })
    expect(named).toMatchObject({ documentCount: 36, pathCount: 21, coveredDocuments: ALL, stale: false })
    const made = await communities()
    const mentioning = number(
      `SELECT count(DISTINCT v.doc_key) FROM semantic_views s JOIN semantic_view_members m ON m.view_key = s.key
       JOIN graph_mentions g ON g.entity_key = m.member_key JOIN versions v ON v.key = g.version_key
       WHERE s.kind = 'community' AND m.kind = 'entity' AND m.place < 30`,
    )
    expect(made.documentCount).toBe(mentioning)
    expect(made.documentCount).toBeGreaterThan(100)
  })

  it('follows the deletion of documents', async () => {
    const { items } = await test.engine.documents.list(ADA, spaceId, { limit: 40 })
    const gone = items.map(({ id }) => id)
    await test.engine.documents.delete(ADA, spaceId, gone)
    for (const kind of ['topics', 'communities'] as const)
      for (const shown of await coverageOf(kind)) expect(shown).toMatchObject({ totalDocuments: 140 })
    const at = (await ls('/knowledge/topics')).items.find(({ name }) => name === 'insulin')
    expect(at?.metadata).toMatchObject({ coveredDocuments: 140, totalDocuments: 140 })
    const whole = { coveredDocuments: 140, totalDocuments: published(), stale: false }
    expect(await topics()).toMatchObject({ documentCount: 140, ...whole })
    expect(await communities()).toMatchObject(whole)
    expect((await ls('/knowledge/topics')).items.find(({ name }) => name === 'insulin')?.metadata).toMatchObject(whole)
  })

  it('counts only documents that every subject may read', async () => {
    const [, ...rest] = (await test.engine.documents.list(ADA, spaceId, { limit: 31 })).items
    await change("INSERT INTO source_readers (source_id, subject, space_key) SELECT 'vault', 'grace', key FROM spaces")
    await change(`UPDATE documents SET source_id = 'vault' WHERE id IN (${rest.map(({ id }) => `'${id}'`).join(', ')})`)
    await ingest(test.engine, ADA, spaceId, abstracts(ALL, 1))
    expect(await topics()).toMatchObject({
      documentCount: 111,
      coveredDocuments: 111,
      totalDocuments: 111,
      stale: false,
    })
    expect(await communities()).toMatchObject({ coveredDocuments: 111, totalDocuments: 111, stale: false })
  })

  it('shows in a named topic that the text index is incomplete, and the topic is rebuilt with the index', async ({
    skip,
  }) => {
    await test.engine.close()
    const indexes = join(test.dataDir, 'indexes')
    const [name = ''] = readdirSync(indexes).filter((one) => one.includes(spaceId))
    const at = join(indexes, name)
    rmSync(at, { recursive: true })
    mkdirSync(at)
    // Nothing can be written there, so nothing is rebuilt.
    const trouble = mountTmpfs(at, 'ro')
    await test.reopen()
    if (trouble !== undefined) skip(`no disk can be mounted here: ${trouble}`)
    onTestFinished(() => unmount(at))
    const made = await topics({ topicName: 'insulin resistance', topicSlug: 'insulin' })
    expect(made).toMatchObject({ documentCount: 0, coveredDocuments: 0, totalDocuments: 111, stale: true })
    const { degradedReasons } = await ls('/knowledge/topics/insulin')
    expect(degradedReasons).toEqual(['the topic is built from 0 of 111 documents so far'])
    const lacks = async () => (await test.engine.spaces.stats(ADA, spaceId, { windowMinutes: 5 })).projections.degraded
    expect((await lacks())?.join()).toContain('the text index is behind')
    unmount(at)
    const shown = async () => (await ls('/knowledge/topics')).items.find((item) => item.name === 'insulin')?.metadata
    await until(async () => {
      await change("UPDATE semantic_views SET created_at = 0 WHERE slug = 'insulin' AND covered < total")
      return (await shown())?.stale === false
    })
    expect(await shown()).toMatchObject({ coveredDocuments: 111, totalDocuments: 111 })
    await until(async () => (await lacks()) === undefined)
    const about = number(
      `SELECT count(*) FROM versions v JOIN documents d ON d.key = v.doc_key
       WHERE v.title LIKE 'insulin%' AND v.until_revision IS NULL AND d.source_id IS NULL`,
    )
    expect((await shown())?.documentCount).toBe(about)
    expect((await ls('/knowledge/topics/insulin')).items).toHaveLength(Math.min(about, 20))
  })
})
