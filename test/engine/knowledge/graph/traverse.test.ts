import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GraphEntity, TraverseQuery } from '../../../../src/contract/gateway/graph.js'
import type { Caller } from '../../../../src/engine/index.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Yard', slug: 'yard' })).id
})
afterEach(() => test.end())

const PLAN = `# Falcon plan

Project Falcon depends on the Data Retention Policy. Project Falcon is led by Maria Keller, the head of Northern Yard Ltd.
`
const POLICY = `# Archive rules

The Data Retention Policy supersedes the Paper Storage Rule. The Data Retention Policy was signed by Oskar Blum on 3 March 2024.
`

const WHOLE = { depth: 2, fanout: 20, maxNodes: 50, timeoutMs: 5000 }
const traverse = (entityId: string, changes: Partial<TraverseQuery> = {}, caller: Caller = ADA) =>
  test.engine.graph.traverse(caller, spaceId, { ...WHOLE, entityId, ...changes })
const entities = async (caller: Caller = ADA): Promise<GraphEntity[]> =>
  (await test.engine.graph.entities(caller, spaceId, { limit: 100 })).items
async function entity(name: string): Promise<GraphEntity> {
  const found = (await entities()).find((one) => one.name === name)
  if (found === undefined) throw new Error(`no entity ${name}`)
  return found
}

