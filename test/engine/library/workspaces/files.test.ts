import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../../../src/engine/index.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { allCandidates, allIssues } from '../../upkeep/integrity/space.js'

let test: TestEngine
let engine: Engine
let id = ''
let made = 0

beforeAll(async () => {
  test = await startEngine()
  engine = test.engine
})
afterAll(() => test.end())
beforeEach(async () => {
  made += 1
  id = (await engine.spaces.create(ADA, { name: 'A', slug: `a-${made}` })).id
})

const write = (path: string, content: string) => engine.fs.write(ADA, id, { path, content })
const mv = (oldPath: string, newPath: string) => engine.fs.mv(ADA, id, { oldPath, newPath })
const rm = (path: string, recursive: 'true' | 'false' = 'false') => engine.fs.rm(ADA, id, { path, recursive })
const cat = async (path: string) =>
  (await engine.fs.cat(ADA, id, { path, offset: 0, maxBytes: 2 * 1024 * 1024 })).content
const ls = async (path: string, limit = 100) =>
  (await engine.fs.ls(ADA, id, { path, limit })).items.map(({ name, kind }) =>
    kind === 'directory' ? `${name}/` : name,
  )
const found = async (path: string) =>
  (await engine.fs.find(ADA, id, { path, limit: 1000 })).items.map((item) => item.path)

