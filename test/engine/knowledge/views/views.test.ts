import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findGroups } from '../../../../src/engine/knowledge/views/cluster.js'
import { findCommunities } from '../../../../src/engine/knowledge/views/communities.kernel.js'
import { findFreeSlug, toSlug } from '../../../../src/engine/knowledge/views/slug.js'
import { findSpellings, findTopics } from '../../../../src/engine/knowledge/views/topics.kernel.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const TIDES = (i: number) =>
  `# Tides ${i}\n\nThe moon pulls the sea, and the tide rises in harbour ${i}. Spring tide and neap tide follow the moon. The Harbour Office of Brest measures every tide.\n`
const BREAD = (i: number) =>
  `# Bread ${i}\n\nSourdough bread needs flour, water and salt. The baker kneads dough number ${i} and bakes the loaf in a hot oven. The Bakers Guild of Lyon buys the flour.\n`

describe('the grouping of documents and entities', () => {
  it('finds connected members, regardless of the order of the input', () => {
    const links = [
      [1, 2],
      [2, 3],
      [1, 3],
      [3, 4],
      [4, 5],
      [5, 6],
      [4, 6],
    ].map(([from = 0, to = 0]) => ({ from, to, weight: from === 3 ? 0.1 : 1 }))
    expect(findGroups(links)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
    expect(findGroups([...links].reverse())).toEqual(findGroups(links))
    expect(findGroups([])).toEqual([])
    expect(findCommunities(links).map(({ members }) => members.map(({ key }) => key).sort())).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
  })

  it('assigns each of 3,000 documents that resemble each other to one of few topics', () => {
    const documents = Array.from({ length: 3000 }, (_, key) => ({
      key,
      terms: Int32Array.from({ length: 200 }, (_unused, term) =>
        term < 100 ? term : 1000 + ((key * 7 + term) % 5000),
      ),
      counts: new Uint16Array(200).fill(2),
    }))
    const topics = findTopics(documents)
    expect(topics.length).toBeLessThanOrEqual(49)
    expect(new Set(topics.flatMap(({ members }) => members.map(({ key }) => key))).size).toBe(3000)
  })

  it('turns names into unique slugs', () => {
    const [topic] = findTopics([{ key: 1, terms: Int32Array.of(1), counts: Uint16Array.of(1) }])
    expect(topic?.members).toEqual([{ key: 1, score: 1 }])
    expect(findSpellings([], ['Tides rise'])).toEqual([])
    expect(toSlug('Tides, moon & sea', 'topic')).toBe('tides-moon-sea')
    expect(toSlug('税务', 'topic')).toMatch(/^topic-[0-9a-f]{8}$/)
    expect(toSlug('x'.repeat(200), 'topic')).toHaveLength(120)
    expect(findFreeSlug('a', new Set(['a', 'a-2']))).toBe('a-3')
  })
})

describe('the views in /knowledge', () => {
  let test: TestEngine
  let spaceId: string
  const ls = (path: string, limit = 100, cursor?: string) => test.engine.fs.ls(ADA, spaceId, { path, limit, cursor })
  const names = async (path: string) => (await ls(path)).items.map(({ name }) => name)
  const topic = (body: { topicName?: string; topicSlug?: string; generatedVersion?: string; limit?: number } = {}) =>
    test.engine.graph.materializeTopic(ADA, spaceId, { limit: 50, ...body })

  beforeAll(async () => {
    test = await startEngine()
    spaceId = (await test.engine.spaces.create(ADA, { name: 'Mixed', slug: 'mixed' })).id
    const files: Record<string, string> = {}
    for (let i = 1; i <= 5; i++) {
      files[`tides-${i}.md`] = TIDES(i)
      files[`bread-${i}.md`] = BREAD(i)
    }
    await ingest(test.engine, ADA, spaceId, files)
  })
  afterAll(() => test.end())

  it('exist at their first listing: topics group similar documents and are named by their terms', async () => {
    const { items } = await ls('/knowledge/topics')
    expect(items).toHaveLength(2)
    const all = await Promise.all(items.map(({ path }) => names(path)))
    expect(all.map((list) => list.length)).toEqual([5, 5])
    for (const list of all) expect(new Set(list.map((name) => name.replace(/-\d\.md$/, ''))).size).toBe(1)
    const tides = items.find(({ name }) => name.includes('tide'))
    expect(tides?.metadata).toMatchObject({ named: false, stale: false })
    expect(tides?.metadata.generatedVersion).toMatch(/^publication-\d+$/)
  })

  it('include topics that are built on request, with a response that counts documents and paths', async () => {
    const made = await topic({ generatedVersion: 'spring', limit: 2 })
    expect(made).toMatchObject({
      knowledgeSpaceId: spaceId,
      generatedVersion: 'spring',
      documentCount: 10,
      pathCount: 6,
    })
    expect(await names(`/knowledge/topics/${made.topicSlug}`)).toHaveLength(2)
    const again = await topic()
    expect(again).toMatchObject({ topicSlug: made.topicSlug, documentCount: 10, pathCount: 12 })
  })

  it('include a topic with a given name, of the documents that match the name', async () => {
    const made = await topic({ topicName: 'Sourdough and flour', topicSlug: 'baking', limit: 3 })
    expect(made).toMatchObject({
      topicName: 'Sourdough and flour',
      topicSlug: 'baking',
      documentCount: 5,
      pathCount: 4,
    })
    const listed = await names('/knowledge/topics/baking')
    expect(listed).toHaveLength(3)
    expect(listed.every((name) => name.startsWith('bread-'))).toBe(true)
    expect((await topic({ topicSlug: 'baking' })).topicName).toBe('Sourdough and flour')
    expect((await topic({ topicSlug: 'spring-tide' })).topicName).toBe('spring tide')
    await topic()
    expect(await names('/knowledge/topics')).toEqual(expect.arrayContaining(['baking', 'spring-tide']))
  })

  it('can be read, searched and found like folders of files', async () => {
    const [first] = (await ls('/knowledge/topics/baking')).items
    const text = await test.engine.fs.cat(ADA, spaceId, { path: first?.path ?? '', offset: 0, maxBytes: 1000 })
    expect(text.content).toContain('Sourdough')
    const grep = await test.engine.fs.grep(ADA, spaceId, {
      path: '/knowledge/topics/baking',
      q: 'kneads',
      limit: 10,
      timeoutMs: 5000,
    })
    expect(grep.matches).toHaveLength(5)
    expect(grep.matches[0]?.path).toMatch(/^\/knowledge\/topics\/baking\/bread-/)
    const tree = await test.engine.fs.tree(ADA, spaceId, { path: '/knowledge', limit: 500, depth: 3 })
    expect(tree.root.children?.map(({ name }) => name)).toEqual(['communities', 'documents', 'entities', 'topics'])
    // Pages of a walk hardly wait for views under construction; a request for a view waits.
    await ls('/knowledge/communities')
    const paths: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await test.engine.fs.find(ADA, spaceId, { path: '/knowledge', limit: 7, cursor })
      paths.push(...page.items.map(({ path }) => path))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    const whole = await test.engine.fs.find(ADA, spaceId, { path: '/knowledge', limit: 1000 })
    expect(paths).toEqual(whole.items.map(({ path }) => path))
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toContain(first?.path)
    await expect(ls('/knowledge/topics/none')).rejects.toMatchObject({ code: 'not-found' })
    await expect(ls('/knowledge/moons')).rejects.toMatchObject({ code: 'not-found' })
    await expect(test.engine.fs.ls(BOB, spaceId, { path: '/knowledge/topics', limit: 1 })).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('include communities of related entities, with their documents', async () => {
    const made = await test.engine.graph.materializeCommunities(ADA, spaceId, { generatedVersion: 'first' })
    expect(made).toMatchObject({ knowledgeSpaceId: spaceId, generatedVersion: 'first', documentCount: 10 })
    expect(made.communityCount).toBeGreaterThan(0)
    const { items } = await ls('/knowledge/communities')
    expect(items).toHaveLength(made.communityCount)
    const entities = (await Promise.all(items.map(({ path }) => names(`${path}/entities`)))).flat()
    expect(entities).toHaveLength(made.entityCount)
    expect(entities).toEqual(expect.arrayContaining(['harbour office of brest', 'bakers guild of lyon']))
    const documents = (await Promise.all(items.map(({ path }) => names(`${path}/documents`)))).flat()
    expect(made.pathCount).toBe(4 * items.length + entities.length + documents.length)
    expect((await test.engine.graph.materializeCommunities(ADA, spaceId, {})).communityCount).toBe(made.communityCount)
  })

  it('include entities by type and key, page by page, with their properties', async () => {
    const office = '/knowledge/entities/organization/bakers guild of lyon'
    const term = '/knowledge/entities/term'
    const found = await test.engine.fs.find(ADA, spaceId, {
      path: '/knowledge/entities',
      limit: 100,
      nameContains: 'guild',
    })
    expect(found.items).toHaveLength(1)
    const path = found.items[0]?.path ?? office
    const { content } = await test.engine.fs.cat(ADA, spaceId, { path, offset: 0, maxBytes: 4000 })
    expect(content).toMatch(/^(?:The )?Bakers Guild of Lyon\n/)
    expect(content).toContain('bread-1.md')
    const first = await ls(term, 2)
    const second = await ls(term, 2, first.nextCursor)
    expect([...first.items, ...second.items]).toEqual((await ls(term, 4)).items)
    const grep = await test.engine.fs.grep(ADA, spaceId, {
      path: '/knowledge/entities',
      q: 'Bakers Guild',
      limit: 100,
      timeoutMs: 5000,
    })
    expect(grep.matches.map((match) => match.path)).toContain(path)
  })

  it('omit a deleted document immediately, become stale with a new one, and are rebuilt on request', async () => {
    const { items } = await test.engine.documents.list(ADA, spaceId, { limit: 20 })
    const bread = items.filter(({ filename }) => filename.startsWith('bread-')).map(({ id }) => id)
    await test.engine.documents.delete(ADA, spaceId, bread)
    expect(await names('/knowledge/topics/baking')).toEqual([])
    const derived = (await ls('/knowledge/topics')).items.filter(({ metadata }) => metadata.named === false)
    expect(derived.length).toBeGreaterThan(0)
    expect(JSON.stringify(derived)).not.toMatch(/bread|flour|sourdough/i)
    await ingest(test.engine, ADA, spaceId, { 'tides-6.md': TIDES(6) })
    expect((await ls('/knowledge/topics')).items[0]?.metadata).toMatchObject({ stale: true })
    const made = await topic()
    expect(made).toMatchObject({ documentCount: 6 })
    expect(made.topicSlug).toContain('tide')
    await until(async () => (await names('/knowledge/entities/term')).every((name) => !name.includes('bread')))
  })

  it('stay stale until the graph of every published document is built', async () => {
    const stale = async (kind: string) =>
      (await ls(`/knowledge/${kind}`)).items
        .filter(({ metadata }) => metadata.named === false)
        .map((v) => v.metadata.stale)
    await rowsOf(test.dataDir).run(
      "CREATE TRIGGER unreadable BEFORE INSERT ON page_index BEGIN SELECT RAISE(ABORT, 'not now'); END",
    )
    await ingest(test.engine, ADA, spaceId, { 'tides-7.md': TIDES(7) })
    expect(await topic()).toMatchObject({ documentCount: 6 })
    await test.engine.graph.materializeCommunities(ADA, spaceId, {})
    expect(new Set(await stale('topics'))).toEqual(new Set([true]))
    expect(new Set(await stale('communities'))).toEqual(new Set([true]))
    await rowsOf(test.dataDir).run('DROP TRIGGER unreadable')
    expect(await topic()).toMatchObject({ documentCount: 7 })
    await test.engine.graph.materializeCommunities(ADA, spaceId, {})
    expect(new Set(await stale('topics'))).toEqual(new Set([false]))
    expect(new Set(await stale('communities'))).toEqual(new Set([false]))
  })

  it('disappear with their space', async () => {
    await test.engine.spaces.delete(ADA, spaceId)
    await expect(topic()).rejects.toMatchObject({ code: 'not-found' })
  })
})
