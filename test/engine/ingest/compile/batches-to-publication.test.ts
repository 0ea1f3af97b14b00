import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileBatch, failJob } from '../../../../src/engine/ingest/compile/pipeline.js'
import type { CompileWork } from '../../../../src/engine/ingest/compile/work.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { openSmallStore, PROVIDED, passages, type SmallStore } from '../../../helpers/store.js'

const signal = new AbortController().signal

let store: SmallStore
/** Files that were read. */
let filesRead: string[]
beforeEach(async () => {
  store = await openSmallStore()
  filesRead = []
  const { compile } = store.context.compiler
  store.context.compiler.compile = async (requests, stop) => {
    filesRead.push(...requests.map(({ filename }) => filename))
    return await compile(requests, stop)
  }
})
afterEach(() => store.end())

const compiled = (space: SpaceRow, works: CompileWork[], stop = signal) =>
  compileBatch(store.context, space, works, { signal: stop })
const stages = () => store.rows<{ stage: string }>('SELECT stage FROM jobs ORDER BY key').map(({ stage }) => stage)
const documents = () => store.rows('SELECT filename, parser_status status, error_code code FROM documents ORDER BY key')
const visible = (space: SpaceRow) =>
  store
    .rows<{ text: string }>(
      `SELECT text FROM nodes JOIN versions ON versions.key = version_key WHERE nodes.space_key = ?
       AND from_revision IS NOT NULL AND until_revision IS NULL ORDER BY nodes.key`,
      space.key,
    )
    .map(({ text }) => text)
const vectors = (vectorSpace: VectorSpace) =>
  store.rows('SELECT node_key FROM vectors WHERE vector_space = ?', vectorSpace.key).length

/** The work with its job as the row is now, claimed again. */
const again = (works: CompileWork[]) => works.map(({ document }) => store.claimJob(document.key))
const freed = () => store.run('UPDATE jobs SET claimed_by = NULL WHERE completed_at IS NULL')

function trainedModel(space: SpaceRow): VectorSpace {
  return store.write(function* () {
    const made = yield* insertTrainedVectorSpace(
      space,
      newId(),
      { dimension: 2, bytes: new Uint8Array(1), trainedNodes: 30 },
      'gone',
    )
    yield* activateVectorSpace(space.key, made)
    return made
  })
}

