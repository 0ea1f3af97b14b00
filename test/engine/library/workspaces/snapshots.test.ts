import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../../../src/engine/index.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const CAROL = { tenant: ADA.tenant, subject: 'carol' }
const filler = (word: string) => Array.from({ length: 260 }, (_, place) => `${word}${place}`).join(' ')
// Long enough for its sections to become separate passages.
const TIDES = `# Tides\n\nThe moon pulls the sea and makes the tides. ${filler('ebb')}\n`
const LIGHT = '# Lighthouse\n\nThe lighthouse of Brest was built in 1835.\n'

let test: TestEngine
let engine: Engine
let id = ''

beforeAll(async () => {
  test = await startEngine()
  engine = test.engine
  id = (await engine.spaces.create(ADA, { name: 'Sea', slug: 'sea' })).id
  await ingest(engine, ADA, id, { 'tides.md': TIDES, 'light.md': LIGHT })
})
afterAll(() => test.end())

const write = (workspace: string) =>
  engine.fs.write(ADA, id, { path: `/workspaces/${workspace}/notes.md`, content: `notes of ${workspace}` })
const snapshot = (workspace: string, more: { sessionId?: string; name?: string } = {}) =>
  engine.snapshots.create(ADA, { knowledgeSpaceId: id, workspace, ...more })

