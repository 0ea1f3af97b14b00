import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GrepListing, VirtualItem, VirtualTree } from '../../../../src/contract/gateway/fs.js'
import { newId } from '../../../../src/lib/ids.js'
import { countTurnsDuring } from '../../../helpers/event-loop.js'
import { TestSpace } from './space.js'

let space: TestSpace
beforeEach(() => {
  space = new TestSpace()
})
afterEach(() => space.close())

function grep(path: string, q: string, more: object = {}) {
  return space.fs.grep(space.caller, space.id, { path, q, limit: 100, timeoutMs: 10_000, ...more })
}

async function grepPages(path: string, q: string, limit: number, timeoutMs = 10_000) {
  const matches: GrepListing['matches'] = []
  let cursor: string | undefined
  let pages = 0
  do {
    const page = await grep(path, q, { limit, cursor, timeoutMs })
    expect(page.matches.length).toBeLessThanOrEqual(limit)
    expect(page.truncated).toBe(page.nextCursor !== undefined)
    matches.push(...page.matches)
    cursor = page.nextCursor
    pages += 1
  } while (cursor !== undefined)
  return { matches, pages }
}

async function findAll(path: string, filter: object, limit = 100): Promise<VirtualItem[]> {
  const items: VirtualItem[] = []
  let cursor: string | undefined
  do {
    const page = await space.fs.find(space.caller, space.id, { path, limit, cursor, ...filter })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

const GUIDE = {
  filename: 'docs/guide.md',
  sections: [
    [[], 'The fox begins.'],
    [['Animals'], 'A quick fox, a slow Fox.'],
    [['Animals', 'Dogs'], 'No match here, only hounds.'],
  ] as [string[], string][],
}

describe('grep in the virtual file system', () => {
  it('finds passages under /knowledge, with their offsets in the document', async () => {
    const { id, nodeIds } = await space.add(GUIDE)
    const { matches, truncated } = await grep('/knowledge', 'fox')
    expect(truncated).toBe(false)
    expect(matches.map(({ path, startOffset, endOffset }) => [path, startOffset, endOffset])).toEqual([
      ['/knowledge/documents/guide.md/0001', 4, 7],
      ['/knowledge/documents/guide.md/Animals/0002', 34, 37],
      ['/knowledge/documents/guide.md/Animals/0002', 46, 49],
    ])
    expect(matches[1]).toMatchObject({
      kind: 'node',
      nodeId: nodeIds[1],
      metadata: { documentId: id, sectionPath: ['Animals'] },
    })
    expect(matches[1]?.snippet).toBe('A quick fox, a slow Fox.')
    expect((await grep('/knowledge', 'Fox')).matches).toHaveLength(1)
    expect((await grep('/knowledge/documents/guide.md/Animals', 'fox')).matches).toHaveLength(2)
    expect((await grep('/knowledge/documents/guide.md/Animals/Dogs', 'fox')).matches).toHaveLength(0)
    expect((await grep('/knowledge/documents/guide.md/0001', 'fox')).matches).toHaveLength(1)
  })

  it('finds matches in documents under /sources, with the ids of their elements', async () => {
    const { id } = await space.add(GUIDE)
    const { matches } = await grep('/sources', 're:(slow|only) \\w+')
    expect(matches).toMatchObject([
      {
        kind: 'segment',
        path: '/sources/uploads/docs/guide.md',
        startOffset: 41,
        endOffset: 49,
        segmentId: `${id}:e3`,
      },
      { kind: 'segment', metadata: { sectionPath: ['Animals', 'Dogs'] }, segmentId: `${id}:e5` },
    ])
    const { content } = await space.fs.cat(space.caller, space.id, { path: matches[0]!.path, offset: 41, maxBytes: 8 })
    expect(content).toBe('slow Fox')
    expect((await grep('/sources/uploads/docs/guide.md', 'hounds')).matches).toHaveLength(1)
    expect((await grep('/sources/uploads/docs', 'hounds')).matches).toHaveLength(1)
  })

  it('finds matches only in the evidence of the caller, with their offsets in the document', async () => {
    const { nodeIds } = await space.add(GUIDE)
    const trace = space.addTrace(nodeIds, {}, ['a fox', 'none', 'fox fox'])
    const { matches } = await grep('/evidence', 'fox')
    expect(matches.map(({ path, startOffset }) => [path, startOffset])).toEqual([
      [`/evidence/${trace}/${nodeIds[0]}`, 102],
      [`/evidence/${trace}/${nodeIds[2]}`, 100],
      [`/evidence/${trace}/${nodeIds[2]}`, 104],
    ])
    expect((await grepPages('/evidence', 'fox', 1)).matches).toEqual(matches)
    expect((await grep('/workspaces', 'fox')).matches).toEqual([])
  })

  it.each(['/knowledge', '/sources', '/sources/uploads'])(
    'returns each match in %s once, for any page size',
    async (path) => {
      for (let index = 0; index < 12; index++)
        await space.add({
          filename: `${index % 3}/${'字'.repeat(index * 12)}${index % 5}.md`,
          sections: [
            [['A'], 'fox '.repeat(index % 4)],
            [['B'], 'a fox and a fox'],
          ],
          ...(index % 2 === 0 ? {} : { sourceId: newId() }),
        })
      const whole = await grepPages(path, 'fox', 1000)
      expect(whole.matches.length).toBeGreaterThan(10)
      for (const limit of [1, 2, 3, 7]) expect((await grepPages(path, 'fox', limit)).matches).toEqual(whole.matches)
    },
  )

  it('stops at the timeout with the matches so far, and continues from there at the next page', async () => {
    for (let index = 0; index < 4; index++)
      await space.add({ filename: `${index}.txt`, text: `${'some words without end '.repeat(6_000)}needle${index}` })
    const first = await grep('/sources', 're:([a-z]+ )*needle\\d', { timeoutMs: 20 })
    expect(first).toMatchObject({ truncated: true, nextCursor: expect.any(String) })
    const { matches, pages } = await grepPages('/sources', 're:needle\\d', 10, 1)
    expect(pages).toBeGreaterThan(1)
    expect(matches.map(({ snippet }) => snippet.slice(-7))).toEqual(['needle0', 'needle1', 'needle2', 'needle3'])
  })

  it('yields to other work while it searches', async () => {
    for (let index = 0; index < 10; index++)
      await space.add({ filename: `${index}.txt`, text: 'some words without end '.repeat(20_000) })
    const turns = await countTurnsDuring(() => grep('/sources', 're:(word|end)s? [xyz]', { timeoutMs: 1000 }))
    expect(turns).toBeGreaterThan(5)
  })

  it('rejects an invalid regular expression', async () => {
    await expect(grep('/sources', 're:(')).rejects.toMatchObject({ code: 'invalid-request' })
  })
})

describe('find in the virtual file system', () => {
  beforeEach(async () => {
    await space.add({ ...GUIDE, metadata: { language: 'en', tags: ['x', 'y'] } })
    await space.add({ filename: 'docs/api/Guide-2.md', metadata: { language: 'de' } })
    await space.add({ filename: 'notes.txt', sourceId: '0198c0de-0000-7000-8000-000000000001' })
  })

  it('finds every entry below a path', async () => {
    expect((await findAll('/sources', {})).map(({ path }) => path)).toEqual([
      '/sources/0198c0de-0000-7000-8000-000000000001',
      '/sources/0198c0de-0000-7000-8000-000000000001/notes.txt',
      '/sources/uploads',
      '/sources/uploads/docs',
      '/sources/uploads/docs/guide.md',
      '/sources/uploads/docs/api',
      '/sources/uploads/docs/api/Guide-2.md',
    ])
    expect((await findAll('/knowledge', {})).map(({ path }) => path)).toEqual([
      '/knowledge/documents',
      '/knowledge/documents/Guide-2.md',
      '/knowledge/documents/Guide-2.md/0001',
      '/knowledge/documents/guide.md',
      '/knowledge/documents/guide.md/Animals',
      '/knowledge/documents/guide.md/Animals/Dogs',
      '/knowledge/documents/guide.md/Animals/Dogs/0003',
      '/knowledge/documents/guide.md/Animals/0002',
      '/knowledge/documents/guide.md/0001',
      '/knowledge/documents/notes.txt',
      '/knowledge/documents/notes.txt/0001',
      '/knowledge/communities',
      '/knowledge/entities',
      ...['date', 'metric', 'organization', 'person', 'policy', 'product', 'term'].map(
        (type) => `/knowledge/entities/${type}`,
      ),
      '/knowledge/topics',
    ])
  })

  it('filters by name, metadata and resource type', async () => {
    const found = async (filter: object, path = '/sources') => (await findAll(path, filter)).map(({ name }) => name)
    expect(await found({ nameContains: 'GUIDE' })).toEqual(['guide.md', 'Guide-2.md'])
    expect(await found({ metadataKey: 'language' })).toEqual(['guide.md', 'Guide-2.md'])
    expect(await found({ metadataKey: 'language', metadataValue: 'de' })).toEqual(['Guide-2.md'])
    expect(await found({ metadataKey: 'tags', metadataValue: 'y' })).toEqual(['guide.md'])
    expect(await found({ metadataKey: 'filename', metadataValue: 'notes.txt' })).toEqual(['notes.txt'])
    expect(await found({ metadataValue: 'en' })).toEqual(['guide.md'])
    expect(await found({ metadataKey: 'toString' })).toEqual([])
    expect(await found({ resourceType: 'source', nameContains: 'd' })).toEqual([
      '0198c0de-0000-7000-8000-000000000001',
      'uploads',
      'docs',
    ])
    expect(await found({ resourceType: 'document' }, '/knowledge')).toEqual(['Guide-2.md', 'guide.md', 'notes.txt'])
    expect(await found({ resourceType: 'node' }, '/knowledge')).toEqual(['0001', '0003', '0002', '0001', '0001'])
    expect(await found({ resourceType: 'node' }, '/sources')).toEqual([])
    expect(await found({ nameContains: 'guide' }, '/sources/uploads/docs/guide.md')).toEqual(['guide.md'])
    expect(await found({ nameContains: 'api' }, '/sources/uploads/docs/guide.md')).toEqual([])
  })

  it('returns each entry once, for any page size', async () => {
    const { nodeIds } = await space.add({
      filename: 'a/b/c/d.md',
      sections: [
        [['One'], 'x'],
        [['One', 'Two'], 'y'],
      ],
    })
    space.addTrace(nodeIds)
    space.addTrace(nodeIds.slice(1))
    for (const path of ['/sources', '/sources/uploads', '/knowledge', '/knowledge/documents/guide.md', '/evidence'])
      for (const filter of [{}, { nameContains: 'd' }]) {
        const whole = await findAll(path, filter)
        for (const limit of [1, 2, 3]) expect(await findAll(path, filter, limit)).toEqual(whole)
      }
  })
})

describe('tree in the virtual file system', () => {
  const shape = (tree: VirtualTree): unknown => {
    const name = tree.truncated === true ? `${tree.name} …` : tree.name
    return tree.children === undefined ? name : { [name]: tree.children.map(shape) }
  }
  const treeOf = (path: string, more: object = {}) =>
    space.fs.tree(space.caller, space.id, { path, limit: 100, ...more })

  beforeEach(async () => {
    for (const filename of ['a/b/c/d.md', 'a/x.md', 'a/y.md', 'top.md', 'z/q.md']) await space.add({ filename })
  })

  it('shows the levels down to the requested depth', async () => {
    const { root, truncated } = await treeOf('/sources/uploads')
    expect(shape(root)).toEqual({
      uploads: [{ a: [{ b: ['c'] }, 'x.md', 'y.md'] }, { z: ['q.md'] }, 'top.md'],
    })
    expect(truncated).toBe(false)
    expect(shape((await treeOf('/sources/uploads', { depth: 1 })).root)).toEqual({ uploads: ['a', 'z', 'top.md'] })
    expect(shape((await treeOf('/sources/uploads/top.md')).root)).toBe('top.md')
  })

  it('stops at the limit, and marks truncated directories', async () => {
    const cut = await treeOf('/sources/uploads', { limit: 5 })
    expect(shape(cut.root)).toEqual({
      uploads: [{ 'a …': ['b', 'x.md'] }, { 'z …': [] }, 'top.md'].map((entry, index) =>
        index === 0 ? { 'a …': [{ 'b …': [] }, 'x.md'] } : entry,
      ),
    })
    expect(cut).toMatchObject({ truncated: true })
    expect(cut).not.toHaveProperty('nextCursor')
  })

  it('pages through the entries of its root directory', async () => {
    const names: string[] = []
    let cursor: string | undefined
    do {
      const page = await treeOf('/sources/uploads', { limit: 1, cursor })
      names.push(...(page.root.children ?? []).map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(names).toEqual(['a', 'z', 'top.md'])
  })

  it('shows the folders of /knowledge, /sources and /workspaces', async () => {
    expect(shape((await treeOf('/knowledge', { depth: 8 })).root)).toMatchObject({
      knowledge: [
        { communities: [] },
        { documents: expect.any(Array) },
        { entities: expect.any(Array) },
        { topics: [] },
      ],
    })
    expect(shape((await treeOf('/sources')).root)).toMatchObject({ sources: [{ uploads: expect.any(Array) }] })
    expect(shape((await treeOf('/workspaces')).root)).toEqual({ workspaces: [] })
  })
})