describe('a workspace file', () => {
  it('can be read by every read operation', async () => {
    const item = await write('/workspaces/audit/plan/steps.md', '# Steps\n\nRead the contract.\n')
    expect(item).toMatchObject({
      kind: 'resource',
      name: 'steps.md',
      path: '/workspaces/audit/plan/steps.md',
      version: 1,
      resourceType: 'workspace',
      metadata: { sizeBytes: 28, contentType: 'text/markdown', updatedBy: 'ada' },
    })
    await write('/workspaces/audit/notes.txt', 'nothing yet')
    expect(await ls('/workspaces')).toEqual(['audit/'])
    expect(await ls('/workspaces/audit')).toEqual(['plan/', 'notes.txt'])
    expect(await ls('/workspaces/audit/notes.txt')).toEqual(['notes.txt'])
    expect(await cat('/workspaces/audit/plan/steps.md')).toBe('# Steps\n\nRead the contract.\n')
    expect(await found('/workspaces')).toEqual([
      '/workspaces/audit',
      '/workspaces/audit/notes.txt',
      '/workspaces/audit/plan',
      '/workspaces/audit/plan/steps.md',
    ])
    const tree = await engine.fs.tree(ADA, id, { path: '/workspaces', limit: 100, depth: 3 })
    expect(tree.root.children).toMatchObject([
      { name: 'audit', children: [{ name: 'plan', children: [{ name: 'steps.md' }] }, { name: 'notes.txt' }] },
    ])
    const grep = await engine.fs.grep(ADA, id, { path: '/workspaces', limit: 10, q: 'contract', timeoutMs: 2000 })
    expect(grep.matches).toMatchObject([
      { kind: 'segment', path: '/workspaces/audit/plan/steps.md', startOffset: 18, metadata: { workspace: 'audit' } },
    ])
  })

  it('gets replaced completely by the next write, and writing the same text again changes nothing', async () => {
    const first = await write('/workspaces/w/a', 'one')
    expect(await write('/workspaces/w/a', 'one')).toEqual(first)
    const second = await write('/workspaces/w/a', '')
    expect(second).toMatchObject({ version: 2, targetId: first.targetId, metadata: { sizeBytes: 0 } })
    expect(await cat('/workspaces/w/a')).toBe('')
  })

  it('survives a restart', async () => {
    await write('/workspaces/w/a', 'kept')
    await test.reopen()
    engine = test.engine
    expect(await cat('/workspaces/w/a')).toBe('kept')
  })

  it('cannot be read in another space or written by another tenant', async () => {
    await write('/workspaces/w/a', 'mine')
    await expect(engine.fs.write(BOB, id, { path: '/workspaces/w/a', content: 'x' })).rejects.toMatchObject({
      code: 'not-found',
    })
    const other = (await engine.spaces.create(ADA, { name: 'B', slug: `b-${made}` })).id
    await expect(
      engine.fs.cat(ADA, other, { path: '/workspaces/w/a', offset: 0, maxBytes: 100 }),
    ).rejects.toMatchObject({ code: 'not-found' })
  })

  it('requires a valid path and well-formed text', async () => {
    const bad = [
      '/workspaces',
      '/workspaces/w',
      '/sources/w/a',
      '/knowledge/a/b',
      '/evidence/a/b',
      'workspaces/w/a',
      '/workspaces//a',
      '/workspaces/w/../a',
      '/workspaces/w/./a',
      '/workspaces/w/a\u0001',
      '/workspaces/w/\n',
      '/workspaces/w/e\u0301',
      '/workspaces/w/\ud800',
      `/workspaces/w/${'x'.repeat(1011)}`,
    ]
    for (const path of bad) await expect(write(path, 'x'), path).rejects.toMatchObject({ code: 'invalid-request' })
    expect((await write(`/workspaces/w/${'x'.repeat(1010)}`, 'x')).path).toHaveLength(1024)
    await expect(write('/workspaces/w/a', 'half \ud800')).rejects.toMatchObject({ code: 'invalid-request' })
  })

  it('cannot replace a folder or become the parent of a file', async () => {
    await write('/workspaces/w/a/b', 'x')
    await expect(write('/workspaces/w/a', 'x')).rejects.toMatchObject({ code: 'path-taken' })
    await expect(write('/workspaces/w/a/b/c/d', 'x')).rejects.toMatchObject({ code: 'path-taken' })
  })

  it('contains at most one mebibyte', async () => {
    await write('/workspaces/w/a', 'x'.repeat(1024 * 1024))
    await expect(write('/workspaces/w/a', 'é'.repeat(512 * 1024 + 1))).rejects.toMatchObject({
      code: 'upload-too-large',
    })
  })

  it('cannot be added when the space has the maximal number of files', async () => {
    await write('/workspaces/w/a', 'x')
    await rowsOf(
      test.dataDir,
    ).run(`INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type,
        version, subject, created_at, updated_at, from_seq)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
        SELECT 'x' || i, space_key, 'many' || char(1), 'f' || i, object_key, '', 1, 'text/plain', 1, 'ada', 0, 0, 1
        FROM n, workspace_files WHERE space_key = (SELECT key FROM spaces WHERE id = '${id}')`)
    await expect(write('/workspaces/w/b', 'x')).rejects.toMatchObject({ code: 'quota-exceeded' })
    expect(await write('/workspaces/w/a', 'y')).toMatchObject({ version: 2 })
    await rm('/workspaces/many', 'true')
    await write('/workspaces/w/b', 'x')
  })
})