describe('a graph traversal', () => {
  beforeEach(() => ingest(test.engine, ADA, spaceId, { 'plan.md': PLAN, 'policy.md': POLICY }))

  it('follows relations across two documents, and reports its metrics', async () => {
    const falcon = await entity('Project Falcon')
    expect(falcon).toMatchObject({ type: 'term', canonicalKey: 'project falcon', permissionScope: [], depth: 0 })
    const found = await traverse(falcon.id)
    expect(found.entities[0]).toMatchObject({ id: falcon.id, depth: 0 })
    const depths = Object.fromEntries(found.entities.map(({ name, depth }) => [name, depth]))
    expect(depths).toMatchObject({ 'Data Retention Policy': 1, 'Paper Storage Rule': 2 })
    const told = found.relations.map(({ metadata, type }) => `${metadata.subject} ${type} ${metadata.object}`)
    expect(told).toContain('Project Falcon depends_on Data Retention Policy')
    expect(told).toContain('Data Retention Policy supersedes Paper Storage Rule')
    const ids = new Set(found.entities.map(({ id }) => id))
    for (const { subjectEntityId, objectEntityId } of found.relations)
      expect(ids.has(subjectEntityId) && ids.has(objectEntityId)).toBe(true)
    expect(found.truncated).toBe(false)
    expect(found.metrics).toMatchObject({ depthReached: 2, fanout: 20, maxDepth: 2, maxNodes: 50, timedOut: false })
    expect(found.metrics.exploredRelations).toBeGreaterThanOrEqual(found.relations.length)
  })

  it('respects the limits of depth, fanout and nodes, and reports truncation', async () => {
    const { id } = await entity('Project Falcon')
    const near = await traverse(id, { depth: 1 })
    expect(near.metrics.depthReached).toBe(1)
    expect(near.entities.every(({ depth }) => depth <= 1)).toBe(true)
    const narrow = await traverse(id, { fanout: 1 })
    expect(narrow).toMatchObject({ truncated: true })
    expect(narrow.relations.filter(({ depth }) => depth === 1)).toHaveLength(1)
    const few = await traverse(id, { maxNodes: 2 })
    expect(few.entities).toHaveLength(2)
    expect(few.truncated).toBe(true)
    expect((await traverse(id, { maxNodes: 1 })).entities.map((one) => one.id)).toEqual([id])
  })

  it('fails with not-found for entities of other tenants and other spaces, and for unknown ids', async () => {
    const { id } = await entity('Project Falcon')
    await expect(traverse(id, {}, BOB)).rejects.toMatchObject({ code: 'not-found' })
    const other = await test.engine.spaces.create(ADA, { name: 'Other', slug: 'other' })
    await expect(test.engine.graph.traverse(ADA, other.id, { ...WHOLE, entityId: id })).rejects.toMatchObject({
      code: 'not-found',
    })
    await expect(traverse(spaceId)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('omits entities that only a deleted document mentions', async () => {
    const falcon = await entity('Project Falcon')
    const { items } = await test.engine.documents.list(ADA, spaceId, { limit: 10 })
    const policy = items.find(({ filename }) => filename === 'policy.md')
    await test.engine.documents.delete(ADA, spaceId, [policy?.id ?? ''])
    const names = (await traverse(falcon.id)).entities.map(({ name }) => name)
    expect(names).toContain('Data Retention Policy')
    expect(names).not.toContain('Paper Storage Rule')
    expect((await entities()).map(({ name }) => name)).not.toContain('Oskar Blum')
  })

  it('starts from lists of entities by name and type, and of relations by entity, page by page', async () => {
    const all = await entities()
    const paged: GraphEntity[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await test.engine.graph.entities(ADA, spaceId, { limit: 3, cursor })
      paged.push(...page.items)
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    expect(paged).toEqual(all)
    const people = await test.engine.graph.entities(ADA, spaceId, { limit: 10, type: 'person', query: 'KELLER' })
    expect(people.items.map(({ name }) => name)).toEqual(['Maria Keller'])
    const { id } = await entity('Data Retention Policy')
    const { items } = await test.engine.graph.relations(ADA, spaceId, { limit: 100, entityId: id, type: 'supersedes' })
    expect(items).toMatchObject([{ subjectEntityId: id, metadata: { object: 'Paper Storage Rule' } }])
  })
})

describe('the permission scope of a source', () => {
  it('hides entities, relations, spellings and passages from readers without permission', async () => {
    const source = await test.engine.sources.create(ADA, spaceId, {
      name: 'Board',
      type: 'upload',
      uri: 'file:///board',
      permissionScope: ['ada'],
      metadata: {},
    })
    await ingest(test.engine, ADA, spaceId, { 'plan.md': PLAN })
    const upload = await test.engine.documents.upload(ADA, spaceId, { many: false })
    const { Readable } = await import('node:stream')
    const secret = 'PROJECT FALCON depends on the Secret Harbour Agreement. PROJECT FALCON is costly.'
    await upload.add({ filename: 'board.md', content: Readable.from([Buffer.from(secret)]) })
    const [accepted] = await upload.commit({ sourceId: source.id })
    await test.engine.documents.settled(ADA, spaceId, accepted)
    const falcon = await entity('Project Falcon')
    expect(falcon.aliases).toEqual(['PROJECT FALCON'])
    const carol = { tenant: ADA.tenant, subject: 'carol' }
    const hers = (await entities(carol)).find(({ id }) => id === falcon.id)
    expect(hers).toMatchObject({ name: 'Project Falcon', aliases: [] })
    expect(hers?.sourceNodeIds.length).toBeLessThan(falcon.sourceNodeIds.length)
    const agreement = await entity('Secret Harbour Agreement')
    expect(agreement.permissionScope).toEqual(['ada'])
    expect(JSON.stringify(await traverse(falcon.id))).toContain('Secret Harbour')
    expect(JSON.stringify(await traverse(falcon.id, {}, carol))).not.toMatch(/Secret Harbour|PROJECT/)
    await expect(traverse(agreement.id, {}, carol)).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('graph extraction on request', () => {
  it('reads the next passages at each request, and changes nothing for passages that were read already', async () => {
    await ingest(test.engine, ADA, spaceId, { 'plan.md': PLAN, 'policy.md': POLICY })
    const extract = (limit: number) => test.engine.graph.extract(ADA, spaceId, { limit })
    const first = await extract(1)
    expect(first).toMatchObject({
      knowledgeSpaceId: spaceId,
      extractionMode: 'provider',
      nodesScanned: 1,
      nodesUpdated: 1,
    })
    expect(first.entitiesExtracted).toBeGreaterThan(2)
    expect(first.graphEntitiesIndexed).toBe(first.entitiesExtracted)
    expect(first.graphRelationsIndexed).toBeGreaterThan(0)
    expect(await extract(1)).toMatchObject({ nodesScanned: 1, nodesUpdated: 1 })
    expect(await extract(100)).toMatchObject({ nodesScanned: 2, nodesUpdated: 0 })
    await expect(test.engine.graph.extract(BOB, spaceId, { limit: 1 })).rejects.toMatchObject({ code: 'not-found' })
    const none = await test.engine.spaces.create(ADA, { name: 'None', slug: 'none' })
    expect(await test.engine.graph.extract(ADA, none.id, { limit: 5 })).toMatchObject({ nodesScanned: 0 })
  })
})

describe('graph extraction by a model', () => {
  let server: FakeOpenAi
  afterEach(() => server.close())

  it('A84: accepts only entities and relations that match the schema and occur in the passage', async () => {
    const reply = {
      entities: [
        { name: 'quay crane', type: 'product' },
        { name: 'harbour office', type: 'organization' },
        { name: 'moon base', type: 'term' },
        { name: 'the tide', type: 'weather' },
      ],
      relations: [
        { subject: 'quay crane', type: 'depends_on', object: 'harbour office' },
        { subject: 'quay crane', type: 'eats', object: 'harbour office' },
      ],
    }
    server = await startFakeOpenAi({ answer: () => JSON.stringify(reply) })
    await test.end()
    const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: server.url }
    test = await startEngine({ providers: [provider] })
    spaceId = (await test.engine.spaces.create(ADA, { name: 'Yard', slug: 'yard' })).id
    const { revision: _, ...profile } = await test.engine.spaces.retrievalProfile(ADA, spaceId)
    await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
      ...profile,
      reasoningModel: { pluginId: 'openai-compatible', provider: 'fake', model: 'm' },
    })
    await ingest(test.engine, ADA, spaceId, {
      'quay.md': 'A quay crane is run by the harbour office of Northern Yard.',
    })
    await test.engine.graph.extract(ADA, spaceId, { limit: 10 })
    const names = (await entities()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['quay crane', 'harbour office', 'Northern Yard']))
    expect(names).not.toContain('moon base')
    expect(names).not.toContain('the tide')
    const { items } = await test.engine.graph.relations(ADA, spaceId, { limit: 100, type: 'depends_on' })
    expect(items.map(({ metadata }) => `${metadata.subject} > ${metadata.object}`)).toEqual([
      'quay crane > harbour office',
    ])
  })
})