describe('a compilation batch', () => {
  it('publishes its readable files, while an unreadable file fails with the reason', async () => {
    const space = store.createSpace()
    const works = await store.uploadAndClaim(space, {
      'a.md': passages('one', 'two'),
      'bad.md': '!unsupported-media-type',
      'b.md': 'three',
    })
    await compiled(space, works)
    expect(visible(space)).toEqual(['one', 'two', 'three'])
    expect(stages()).toEqual(['published', 'failed', 'published'])
    expect(documents()).toEqual([
      { filename: 'a.md', status: 'parsed', code: null },
      { filename: 'bad.md', status: 'failed', code: 'unsupported-media-type' },
      { filename: 'b.md', status: 'parsed', code: null },
    ])
    expect(store.indexes.texts(space.id)).toEqual(['one', 'three', 'two'])
    expect(store.reload(space).head_revision).toBe(1)
  })

  it('without a readable file publishes nothing', async () => {
    const space = store.createSpace()
    await compiled(space, await store.uploadAndClaim(space, { 'a.md': '!encrypted', 'b.md': '!encrypted' }))
    expect(stages()).toEqual(['failed', 'failed'])
    expect(store.reload(space).head_revision).toBe(0)
    expect(store.indexes.searched).toEqual([])
    await compiled(space, [])
    expect(store.reload(space).head_revision).toBe(0)
  })

  it('fails a document that exceeds the quota of the space with quota-exceeded', async () => {
    const quotaPolicy = { ...DEFAULT_POLICIES.quotaPolicy, maxNodeCount: 2 }
    const space = store.createSpace({ policies: { quotaPolicy } })
    await compiled(space, await store.uploadAndClaim(space, { 'a.md': passages('1', '2'), 'b.md': '3' }))
    expect(visible(space)).toEqual(['1', '2'])
    expect(documents()[1]).toEqual({ filename: 'b.md', status: 'failed', code: 'quota-exceeded' })
  })

  it('does not read files again that an earlier run stored, and adds their passages to the index', async () => {
    const space = store.createSpace()
    const works = await store.uploadAndClaim(space, { 'a.md': passages('one', 'two'), 'b.md': 'three' })
    store.indexes.failing.set('follow', new Error('gone'))
    await expect(compiled(space, works)).rejects.toThrow('gone')
    store.indexes.failing.clear()
    expect(visible(space)).toEqual([])
    freed()
    const fresh = await store.uploadAndClaim(space, { 'c.md': 'four' })
    await compiled(space, [...again(works), ...fresh])
    expect(filesRead.sort()).toEqual(['a.md', 'b.md', 'c.md'])
    expect(visible(space)).toEqual(['one', 'two', 'three', 'four'])
    expect(store.indexes.texts(space.id)).toEqual(['four', 'one', 'three', 'two'])
    expect(stages()).toEqual(['published', 'published', 'published'])
  })

  it('stays unpublished when the index does not find its document by the words of the document', async () => {
    const space = store.createSpace()
    const works = await store.uploadAndClaim(space, { 'a.md': 'lighthouse' })
    store.betweenSteps = () => store.indexes.stateOf(space.id).nodes.clear()
    await expect(compiled(space, works)).rejects.toMatchObject({ code: 'internal' })
    expect(visible(space)).toEqual([])
    expect(stages()).toEqual(['nodes_generated'])
  })

  it('stays unpublished when it is stopped before publication', async () => {
    const space = store.createSpace()
    const stop = new AbortController()
    const works = await store.uploadAndClaim(space, { 'a.md': 'one' })
    store.betweenSteps = () => stop.abort(new Error('stopped'))
    await expect(compiled(space, works, stop.signal)).rejects.toThrow('stopped')
    expect(visible(space)).toEqual([])
    expect(store.reload(space).head_revision).toBe(0)
  })
})

describe('vectors of a compilation batch', () => {
  it('come from the model of the space and exist when the batch is published', async () => {
    const space = store.createSpace()
    const model = trainedModel(space)
    await compiled(space, await store.uploadAndClaim(space, { 'a.md': passages('one', 'two') }))
    expect(vectors(model)).toBe(2)
    expect(store.indexes.vectorKeys(space.id, model.id)).toHaveLength(2)
    // The title is part of the embedded text.
    expect(store.embedded.flat()).toEqual(['a.md\none', 'a.md\ntwo'])
  })

  it('do not exist while the space has no model', async () => {
    const space = store.createSpace()
    await compiled(space, await store.uploadAndClaim(space, { 'a.md': 'one' }))
    expect(visible(space)).toEqual(['one'])
    expect(store.embedded).toEqual([])
  })

  it('come from the new model when the space changes its model before publication', async () => {
    const space = store.createSpace()
    const old = trainedModel(space)
    const works = await store.uploadAndClaim(space, { 'a.md': 'one' })
    let next: VectorSpace | undefined
    const { embed } = store
    store.embed = (texts) => {
      next ??= trainedModel(store.reload(space))
      return embed(texts)
    }
    await compiled(space, works)
    expect(visible(space)).toEqual(['one'])
    expect(next === undefined ? 0 : vectors(next)).toBe(1)
    expect(vectors(old)).toBe(0)
    expect(filesRead).toEqual(['a.md'])
  })

  it('become due at the provider before publication, which waits for them once and succeeds without them', async () => {
    const space = store.createSpace({ model: PROVIDED })
    const asked: unknown[] = []
    store.context.vectors.waitForVectors = async (key, versions) => {
      asked.push({ key, versions, owed: store.rows('SELECT 1 FROM vectors_due').length, seen: visible(space).length })
    }
    await compiled(space, await store.uploadAndClaim(space, { 'a.md': 'one', 'empty.md': '' }))
    const [version] = store.rows<{ key: number }>('SELECT key FROM versions WHERE node_count = 1')
    expect(asked).toEqual([{ key: space.key, versions: [version?.key], owed: 1, seen: 0 }])
    expect(visible(space)).toEqual(['one'])
    expect(store.rows('SELECT version_key, due FROM vectors_due')).toEqual([{ version_key: version?.key, due: 1 }])
  })

  it('cause no wait when no document has a passage', async () => {
    const space = store.createSpace({ model: PROVIDED })
    let isAsked = false
    store.context.vectors.waitForVectors = async () => {
      isAsked = true
    }
    await compiled(space, await store.uploadAndClaim(space, { 'empty.md': '' }))
    expect(stages()).toEqual(['published'])
    expect(isAsked).toBe(false)
  })
})

