import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { encodeCursor } from '../../../../src/engine/base/cursor.js'
import { sql } from '../../../../src/engine/store/program.js'
import { newId } from '../../../../src/lib/ids.js'
import { TestSpace } from './space.js'

let space: TestSpace
afterEach(() => space.close())

type Class = 'path-consistent' | 'snapshot-consistent' | 'cache-consistent' | 'eventual-preview'

function ls(
  consistencyClass: Class | undefined,
  more: { cursor?: string | undefined; limit?: number; path?: string } = {},
) {
  return space.fs.ls(space.caller, space.id, { path: '/sources/uploads', limit: 1, consistencyClass, ...more })
}

async function threeDocuments(policy: ConstructorParameters<typeof TestSpace>[0] = {}) {
  space = new TestSpace(policy)
  return [
    await space.add({ filename: 'a' }),
    await space.add({ filename: 'b' }),
    await space.add({ filename: 'c' }),
  ] as const
}

describe('the consistency class of a listing', () => {
  it('appears in the response only if the request names a class', async () => {
    await threeDocuments()
    expect(await ls('path-consistent')).toMatchObject({ consistencyClass: 'path-consistent' })
    expect(await ls(undefined)).not.toHaveProperty('consistencyClass')
    expect(await ls('path-consistent')).not.toHaveProperty('preview')
  })

  it('path-consistent shows on each page what is published when the page is read', async () => {
    await threeDocuments()
    const first = await ls('path-consistent')
    await space.add({ filename: 'aa' })
    expect((await ls('path-consistent', { cursor: first.nextCursor })).items).toMatchObject([{ name: 'aa' }])
  })

  it('snapshot-consistent shows one publication on all pages, but never a deleted document', async () => {
    const [, b, c] = await threeDocuments()
    const first = await ls('snapshot-consistent')
    await space.add({ filename: 'aa' })
    await space.addVersion(c.key, { filename: 'c' }, 2, space.publish())
    expect((await ls('snapshot-consistent', { cursor: first.nextCursor })).items).toMatchObject([{ name: 'b' }])
    space.delete(b.key)
    const last = await ls('snapshot-consistent', { cursor: first.nextCursor })
    expect(last.items).toMatchObject([{ name: 'c', version: 1 }])
    expect((await ls('path-consistent', { limit: 9 })).items.map(({ name }) => name)).toEqual(['a', 'aa', 'c'])
  })

  it('snapshot-consistent cursors expire after the snapshotTtlSeconds of the policy', async () => {
    await threeDocuments({ snapshotTtlSeconds: 0.05 })
    const first = await ls('snapshot-consistent')
    await vi.waitFor(() =>
      expect(ls('snapshot-consistent', { cursor: first.nextCursor })).rejects.toMatchObject({ code: 'invalid-cursor' }),
    )
  })

  it('snapshot-consistent cursors expire when their publication is removed', async () => {
    await threeDocuments()
    const first = await ls('snapshot-consistent')
    space.publish()
    expect((await ls('snapshot-consistent', { cursor: first.nextCursor })).items).toMatchObject([{ name: 'b' }])
    space.db.now(sql.run('DELETE FROM publications'))
    await expect(ls('snapshot-consistent', { cursor: first.nextCursor })).rejects.toMatchObject({
      code: 'invalid-cursor',
    })
  })

  it('cache-consistent shows one publication for cacheTtlSeconds, but never a deleted document', async () => {
    const [a] = await threeDocuments({ cacheTtlSeconds: 60 })
    expect((await ls('cache-consistent', { limit: 9 })).items).toHaveLength(3)
    await space.add({ filename: 'd' })
    expect((await ls('cache-consistent', { limit: 9 })).items).toHaveLength(3)
    space.delete(a.key)
    expect((await ls('cache-consistent', { limit: 9 })).items.map(({ name }) => name)).toEqual(['b', 'c'])
    expect((await ls('path-consistent', { limit: 9 })).items).toHaveLength(3)
  })

  it('eventual-preview shows unpublished documents with their state', async () => {
    await threeDocuments()
    const waiting = await space.add({ filename: 'd/new', state: 'pending' })
    await space.add({ filename: 'e', state: 'failed' })
    space.db.now(
      sql.run(
        `INSERT INTO jobs (id, queue_id, tenant, space_key, doc_key, version, stage, created_at, updated_at)
       VALUES (?, 'q', 'acme', ?, ?, 1, 'queued', 0, 0)`,
        [newId(), space.key, waiting.key],
      ),
    )
    const page = await ls('eventual-preview', { limit: 9 })
    expect(page.items.map(({ name, metadata }) => [name, metadata.state])).toEqual([
      ['d', undefined],
      ['a', undefined],
      ['b', undefined],
      ['c', undefined],
      ['e', 'failed'],
    ])
    expect((await ls('eventual-preview', { path: '/sources/uploads/d' })).items).toMatchObject([
      { name: 'new', metadata: { state: 'pending' } },
    ])
    expect(page.preview).toEqual({ stale: true, asOf: expect.stringMatching(/Z$/), pendingDocuments: 1 })
    expect((await ls('eventual-preview', { path: '/knowledge/documents/new' })).items).toEqual([])
    expect((await ls('path-consistent', { limit: 9 })).items.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('defaults to the class in the manifest of the space', async () => {
    await threeDocuments({ defaultClass: 'eventual-preview' })
    await space.add({ filename: 'd', state: 'pending' })
    const page = await ls(undefined, { limit: 9 })
    expect(page.items).toHaveLength(4)
    expect(page).toHaveProperty('preview')
  })

  it('path-consistent reads the published version of a document, even right after its publication', async () => {
    space = new TestSpace()
    const { key } = await space.add({ filename: 'a', text: 'old words' })
    await space.add({ filename: 'b' })
    const path = '/sources/uploads/a'
    expect((await space.fs.cat(space.caller, space.id, { path, offset: 0, maxBytes: 99 })).content).toBe('old words')
    await space.addVersion(key, { filename: 'a', text: 'new words' }, 2, space.publish())
    expect((await space.fs.cat(space.caller, space.id, { path, offset: 0, maxBytes: 99 })).content).toBe('new words')
    expect((await ls('path-consistent')).items).toMatchObject([{ version: 2 }])
  })
})

describe('cursors of listings', () => {
  it('A16: fail with invalid-cursor for another path, class, operation, subject or space', async () => {
    await threeDocuments()
    const { nextCursor: cursor } = await ls('path-consistent')
    const other = newId()
    space.addSpace(other, 'acme')
    const query = { path: '/sources/uploads', limit: 1, cursor }
    const refused = { code: 'invalid-cursor' }
    await expect(ls('cache-consistent', { cursor })).rejects.toMatchObject(refused)
    await expect(ls('path-consistent', { cursor, path: '/sources' })).rejects.toMatchObject(refused)
    await expect(space.fs.find(space.caller, space.id, query)).rejects.toMatchObject(refused)
    await expect(space.fs.tree(space.caller, space.id, query)).rejects.toMatchObject(refused)
    await expect(space.fs.ls({ ...space.caller, subject: 'bob' }, space.id, query)).rejects.toMatchObject(refused)
    await expect(space.fs.ls(space.caller, other, query)).rejects.toMatchObject(refused)
    expect((await ls(undefined, { cursor })).items).toMatchObject([{ name: 'b' }])
  })

  it('fail with invalid-cursor if one of their characters is changed', async () => {
    await threeDocuments()
    const { nextCursor = '' } = await ls('path-consistent')
    await fc.assert(
      fc.asyncProperty(
        fc.nat(nextCursor.length - 1),
        fc.constantFrom('A', 'z', '0', '-', '!'),
        async (place, letter) => {
          const cursor = nextCursor.slice(0, place) + letter + nextCursor.slice(place + 1)
          const same = Buffer.from(cursor, 'base64url').equals(Buffer.from(nextCursor, 'base64url'))
          fc.pre(!same)
          await expect(ls('path-consistent', { cursor })).rejects.toMatchObject({ code: 'invalid-cursor' })
        },
      ),
      { numRuns: 50 },
    )
  })

  it('with forged positions list a page or fail with invalid-cursor', async () => {
    const [a] = await threeDocuments()
    const place = fc.oneof(
      fc.constantFrom<string | number>('', 'a', 'uploads', a.id, 0, 1, 2),
      fc.string({ maxLength: 5 }),
      fc.integer(),
      fc.double(),
    )
    const { fs, caller, id } = space
    const calls = {
      ls: (query: { path: string; limit: number; cursor?: string }) => fs.ls(caller, id, query),
      snapshot: (query: { path: string; limit: number; cursor?: string }) =>
        fs.ls(caller, id, { ...query, consistencyClass: 'snapshot-consistent' }),
      find: (query: { path: string; limit: number; cursor?: string }) => fs.find(caller, id, query),
      grep: (query: { path: string; limit: number; cursor?: string }) =>
        fs.grep(caller, id, { ...query, q: 're:[a-z]', timeoutMs: 1000 }),
    }
    space.addTrace(a.nodeIds, {}, ['ab'])
    for (const path of [
      '/sources',
      '/sources/uploads',
      '/knowledge',
      '/knowledge/documents',
      '/knowledge/documents/a',
      '/evidence',
    ])
      for (const call of Object.values(calls)) {
        const { nextCursor } = await call({ path, limit: 1 })
        if (nextCursor === undefined) continue
        const [body]: [string] = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
        const [, filter, publication]: [unknown, string, string | null] = JSON.parse(body)
        await fc.assert(
          fc.asyncProperty(fc.array(place, { maxLength: 7 }), async (after) => {
            const cursor = encodeCursor({ after, ...(publication === null ? {} : { publication }) }, filter)
            const code = await call({ path, limit: 1, cursor }).then(
              () => undefined,
              (error) => error.code,
            )
            expect([undefined, 'invalid-cursor']).toContain(code)
          }),
          { numRuns: 40 },
        )
      }
  })
})