describe('moving and removing workspace files', () => {
  it('moves files, folders and entire workspaces, and overwrites nothing', async () => {
    const { targetId } = await write('/workspaces/w/a', 'one')
    await write('/workspaces/w/deep/er/b', 'two')
    expect(await mv('/workspaces/w/a', '/workspaces/w/deep/c')).toMatchObject({ files: 1 })
    expect((await engine.fs.ls(ADA, id, { path: '/workspaces/w/deep/c', limit: 1 })).items).toMatchObject([
      { targetId },
    ])
    expect(await mv('/workspaces/w/deep', '/workspaces/v/x')).toMatchObject({ files: 2 })
    expect(await found('/workspaces/v')).toEqual([
      '/workspaces/v/x',
      '/workspaces/v/x/c',
      '/workspaces/v/x/er',
      '/workspaces/v/x/er/b',
    ])
    await mv('/workspaces/v', '/workspaces/𝒰')
    expect(await cat('/workspaces/𝒰/x/er/b')).toBe('two')
    await mv('/workspaces/𝒰/x', '/workspaces/w/x')
    expect(await ls('/workspaces')).toEqual(['w/'])
    await write('/workspaces/w/y', 'three')
    await expect(mv('/workspaces/w/x/c', '/workspaces/w/y')).rejects.toMatchObject({ code: 'path-taken' })
    await expect(mv('/workspaces/w/y', '/workspaces/w/x')).rejects.toMatchObject({ code: 'path-taken' })
    await expect(mv('/workspaces/w/y', '/workspaces/z')).rejects.toMatchObject({ code: 'invalid-request' })
    await expect(mv('/workspaces/w', '/workspaces/w/in')).rejects.toMatchObject({ code: 'invalid-request' })
    await expect(mv('/workspaces/w', `/workspaces/${'n'.repeat(1008)}`)).rejects.toMatchObject({
      code: 'invalid-request',
    })
    await expect(mv('/workspaces/none', '/workspaces/w2')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('removes a file at once, and a folder only with the recursive flag', async () => {
    await write('/workspaces/w/a', 'one')
    await write('/workspaces/w/f/b', 'two')
    expect(await rm('/workspaces/w/a')).toEqual({ path: '/workspaces/w/a', files: 1 })
    await expect(cat('/workspaces/w/a')).rejects.toMatchObject({ code: 'not-found' })
    await expect(rm('/workspaces/w')).rejects.toMatchObject({ code: 'invalid-request' })
    await expect(rm('/workspaces', 'true')).rejects.toMatchObject({ code: 'invalid-request' })
    expect(await rm('/workspaces/w', 'true')).toMatchObject({ files: 1 })
    await expect(ls('/workspaces/w')).rejects.toMatchObject({ code: 'not-found' })
    expect(await ls('/workspaces')).toEqual([])
    await expect(rm('/workspaces/w', 'true')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('behaves like a map from paths to texts, for any sequence of operations', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const path = fc.array(name, { minLength: 2, maxLength: 4 }).map((parts) => `/workspaces/${parts.join('/')}`)
    const step = fc.oneof(
      fc.record({ op: fc.constant('write' as const), path, content: fc.string({ maxLength: 5, unit: 'grapheme' }) }),
      fc.record({ op: fc.constant('mv' as const), path, to: path }),
      fc.record({ op: fc.constant('rm' as const), path }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        made += 1
        id = (await engine.spaces.create(ADA, { name: 'A', slug: `a-${made}` })).id
        const model = new Map<string, string>()
        for (const each of steps) await both(model, each)
        const files = (await found('/workspaces')).filter((one) => model.has(one))
        expect(files.sort()).toEqual([...model.keys()].sort())
        for (const [file, content] of model) expect(await cat(file)).toBe(content)
        const listed = (await engine.fs.find(ADA, id, { path: '/workspaces', limit: 1000 })).items
        expect(listed.filter(({ kind }) => kind === 'resource')).toHaveLength(model.size)
      }),
      { numRuns: 40 },
    )
  })
})

type Step =
  | { op: 'write'; path: string; content: string }
  | { op: 'mv'; path: string; to: string }
  | { op: 'rm'; path: string }

/** Applies the same step to the map and the engine; both must reject the same steps. */
async function both(model: Map<string, string>, step: Step): Promise<void> {
  const below = (path: string) => [...model.keys()].filter((key) => key.startsWith(`${path}/`))
  const blocked = (path: string) =>
    below(path).length > 0 || [...model.keys()].some((key) => path.startsWith(`${key}/`))
  if (step.op === 'write') {
    const fits = !blocked(step.path)
    if (fits) model.set(step.path, step.content)
    await outcome(write(step.path, step.content), fits)
  } else if (step.op === 'rm') {
    const gone = [step.path, ...below(step.path)].filter((key) => model.delete(key))
    await outcome(rm(step.path, 'true'), gone.length > 0)
  } else {
    const moved = [step.path, ...below(step.path)].filter((key) => model.has(key))
    const nested = step.to === step.path || step.to.startsWith(`${step.path}/`)
    const fits = moved.length > 0 && !nested && !blocked(step.to) && !model.has(step.to)
    if (fits)
      for (const key of moved) {
        model.set(step.to + key.slice(step.path.length), model.get(key)!)
        model.delete(key)
      }
    await outcome(mv(step.path, step.to), fits)
  }
}

async function outcome(work: Promise<unknown>, fits: boolean): Promise<void> {
  const succeeded = await work.then(
    () => true,
    () => false,
  )
  expect(succeeded).toBe(fits)
}

describe('list pages of workspace files', () => {
  it('omit nothing and repeat nothing in ls, find and grep', async () => {
    const paths = ['x/1', 'x/2', `x/${'long'.repeat(60)}/deep/3`, 'y', `z${'z'.repeat(200)}`, 'x/q/r/4']
    for (const path of paths) await write(`/workspaces/w/${path}`, `needle ${path}`)
    for (const limit of [1, 2, 3]) {
      for (const consistencyClass of [undefined, 'snapshot-consistent'] as const) {
        const pages = { path: '/workspaces/w', limit, consistencyClass }
        const names = await paged((cursor) => engine.fs.ls(ADA, id, { ...pages, cursor }))
        expect(names.map(({ name }) => name)).toEqual(['x', 'y', `z${'z'.repeat(200)}`])
        const walked = (await paged((cursor) => engine.fs.find(ADA, id, { ...pages, cursor }))).map(({ path }) => path)
        expect(new Set(walked).size).toBe(walked.length)
        expect(walked.length).toBe(6 + 5)
        const matches = await paged(async (cursor) => {
          const page = await engine.fs.grep(ADA, id, { ...pages, cursor, q: 'needle', timeoutMs: 2000 })
          return { items: page.matches, nextCursor: page.nextCursor }
        })
        expect(matches.map(({ path }) => path).sort()).toEqual(paths.map((path) => `/workspaces/w/${path}`).sort())
      }
    }
  })

  it('that are snapshot-consistent show the state of the first page, but never a removed file', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await write(`/workspaces/w/${name}`, `old ${name}`)
    const pages = { path: '/workspaces/w', limit: 1, consistencyClass: 'snapshot-consistent' } as const
    const first = await engine.fs.ls(ADA, id, pages)
    await write('/workspaces/w/aa', 'new')
    await write('/workspaces/w/b', 'changed')
    await mv('/workspaces/w/c', '/workspaces/w/e')
    await rm('/workspaces/w/d')
    const rest = await paged((cursor) => engine.fs.ls(ADA, id, { ...pages, cursor: cursor ?? first.nextCursor }))
    expect(rest).toMatchObject([
      { name: 'b', version: 1 },
      { name: 'c', version: 1 },
    ])
    expect(await ls('/workspaces/w')).toEqual(['a', 'aa', 'b', 'e'])
  })

  it('that are path-consistent show a file that was written after the first page', async () => {
    await write('/workspaces/w/a', 'a')
    await write('/workspaces/w/c', 'c')
    const pages = { path: '/workspaces/w', limit: 1 }
    const first = await engine.fs.ls(ADA, id, pages)
    await write('/workspaces/w/b', 'b')
    expect((await engine.fs.ls(ADA, id, { ...pages, cursor: first.nextCursor })).items).toMatchObject([{ name: 'b' }])
  })
})

async function paged<T>(page: (cursor?: string) => Promise<{ items: T[]; nextCursor?: string | undefined }>) {
  const items: T[] = []
  for (let cursor: string | undefined; ; ) {
    const next = await page(cursor)
    items.push(...next.items)
    cursor = next.nextCursor
    if (cursor === undefined) return items
  }
}

describe('the bytes of workspace files', () => {
  const there = (content: string) => {
    const sha256 = createHash('sha256').update(content).digest('hex')
    return existsSync(join(test.dataDir, 'objects', ObjectStore.key(ADA.tenant, sha256)))
  }

  it('disappear with the last file that uses them', async () => {
    const text = `only here ${id}`
    await write('/workspaces/w/a', text)
    await write('/workspaces/w/b', text)
    await rm('/workspaces/w/a')
    await write('/workspaces/w/c', 'something else')
    expect(await cat('/workspaces/w/b')).toBe(text)
    await rm('/workspaces/w/b')
    await until(() => !there(text))
    expect(await cat('/workspaces/w/c')).toBe('something else')
  })

  it('do not count as orphaned in garbage collection, and fsck reports missing bytes', async () => {
    await write('/workspaces/w/a', `looked after ${id}`)
    const [snapshot] = [await engine.snapshots.create(ADA, { knowledgeSpaceId: id, workspace: 'w' })]
    await rm('/workspaces/w/a')
    const file = () => engine.snapshots.file(ADA, snapshot.id, { path: 'a', offset: 0, maxBytes: 100 })
    expect((await file()).content).toBe(`looked after ${id}`)
    await write('/workspaces/w/b', `second ${id}`)
    await rowsOf(test.dataDir).run('UPDATE workspace_files SET created_at = 0')
    expect((await allCandidates(engine, id)).filter(({ target }) => target.type === 'raw-object')).toEqual([])
    expect(await allIssues(engine, id)).toEqual([])
    const space = `(SELECT key FROM spaces WHERE id = '${id}')`
    const keys = rowsOf(test.dataDir).all<{ object_key: string; path: string }>(
      `SELECT object_key, base path FROM workspace_files WHERE space_key = ${space} AND until_seq IS NULL
             UNION ALL SELECT object_key, path FROM snapshot_files WHERE space_key = ${space}`,
    )
    for (const { object_key } of keys) rmSync(join(test.dataDir, 'objects', object_key))
    expect(await allIssues(engine, id, 'raw-objects')).toMatchObject([
      { code: 'workspace-object-missing', severity: 'critical', target: { virtualPath: '/workspaces/w/b' } },
      { code: 'workspace-object-missing', target: { virtualPath: 'a', id: snapshot.id } },
    ])
    await write('/workspaces/w/b', `second ${id}`)
    await write('/workspaces/w/heals', `looked after ${id}`)
    expect(await allIssues(engine, id, 'raw-objects')).toEqual([])
    expect((await file()).content).toBe(`looked after ${id}`)
  })

  it('disappear with their space, including snapshots', async () => {
    await write('/workspaces/w/a', `frozen ${id}`)
    await engine.snapshots.create(ADA, { knowledgeSpaceId: id, workspace: 'w' })
    await write('/workspaces/w/a', `live ${id}`)
    expect([there(`frozen ${id}`), there(`live ${id}`)]).toEqual([true, true])
    await engine.spaces.delete(ADA, id)
    await until(() => !there(`frozen ${id}`) && !there(`live ${id}`))
    expect(
      rowsOf(test.dataDir).value('SELECT count(*) FROM snapshot_files WHERE space_key NOT IN (SELECT key FROM spaces)'),
    ).toBe(0)
  })

  it('count in the statistics of the space, including snapshots', async () => {
    expect((await engine.spaces.stats(ADA, id, { windowMinutes: 5 })).storage).toEqual({
      documentCount: 0,
      rawDocumentBytes: 0,
    })
    await write('/workspaces/w/a', 'four')
    await engine.snapshots.create(ADA, { knowledgeSpaceId: id, workspace: 'w' })
    expect((await engine.spaces.stats(ADA, id, { windowMinutes: 5 })).storage).toMatchObject({
      workspaceFileCount: 1,
      workspaceBytes: 8,
    })
  })
})