describe('a failed compilation job', () => {
  const failure = { code: 'unsupported-media-type', message: 'it is a picture of a cat' }

  it('stores the reason in its document, and its commit expires by the retention policy', async () => {
    const retentionPolicy = { ...DEFAULT_POLICIES.retentionPolicy, failedCommitRetentionDays: 3 }
    const space = store.createSpace({ policies: { retentionPolicy } })
    const [work] = await store.uploadAndClaim(space, { 'a.md': 'one' })
    if (work === undefined) throw new Error('nothing was claimed')
    const before = Date.now()
    await failJob(store.context, space, work, failure)
    expect(store.job(work.job.id)).toMatchObject({ stage: 'failed', error: failure.message, claimed_by: null })
    expect(documents()).toEqual([{ filename: 'a.md', status: 'failed', code: failure.code }])
    const [commit] = store.rows<{ status: string; expires_at: number }>('SELECT status, expires_at FROM staged_commits')
    expect(commit?.status).toBe('failed-terminal')
    expect(Math.round(((commit?.expires_at ?? 0) - before) / (24 * 60 * 60 * 1000))).toBe(3)
  })

  it('removes its own rows and index entries, and keeps those of the published version', async () => {
    const space = store.createSpace()
    const [first] = await store.uploadAndClaim(space, { 'a.md': 'text' })
    if (first === undefined) throw new Error('nothing was claimed')
    await compiled(space, [first])
    store.addJob(space, first.document.key)
    const work = store.claimJob(first.document.key)
    store.indexes.failing.set('search', new Error('stumbled'))
    await expect(compiled(space, [work])).rejects.toThrow('stumbled')
    expect(store.indexes.texts(space.id)).toEqual(['text', 'text'])
    await failJob(store.context, space, work, failure)
    expect(store.indexes.texts(space.id)).toEqual(['text'])
    expect(visible(space)).toEqual(['text'])
    expect(store.rows('SELECT text FROM nodes')).toEqual([{ text: 'text' }])
    // The document still answers from its published version.
    expect(documents()).toEqual([{ filename: 'a.md', status: 'parsed', code: failure.code }])
  })

  it('ends even when the index cannot be updated', async () => {
    const space = store.createSpace()
    const [work] = await store.uploadAndClaim(space, { 'a.md': 'one' })
    if (work === undefined) throw new Error('nothing was claimed')
    store.indexes.failing.set('search', new Error('stumbled'))
    await expect(compiled(space, [work])).rejects.toThrow('stumbled')
    store.indexes.failing.set('follow', new Error('gone'))
    await failJob(store.context, space, work, failure)
    expect(stages()).toEqual(['failed'])
    expect(store.logged).toMatchObject([{ level: 'warn', fields: { space: space.id } }])
  })

  it('stays unchanged when its worker lost the claim or the job has already ended', async () => {
    const space = store.createSpace()
    const works = await store.uploadAndClaim(space, { 'a.md': 'one', 'b.md': 'two' })
    const [lost, ended] = works.map(({ job }) => job.key)
    store.run("UPDATE jobs SET claimed_by = 'another', fence = fence + 1 WHERE key = ?", lost ?? 0)
    store.run("UPDATE jobs SET stage = 'canceled', completed_at = 1 WHERE key = ?", ended ?? 0)
    for (const work of works) await failJob(store.context, space, work, failure)
    expect(stages()).toEqual(['queued', 'canceled'])
    expect(store.rows('SELECT DISTINCT status FROM staged_commits')).toEqual([{ status: 'metadata-prepared' }])
    expect(documents().map((row) => (row as { status: string }).status)).toEqual(['pending', 'pending'])
  })
})
