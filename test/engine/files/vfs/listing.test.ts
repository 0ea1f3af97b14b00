import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VirtualItem } from '../../../../src/contract/gateway/fs.js'
import { compareNames } from '../../../../src/engine/base/virtual-paths.js'
import { sql } from '../../../../src/engine/store/program.js'
import { newId } from '../../../../src/lib/ids.js'
import { TestSpace } from './space.js'

let space: TestSpace
beforeEach(() => {
  space = new TestSpace()
})
afterEach(() => space.close())

/** All pages of a listing. */
async function all(path: string, limit: number, options: { consistencyClass?: 'snapshot-consistent' } = {}) {
  const items: VirtualItem[] = []
  let cursor: string | undefined
  do {
    const page = await space.fs.ls(space.caller, space.id, { path, limit, cursor, ...options })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    expect(page.truncated).toBe(page.nextCursor !== undefined)
    if (page.nextCursor !== undefined) expect(page.nextCursor.length).toBeLessThanOrEqual(1024)
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

async function names(path: string): Promise<string[]> {
  return (await all(path, 1000)).map(({ kind, name }) => (kind === 'directory' ? `${name}/` : name))
}

function ls(path: string, more: object = {}) {
  return space.fs.ls(space.caller, space.id, { path, limit: 100, ...more })
}

describe('the folder of a source below /sources', () => {
  const source = (name: string, scope: string[] = []) => {
    const id = newId()
    space.db.now(
      sql.run(
        `INSERT INTO sources (id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at,
         updated_at) VALUES (?, 'acme', ?, ?, 'upload', 'u', 'active', ?, '{}', 1, 0, 0)`,
        [id, space.key, name, JSON.stringify(scope)],
      ),
    )
    return id
  }

  it('shows the name of the source, which works in paths like the id of the source', async () => {
    const [empty, hidden, id, later] = [source('Wiki'), source('Wiki', ['bob']), source('Wiki'), source('Wiki')]
    for (const [place, sourceId] of [hidden, id, later].entries())
      await space.add({ filename: `g/${place}.md`, sourceId })
    const [first, second] = (await ls('/sources')).items
    expect(first).toMatchObject({ name: id, targetId: id, metadata: { name: 'Wiki', type: 'upload' } })
    expect(second).toMatchObject({ name: later, metadata: { name: 'Wiki' } })
    expect((await ls('/sources/Wiki')).items.map(({ path }) => path)).toEqual([`/sources/${id}/g`])
    expect((await ls('/sources/Wiki/g')).items.map(({ path }) => path)).toEqual([`/sources/${id}/g/1.md`])
    expect(await names('/sources/Wiki')).toEqual(await names(`/sources/${id}`))
    for (const path of ['/sources/wiki', '/sources/Wik', `/sources/${empty}`, `/sources/${hidden}`])
      await expect(ls(path), path).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('the namespaces of the virtual file system', () => {
  it('exist in an empty space', async () => {
    expect(await names('/sources')).toEqual(['uploads/'])
    expect(await names('/sources/uploads')).toEqual([])
    expect(await names('/knowledge')).toEqual(['communities/', 'documents/', 'entities/', 'topics/'])
    expect(await names('/knowledge/documents')).toEqual([])
    expect(await names('/evidence')).toEqual([])
    expect(await names('/workspaces')).toEqual([])
  })

  it.each([
    '/sources/uploads/x',
    '/sources/x',
    `/sources/${newId()}`,
    '/knowledge/x',
    '/knowledge/documents/x',
    '/workspaces/x',
  ])('fail with not-found for the unknown path %s', async (path) => {
    await expect(ls(path)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('fail with not-found for other tenants', async () => {
    await expect(
      space.fs.ls({ tenant: 'other', subject: 'ada' }, space.id, { path: '/sources', limit: 1 }),
    ).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('the folder /sources', () => {
  it('lists folders first, then files, both sorted by code point', async () => {
    for (const filename of ['b.md', 'a/x.md', 'a-b/x.md', 'a.md', 'a/b/c/deep.md', 'Z/y.md', 'é/x.md', 'a b/x'])
      await space.add({ filename })
    expect(await names('/sources/uploads')).toEqual(['Z/', 'a/', 'a b/', 'a-b/', 'é/', 'a.md', 'b.md'])
    expect(await names('/sources/uploads/a')).toEqual(['b/', 'x.md'])
    expect(await names('/sources/uploads/a/b')).toEqual(['c/'])
  })

  it('describes a document by its name, type, id, version and metadata', async () => {
    const { id } = await space.add({
      filename: 'a/report.md',
      mimeType: 'text/markdown',
      metadata: { title: 'Report' },
    })
    const [item] = (await ls('/sources/uploads/a')).items
    expect(item).toMatchObject({
      kind: 'resource',
      name: 'report.md',
      path: '/sources/uploads/a/report.md',
      resourceType: 'document',
      targetId: id,
      version: 1,
      metadata: { title: 'Report', filename: 'a/report.md', mimeType: 'text/markdown', sizeBytes: 7 },
    })
    expect((await ls('/sources/uploads/a/report.md')).items).toEqual([item])
  })

  it('contains a separate folder for each source with content', async () => {
    const [first, second] = [newId(), newId()]
    await space.add({ filename: 'a.md', sourceId: second })
    await space.add({ filename: 'x/b.md', sourceId: first })
    await space.add({ filename: 'c.md', sourceId: newId(), state: 'pending' })
    await space.add({ filename: 'up.md' })
    expect(await names('/sources')).toEqual([`${first}/`, `${second}/`, 'uploads/'])
    expect(await names(`/sources/${second}`)).toEqual(['a.md'])
    expect(await names(`/sources/${first}`)).toEqual(['x/'])
    expect(await names('/sources/uploads')).toEqual(['up.md'])
    expect((await all('/sources', 1)).map(({ name }) => name)).toEqual([first, second, 'uploads'])
    expect((await ls(`/sources/${first}/x`)).items[0]).toMatchObject({ path: `/sources/${first}/x/b.md` })
  })

  it('gives documents of the same name suffixes, and finds each document by its name with the suffix', async () => {
    const older = await space.add({ filename: 'a', id: '0198c0de-0000-7000-8000-000000000001' })
    const younger = await space.add({ filename: 'a', id: '0198c0df-0000-7000-8000-000000000002' })
    const twin = await space.add({ filename: 'a', id: '0198c0df-0000-7000-8000-000000000003' })
    expect(await names('/sources/uploads')).toEqual(['a', 'a~0198c0df', `a~${twin.id}`])
    for (const [name, { id }] of [
      ['a', older],
      ['a~0198c0df', younger],
      [`a~${twin.id}`, twin],
      [`a~${older.id}`, older],
    ] as const)
      expect((await ls(`/sources/uploads/${name}`)).items).toMatchObject([{ targetId: id }])
    await space.add({ filename: 'a/inside.md' })
    expect(await names('/sources/uploads')).toEqual(['a/', 'a~0198c0de', 'a~0198c0df', `a~${twin.id}`])
    expect(await names('/sources/uploads/a')).toEqual(['inside.md'])
  })

  it('distinguishes documents of one upload that share a name with a folder by suffixes', async () => {
    const older = await space.add({ filename: 'a', id: '0198c0de-0000-7000-8000-000000000001' })
    const younger = await space.add({ filename: 'a', id: '0198c0de-0000-7000-8000-000000000002' })
    await space.add({ filename: 'a/inside.md' })
    expect(await names('/sources/uploads')).toEqual(['a/', 'a~0198c0de', `a~${younger.id}`])
    expect((await ls('/sources/uploads/a~0198c0de')).items).toMatchObject([{ targetId: older.id }])
    expect((await ls(`/sources/uploads/a~${younger.id}`)).items).toMatchObject([{ targetId: younger.id }])
  })

  it('finds a document whose real name looks like a name with a suffix', async () => {
    await space.add({ filename: 'x' })
    const { id } = await space.add({ filename: 'x~0198c0de' })
    expect((await ls('/sources/uploads/x~0198c0de')).items).toMatchObject([{ targetId: id }])
  })

  it('lists each entry once, in order, for any page size', async () => {
    const part = fc
      .string({
        unit: fc.constantFrom('a', 'b', '-', '.', ' ', 'é', '\u{1f600}', '\uff5e', '~'),
        minLength: 1,
        maxLength: 3,
      })
      .filter((text) => !['.', '..'].includes(text))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(part, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        async (paths, limit) => {
          space.db.now(sql.run('DELETE FROM documents'))
          const revision = space.publish()
          for (const parts of paths) {
            const filename = parts.join('/').normalize('NFC')
            const { key } = await space.add({ filename, state: 'pending' })
            await space.addVersion(key, { filename }, 1, revision)
          }
          const whole = await all('/sources/uploads', 1000)
          expect(await all('/sources/uploads', limit)).toEqual(whole)
          expect(new Set(whole.map(({ path }) => path)).size).toBe(whole.length)
          const folders = whole.filter(({ kind }) => kind === 'directory').map(({ name }) => name)
          const expected = paths.filter(({ length }) => length > 1).map(([first]) => first!.normalize('NFC'))
          expect(folders).toEqual([...new Set(expected)].sort(compareNames))
          expect(whole.slice(0, folders.length).every(({ kind }) => kind === 'directory')).toBe(true)
          expect(whole.length - folders.length).toBe(paths.filter(({ length }) => length === 1).length)
          const files = whole.slice(folders.length).map(({ metadata }) => String(metadata.filename))
          expect(files).toEqual([...files].sort(compareNames))
          for (const { path, targetId, kind } of whole)
            if (kind === 'resource') expect((await ls(path)).items[0]?.targetId).toBe(targetId)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('continues a listing after names too long for a cursor, and after deletion of the last listed entry', async () => {
    const long = (letter: string): string => '字'.repeat(200) + letter
    for (const letter of ['a', 'b', 'c']) {
      await space.add({ filename: long(letter) })
      await space.add({ filename: `${long(letter)}/x` })
    }
    expect(await all('/sources/uploads', 1)).toEqual(await all('/sources/uploads', 100))
    const { key } = await space.add({ filename: 'aa' })
    await space.add({ filename: 'bb' })
    const page = await ls('/sources/uploads', { limit: 4 })
    expect(page.items[3]?.name).toBe('aa')
    space.db.now(sql.run('DELETE FROM documents WHERE key = ?', [key]))
    expect((await ls('/sources/uploads', { limit: 4, cursor: page.nextCursor })).items[0]?.name).toBe('bb')
  })
})

describe('the folder /knowledge', () => {
  it('shows sections as folders and passages as files', async () => {
    const { id, nodeIds } = await space.add({
      filename: 'docs/guide.md',
      sections: [
        [[], 'Before all sections.'],
        [['Install'], 'Run it.'],
        [['Install', 'On/Linux'], 'Use the package.'],
        [['Usage'], ''],
        [['Install'], 'Again.'],
      ],
    })
    const root = '/knowledge/documents'
    const [document] = (await ls(root)).items
    expect(document).toMatchObject({ kind: 'directory', name: 'guide.md', resourceType: 'document', targetId: id })
    const within = await names(`${root}/guide.md`)
    expect(within).toEqual(['Install/', expect.stringMatching(/^Install~[0-9a-f]{8}\/$/), 'Usage/', '0001'])
    expect(await names(`${root}/guide.md/Install`)).toEqual(['On-Linux/', '0002'])
    expect(await names(`${root}/guide.md/${within[1]?.slice(0, -1)}`)).toEqual(['0004'])
    expect(await names(`${root}/guide.md/Usage`)).toEqual([])
    expect((await ls(`${root}/guide.md/Install/On-Linux`)).items).toMatchObject([
      {
        kind: 'resource',
        path: `${root}/guide.md/Install/On-Linux/0003`,
        resourceType: 'node',
        targetId: nodeIds[2],
        version: 1,
        metadata: { documentId: id, sectionPath: ['Install', 'On/Linux'], ordinal: 2 },
      },
    ])
    expect(await all(`${root}/guide.md`, 1)).toEqual(await all(`${root}/guide.md`, 100))
    await expect(ls(`${root}/guide.md/Install/none`)).rejects.toMatchObject({ code: 'not-found' })
    await expect(ls(`${root}/guide.md/Install/0002/deeper`)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('names documents by the last part of their file names, with a suffix for equal ones', async () => {
    const ids: string[] = []
    for (let index = 0; index < 12; index++) ids.push((await space.add({ filename: `${index}/README.md` })).id)
    await space.add({ filename: 'README.txt', sourceId: newId() })
    const listed = await all('/knowledge/documents', 5)
    expect(listed).toEqual(await all('/knowledge/documents', 100))
    expect(listed.map(({ targetId }) => targetId).slice(0, 12)).toEqual(ids)
    expect(listed[0]?.name).toBe('README.md')
    expect(new Set(listed.map(({ name }) => name)).size).toBe(13)
    for (const { path, targetId } of listed) {
      const [item] = (await ls(path)).items
      expect(item?.metadata.documentId).toBe(targetId)
    }
  })
})

describe('the folder /evidence', () => {
  it('shows the traces of the caller and their evidence', async () => {
    const { nodeIds } = await space.add({
      filename: 'a.md',
      sections: [
        [['A'], 'one'],
        [['B'], 'two'],
      ],
    })
    const mine = space.addTrace(nodeIds)
    space.addTrace(nodeIds, { subject: 'bob' })
    space.addTrace(nodeIds, { tenant: 'other' })
    const later = space.addTrace([nodeIds[1]!])
    expect((await all('/evidence', 1)).map(({ name }) => name)).toEqual([mine, later])
    expect((await ls('/evidence')).items[0]).toMatchObject({
      resourceType: 'evidence',
      targetId: mine,
      metadata: { query: 'why' },
    })
    const items = await all(`/evidence/${mine}`, 1)
    expect(items.map(({ name }) => name)).toEqual([...nodeIds].sort())
    expect(items[0]).toMatchObject({
      kind: 'resource',
      resourceType: 'node',
      targetId: [...nodeIds].sort()[0],
      metadata: {
        citationCount: 1,
        conflictCount: 0,
        freshness: 'fresh',
        score: 0.5,
        scores: { retrieval: 0.5, final: 0.5 },
      },
    })
  })

  it('hides traces of other subjects, and traces whose documents are deleted', async () => {
    const { nodeIds, key } = await space.add({ filename: 'a.md' })
    const foreign = space.addTrace(nodeIds, { subject: 'bob' })
    const mine = space.addTrace(nodeIds)
    await expect(ls(`/evidence/${foreign}`)).rejects.toMatchObject({ code: 'not-found' })
    space.delete(key)
    await expect(ls(`/evidence/${mine}`)).rejects.toMatchObject({ code: 'not-found' })
    await expect(ls(`/evidence/${mine}/${nodeIds[0]}`)).rejects.toMatchObject({ code: 'not-found' })
    expect(await names('/evidence')).toEqual([])
  })
})