describe('a snapshot of a workspace', () => {
  it('keeps its files unchanged when the workspace changes', async () => {
    await write('kept')
    await engine.fs.write(ADA, id, { path: '/workspaces/kept/a/b.txt', content: 'inner' })
    const made = await snapshot('kept', { name: 'first' })
    expect(made).toMatchObject({ workspace: 'kept', name: 'first', fileCount: 2, totalBytes: 18, createdBy: 'ada' })
    await engine.fs.write(ADA, id, { path: '/workspaces/kept/notes.md', content: 'changed' })
    await engine.fs.rm(ADA, id, { path: '/workspaces/kept/a', recursive: 'true' })
    const { files } = await engine.snapshots.get(ADA, made.id)
    expect(files.map(({ path, sizeBytes, version }) => [path, sizeBytes, version])).toEqual([
      ['a/b.txt', 5, 1],
      ['notes.md', 13, 1],
    ])
    const read = (path: string) => engine.snapshots.file(ADA, made.id, { path, offset: 0, maxBytes: 1000 })
    expect((await read('notes.md')).content).toBe('notes of kept')
    expect((await read('a/b.txt')).content).toBe('inner')
    await expect(read('none')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('requires an existing workspace and a valid name', async () => {
    await expect(snapshot('none')).rejects.toMatchObject({ code: 'not-found' })
    for (const workspace of ['a/b', '..', 'a/', '\u0001'])
      await expect(snapshot(workspace), workspace).rejects.toMatchObject({ code: 'invalid-request' })
  })

  it('stays hidden from other subjects and tenants', async () => {
    await write('own')
    const made = await snapshot('own')
    for (const caller of [BOB, CAROL]) {
      await expect(engine.snapshots.get(caller, made.id)).rejects.toMatchObject({ code: 'not-found' })
      await expect(engine.snapshots.replay(caller, made.id, { from: 0 })).rejects.toMatchObject({ code: 'not-found' })
      await expect(engine.snapshots.delete(caller, made.id)).rejects.toMatchObject({ code: 'not-found' })
      expect((await engine.snapshots.list(caller, { limit: 10 })).items).toEqual([])
    }
  })

  it('appears in the list newest first, page by page, until it is deleted', async () => {
    await write('listed')
    const ids = []
    for (let count = 0; count < 3; count++) ids.unshift((await snapshot('listed')).id)
    const page = (cursor?: string) => engine.snapshots.list(ADA, { workspace: 'listed', limit: 2, cursor })
    const first = await page()
    expect(first.items.map((item) => item.id)).toEqual(ids.slice(0, 2))
    expect((await page(first.nextCursor)).items.map((item) => item.id)).toEqual(ids.slice(2))
    await engine.snapshots.delete(ADA, ids[0]!)
    expect((await page()).items.map((item) => item.id)).toEqual(ids.slice(1))
    await expect(engine.snapshots.get(ADA, ids[0]!)).rejects.toMatchObject({ code: 'not-found' })
    await test.reopen()
    engine = test.engine
    expect((await page()).items.map((item) => item.id)).toEqual(ids.slice(1))
  })
})

describe('the queries of a snapshot', () => {
  it('come from the session that the request for the snapshot names', async () => {
    const first = await ask(engine, ADA, id, 'What makes the tides?')
    await ask(engine, ADA, id, 'When was the lighthouse built?', { sessionId: first.sessionId })
    await ask(engine, ADA, id, 'Something of another session?')
    await write('named')
    const made = await snapshot('named', { sessionId: first.sessionId })
    expect(made).toMatchObject({ sessionId: first.sessionId, queryCount: 2 })
    const { queries } = await engine.snapshots.get(ADA, made.id)
    expect(queries.map(({ query }) => query)).toEqual(['What makes the tides?', 'When was the lighthouse built?'])
    expect(queries[0]).toMatchObject({
      traceId: first.traceId,
      mode: 'fast',
      evidenceState: 'answerable',
      evidence: expect.arrayContaining([expect.objectContaining({ filename: 'tides.md', rank: 1 })]),
    })
    await expect(snapshot('named', { sessionId: newId() })).rejects.toMatchObject({ code: 'not-found' })
    const foreign = await ask(engine, CAROL, id, 'What makes the tides?')
    await expect(snapshot('named', { sessionId: foreign.sessionId })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('come from the session with the name of the workspace, else from the most recent session', async () => {
    const first = await ask(engine, ADA, id, 'What makes the tides?')
    const last = await ask(engine, ADA, id, 'When was the lighthouse built?')
    await write(first.sessionId)
    expect(await snapshot(first.sessionId)).toMatchObject({ sessionId: first.sessionId, queryCount: 1 })
    await write('unnamed')
    expect(await snapshot('unnamed')).toMatchObject({ sessionId: last.sessionId, queryCount: 1 })
  })

  it('do not exist when its creator asked nothing', async () => {
    await engine.fs.write(CAROL, id, { path: '/workspaces/quiet/a', content: 'a' })
    const { id: other } = await engine.spaces.create(CAROL, { name: 'Quiet', slug: 'quiet' })
    await engine.fs.write(CAROL, other, { path: '/workspaces/quiet/a', content: 'a' })
    const made = await engine.snapshots.create(CAROL, { knowledgeSpaceId: other, workspace: 'quiet' })
    expect(made).not.toHaveProperty('sessionId')
    expect(await engine.snapshots.replay(CAROL, made.id, { from: 0 })).toMatchObject({
      summary: { queries: 0 },
      queries: [],
    })
  })
})

describe('replaying a snapshot', () => {
  it('reports added, lost and kept evidence of each query', async () => {
    const space = (await engine.spaces.create(ADA, { name: 'Replay', slug: 'replay' })).id
    const [tides, light] = await ingest(engine, ADA, space, { 'tides.md': TIDES, 'light.md': LIGHT })
    const asked = await ask(engine, ADA, space, 'What makes the tides?')
    await ask(engine, ADA, space, 'When was the lighthouse of Brest built?', { sessionId: asked.sessionId })
    await engine.fs.write(ADA, space, { path: '/workspaces/w/a', content: 'a' })
    const { id: made } = await engine.snapshots.create(ADA, { knowledgeSpaceId: space, workspace: 'w' })

    const same = await engine.snapshots.replay(ADA, made, { from: 0 })
    expect(same.summary).toMatchObject({ queries: 2, failed: 0, added: 0, lost: 0 })
    expect(same.queries[0]?.kept[0]).toMatchObject({ filename: 'tides.md', recorded: { rank: 1 } })
    expect((await engine.snapshots.replay(ADA, made, { from: 1 })).queries).toHaveLength(1)

    // Passages with the same words in a new version are kept, new words are added, a deleted document is lost.
    await ingest(engine, ADA, space, {
      'tides.md': `${TIDES}\n## Wind\n\nWind makes waves, not the tides. ${filler('gust')}\n`,
    })
    await engine.documents.delete(ADA, space, [light!.asset.id])
    const { queries } = await engine.snapshots.replay(ADA, made, { from: 0 })
    const [first, second] = queries
    expect(first?.kept).toMatchObject([{ filename: 'tides.md', recorded: { documentAssetId: tides!.asset.id } }])
    expect(first?.kept[0]?.nodeId).not.toBe(first?.kept[0]?.recorded.nodeId)
    expect(first?.added).toMatchObject([{ filename: 'tides.md', sectionPath: ['Tides', 'Wind'] }])
    const lost = second?.lost.find(({ documentAssetId }) => documentAssetId === light!.asset.id)
    expect(lost).toMatchObject({ reason: 'document-deleted' })
    expect(lost).not.toHaveProperty('filename')
    expect(JSON.stringify(await engine.snapshots.get(ADA, made))).not.toContain('light.md')
    expect(second?.evidenceState).toMatchObject({ recorded: 'answerable' })
    expect(second?.evidenceState.now).not.toBe('answerable')
  })

  it('stores no traces, and reports queries that can no longer run', async () => {
    const space = (await engine.spaces.create(ADA, { name: 'Modes', slug: 'modes' })).id
    const [tides] = await ingest(engine, ADA, space, { 'tides.md': TIDES })
    const asked = await ask(engine, ADA, space, 'What makes the tides?', { mode: 'deep' })
    const limited = { sessionId: asked.sessionId, activeDocumentIds: [tides!.asset.id] }
    await ask(engine, ADA, space, 'What pulls the sea?', limited)
    await engine.fs.write(ADA, space, { path: '/workspaces/w/a', content: 'a' })
    const { id: made } = await engine.snapshots.create(ADA, { knowledgeSpaceId: space, workspace: 'w' })
    const traces = async () => (await engine.quality.traces(ADA, space, { limit: 100 })).items.length
    const before = await traces()
    const { revision: _, ...profile } = await engine.spaces.retrievalProfile(ADA, space)
    await engine.spaces.setRetrievalProfile(ADA, space, { ...profile, modes: ['fast'] })
    await engine.documents.delete(ADA, space, [tides!.asset.id])
    const { queries, summary } = await engine.snapshots.replay(ADA, made, { from: 0 })
    expect(summary).toMatchObject({ queries: 2, failed: 1 })
    expect(queries[0]?.error).toMatch(/^mode must be one of fast, auto/)
    expect(queries[1]).toMatchObject({ added: [], evidenceState: { now: 'not-enough-evidence' } })
    expect(queries[1]?.lost.map(({ reason }) => reason)).toEqual(['document-deleted'])
    expect(await traces()).toBeLessThanOrEqual(before)
  })
})
