import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { publishBatch } from '../../../../src/engine/ingest/compile/publish.js'
import type { BuiltWork, CompileWork } from '../../../../src/engine/ingest/compile/work.js'
import type { EmbeddedNodes } from '../../../../src/engine/library/embedding/embeddings.js'
import { hideDocuments } from '../../../../src/engine/library/rows/hide-documents.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import {
  openSmallStore,
  PROVIDED,
  passages,
  preparedDocument,
  type SmallStore,
  vectorOf,
} from '../../../helpers/store.js'
import { storeAndIndex } from './store-and-index.js'

const signal = new AbortController().signal
/** More vectors than one transaction stores. */
const MANY = 600

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

/** Stores versions of documents with the passages of their text. */
async function build(space: SpaceRow, works: CompileWork[], texts: string[]): Promise<BuiltWork[]> {
  const read = await Promise.all(
    works.map(async (work, place) => ({
      work,
      document: await preparedDocument(work.document.filename, texts[place] ?? ''),
    })),
  )
  return (await storeAndIndex(store.context, space, read, signal)).built
}

/** Uploads files and stores their versions with the text of each file. */
async function built(space: SpaceRow, files: Record<string, string>): Promise<BuiltWork[]> {
  return build(space, await store.uploadAndClaim(space, files), Object.values(files))
}

/** An active trained model of dimension two. */
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

function embeddedWith(vectorSpace: VectorSpace, items: readonly BuiltWork[]): EmbeddedNodes {
  return { vectorSpace, vectors: items.flatMap(({ nodes }) => nodes.map(({ text }) => vectorOf(text))) }
}

const publish = (space: SpaceRow, items: BuiltWork[], embedded?: EmbeddedNodes) =>
  publishBatch(store.context, space, items, embedded)

/** What readers of the current revision see: documents by name, with version and passages. */
function visible(space: SpaceRow) {
  return store.rows(
    `SELECT filename, versions.version, node_count nodes, from_revision revision FROM versions
     JOIN documents ON documents.key = versions.doc_key
     WHERE versions.space_key = ? AND from_revision IS NOT NULL AND until_revision IS NULL AND deleted_at IS NULL
     ORDER BY filename`,
    space.key,
  )
}

const stages = () => store.rows<{ stage: string }>('SELECT stage FROM jobs ORDER BY key').map(({ stage }) => stage)
const commits = () =>
  store.rows<{ status: string }>('SELECT status FROM staged_commits ORDER BY id').map(({ status }) => status)
const vectorKeys = (vectorSpace: VectorSpace) =>
  store
    .rows<{ node_key: number }>('SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY 1', vectorSpace.key)
    .map(({ node_key }) => node_key)
const keysOf = (items: readonly BuiltWork[]) => items.flatMap(({ nodes }) => nodes.map(({ key }) => key))
const headOf = (space: SpaceRow) => store.reload(space).head_revision

describe('the publication of a batch', () => {
  it('publishes all of its documents by one revision and updates jobs, commits and documents', async () => {
    const space = store.createSpace()
    const items = await built(space, { 'a.md': passages('one', 'two'), 'b.md': 'three' })
    expect(visible(space)).toEqual([])
    expect(await publish(space, items)).toBe(true)
    expect(visible(space)).toEqual([
      { filename: 'a.md', version: 1, nodes: 2, revision: 1 },
      { filename: 'b.md', version: 1, nodes: 1, revision: 1 },
    ])
    expect(headOf(space)).toBe(1)
    expect(stages()).toEqual(['published', 'published'])
    expect(commits()).toEqual(['published', 'published'])
    expect(store.rows('SELECT completed_at IS NOT NULL ended, claimed_by, error FROM jobs')).toEqual(
      Array.from({ length: 2 }, () => ({ ended: 1, claimed_by: null, error: null })),
    )
    expect(store.rows('SELECT parser_status, version, error, mime_type FROM documents')).toEqual(
      Array.from({ length: 2 }, () => ({ parser_status: 'parsed', version: 1, error: null, mime_type: 'text/plain' })),
    )
    expect(store.indexes.texts(space.id)).toEqual(['one', 'three', 'two'])
    expect(store.logged).toEqual([])
  })

  it('notifies the background services of its space', async () => {
    const told: string[] = []
    store.context.pageIndexes.notePublication = (key) => void told.push(`pages of ${key}`)
    store.context.conflicts.published = (key) => void told.push(`conflicts of ${key}`)
    const space = store.createSpace()
    const items = await built(space, { 'a.md': 'one' })
    expect(told).toEqual([])
    await publish(space, items)
    expect(told.sort()).toEqual([`conflicts of ${space.key}`, `pages of ${space.key}`])
  })

  it('includes jobs that an earlier run had advanced further', async () => {
    const space = store.createSpace()
    const items = await built(space, { 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' })
    store.run("UPDATE jobs SET stage = 'projection_built' WHERE key = ?", items[0]?.job.key ?? 0)
    store.run("UPDATE jobs SET stage = 'smoke_eval_passed' WHERE key = ?", items[1]?.job.key ?? 0)
    await publish(space, items)
    expect(stages()).toEqual(['published', 'published', 'published'])
    expect(visible(space)).toHaveLength(3)
  })

  it('omits jobs that have ended meanwhile, without a log entry', async () => {
    const space = store.createSpace()
    const items = await built(space, { 'a.md': 'one', 'b.md': 'two' })
    store.run(
      "UPDATE jobs SET stage = 'canceled', completed_at = 1, claimed_by = NULL WHERE key = ?",
      items[0]?.job.key ?? 0,
    )
    expect(await publish(space, items)).toBe(true)
    expect(visible(space)).toMatchObject([{ filename: 'b.md' }])
    expect(stages()).toEqual(['canceled', 'published'])
    expect(store.logged).toEqual([])
  })

  it('omits jobs that other workers took over, and adds no revision when none remains', async () => {
    const space = store.createSpace()
    const vectorSpace = trainedModel(space)
    const items = await built(space, { 'a.md': 'one', 'b.md': 'two' })
    const [lost, kept] = items
    store.run("UPDATE jobs SET claimed_by = 'another', fence = fence + 1 WHERE key = ?", lost?.job.key ?? 0)
    expect(await publish(space, items, embeddedWith(vectorSpace, items))).toBe(true)
    expect(visible(space)).toMatchObject([{ filename: 'b.md' }])
    expect(vectorKeys(vectorSpace)).toEqual(kept?.nodes.map(({ key }) => key))
    expect(store.job(lost?.job.key ?? 0)).toMatchObject({
      stage: 'nodes_generated',
      claimed_by: 'another',
      error: null,
    })
    expect(store.logged).toMatchObject([{ level: 'warn', fields: { job: lost?.job.id } }])
    expect(await publish(space, lost === undefined ? [] : [lost], undefined)).toBe(true)
    expect(headOf(space)).toBe(1)
  })

  it('omits a job that the same gateway has claimed again', async () => {
    const space = store.createSpace()
    const items = await built(space, { 'a.md': 'one' })
    store.run('UPDATE jobs SET fence = fence + 1')
    expect(await publish(space, items)).toBe(true)
    expect(visible(space)).toEqual([])
  })

  it('succeeds for a space that is being deleted', async () => {
    const space = store.createSpace()
    const items = await built(space, { 'a.md': 'one' })
    store.run('UPDATE spaces SET deleted_at = 1')
    expect(await publish(space, items)).toBe(true)
  })
})

describe('vectors of a trained model', () => {
  it('enter the rows and the index when their batch is published, each for its passage', async () => {
    const space = store.createSpace()
    const vectorSpace = trainedModel(space)
    const items = await built(space, { 'a.md': passages('one', 'twotwo'), 'b.md': 'three' })
    const embedded = embeddedWith(vectorSpace, items)
    // The model knows no word of this passage.
    embedded.vectors[1] = undefined
    expect(await publish(space, items, embedded)).toBe(true)
    const [first, , third] = keysOf(items)
    expect(vectorKeys(vectorSpace)).toEqual([first, third])
    expect(store.indexes.vectorKeys(space.id, vectorSpace.id)).toEqual([first, third])
    const held = store.indexes.stateOf(space.id).vectors.get(vectorSpace.id)
    expect(held?.get(third ?? 0)).toEqual({ doc: items[1]?.document.key, vector: vectorOf('three') })
  })

  it('prevent the publication of their batch when the space no longer uses their model', async () => {
    const space = store.createSpace()
    const old = trainedModel(space)
    const items = await built(space, { 'a.md': 'one' })
    const current = trainedModel(store.reload(space))
    expect(await publish(space, items, embeddedWith(old, items))).toBe(false)
    expect(visible(space)).toEqual([])
    expect(vectorKeys(old)).toEqual([])
    expect(stages()).toEqual(['nodes_generated'])
    // Embedded before the model existed.
    expect(await publish(space, items)).toBe(false)
    expect(headOf(space)).toBe(0)
    expect(await publish(space, items, embeddedWith(current, items))).toBe(true)
    expect(vectorKeys(current)).toEqual(keysOf(items))
  })

  it('do not matter for a document without text, which is published with any model', async () => {
    const space = store.createSpace()
    const items = await built(space, { 'a.md': '' })
    trainedModel(space)
    expect(await publish(space, items)).toBe(true)
    expect(visible(space)).toMatchObject([{ nodes: 0 }])
  })

  it('reach the rows and the index in slices before the publication when they are many', async () => {
    const space = store.createSpace()
    const vectorSpace = trainedModel(space)
    const texts = passages(...Array.from({ length: MANY }, (_, n) => `passage ${n}`))
    const items = await built(space, { 'a.md': texts, 'b.md': 'small' })
    const seen: number[] = []
    store.betweenSteps = () => {
      expect(headOf(space)).toBe(0)
      seen.push(vectorKeys(vectorSpace).length)
    }
    expect(await publish(space, items, embeddedWith(vectorSpace, items))).toBe(true)
    expect(vectorKeys(vectorSpace)).toEqual(keysOf(items))
    expect(store.indexes.vectorKeys(space.id, vectorSpace.id)).toEqual(keysOf(items))
    expect(seen.length).toBeGreaterThan(2)
    expect(store.indexes.vectorBatches.length).toBeGreaterThan(2)
    expect(store.indexes.vectorBatches.reduce((sum, n) => sum + n, 0)).toBe(MANY + 1)
    expect(visible(space)).toHaveLength(2)
  })

  it('end a sliced publication when their model is replaced meanwhile', async () => {
    const space = store.createSpace()
    const vectorSpace = trainedModel(space)
    const texts = passages(...Array.from({ length: MANY }, (_, n) => `passage ${n}`))
    const items = await built(space, { 'a.md': texts })
    store.betweenSteps = () => {
      store.betweenSteps = () => undefined
      trainedModel(store.reload(space))
    }
    expect(await publish(space, items, embeddedWith(vectorSpace, items))).toBe(false)
    expect(vectorKeys(vectorSpace).length).toBeLessThan(MANY)
    expect(headOf(space)).toBe(0)
  })

  it.each(['taken over', 'given up', 'deleted with its space'])(
    'stop being stored for a version that was %s between slices',
    async (how) => {
      const space = store.createSpace()
      const vectorSpace = trainedModel(space)
      const texts = passages(...Array.from({ length: MANY }, (_, n) => `passage ${n}`))
      const items = await built(space, { 'a.md': texts, 'b.md': 'small' })
      let before = 0
      store.betweenSteps = () => {
        store.betweenSteps = () => undefined
        before = vectorKeys(vectorSpace).length
        if (how === 'taken over') store.run("UPDATE jobs SET claimed_by = 'x' WHERE key = ?", items[0]?.job.key ?? 0)
        else if (how === 'given up') store.run('UPDATE versions SET until_revision = 0 WHERE node_count > 1')
        else store.run('UPDATE spaces SET deleted_at = 1')
      }
      expect(await publish(space, items, embeddedWith(vectorSpace, items))).toBe(true)
      expect(before).toBeGreaterThan(0)
      // Those of the other versions are stored.
      const others = how === 'deleted with its space' ? [] : (items[1]?.nodes.map(({ key }) => key) ?? [])
      expect(vectorKeys(vectorSpace)).toEqual([...keysOf(items).slice(0, before), ...others])
      expect(store.indexes.vectorKeys(space.id, vectorSpace.id)).toEqual(vectorKeys(vectorSpace))
    },
  )
})

describe('vectors of a provider', () => {
  it('become due for passages published without them', async () => {
    const space = store.createSpace({ model: PROVIDED })
    const items = await built(space, { 'a.md': passages('one', 'two'), 'empty.md': '' })
    expect(await publish(space, items)).toBe(true)
    expect(store.rows('SELECT version_key, due FROM vectors_due')).toEqual([
      { version_key: items[0]?.versionKey, due: 2 },
    ])
  })

  it('never become due in a space with the built-in model', async () => {
    const space = store.createSpace()
    await publish(space, await built(space, { 'a.md': 'one' }))
    expect(store.rows('SELECT * FROM vectors_due')).toEqual([])
  })
})

describe('the replacement of versions and documents by a publication', () => {
  /** Compiles a document again. */
  async function anew(space: SpaceRow, docKey: number, text: string): Promise<BuiltWork[]> {
    store.addJob(space, docKey)
    return build(space, [store.claimJob(docKey)], [text])
  }

  it('removes the previous version from the index and keeps its rows for a while', async () => {
    const space = store.createSpace()
    const [first] = await built(space, { 'a.md': passages('one', 'two') })
    if (first === undefined) throw new Error('nothing was built')
    await publish(space, [first])
    for (const version of [2, 3, 4, 5]) {
      await publish(space, await anew(space, first.document.key, `text ${version}`))
      expect(visible(space)).toEqual([{ filename: 'a.md', version, nodes: 1, revision: version }])
      expect(store.indexes.texts(space.id)).toEqual([`text ${version}`])
    }
    expect(store.rows('SELECT version, until_revision, obsolete_at IS NOT NULL old FROM versions')).toEqual([
      { version: 1, until_revision: 2, old: 1 },
      { version: 2, until_revision: 3, old: 1 },
      { version: 3, until_revision: 4, old: 0 },
      { version: 4, until_revision: 5, old: 0 },
      { version: 5, until_revision: null, old: 0 },
    ])
  })

  it('replaces the text and the bytes of a document by a new upload of its name', async () => {
    const space = store.createSpace()
    const [old] = await built(space, { 'a.md': 'before' })
    if (old === undefined) throw new Error('nothing was built')
    await publish(space, [old])
    const others = await built(space, { 'b.md': 'other' })
    await publish(space, others)
    const items = await built(space, { 'a.md': 'after' })
    expect(await store.context.objects.describe(old.document.object_key)).toBeDefined()
    await publish(space, items)
    expect(visible(space)).toMatchObject([{ filename: 'a.md', revision: 3 }, { filename: 'b.md' }])
    expect(store.indexes.texts(space.id)).toEqual(['after', 'other'])
    expect(items[0]?.document.key).toBe(old.document.key)
    expect(store.rows('SELECT key FROM documents WHERE deleted_at IS NOT NULL')).toEqual([])
    expect(await store.context.objects.describe(old.document.object_key)).toBeUndefined()
    expect(await store.context.objects.describe(items[0]?.document.object_key ?? '')).toBeDefined()
  })

  it('publishes no version older than the newest upload of its name', async () => {
    const space = store.createSpace()
    const late = await built(space, { 'a.md': 'older' })
    const newer = await built(space, { 'a.md': 'newer' })
    await publish(space, late)
    expect(visible(space)).toEqual([])
    await publish(space, newer)
    await publish(space, late)
    expect(visible(space)).toMatchObject([{ filename: 'a.md', revision: 1 }])
    expect(store.indexes.texts(space.id)).toEqual(['newer'])
    expect(store.rows('SELECT key FROM documents WHERE deleted_at IS NOT NULL')).toEqual([])
  })

  it('ignores older documents of the same name that were deleted before', async () => {
    const space = store.createSpace()
    const [old] = await built(space, { 'a.md': 'before' })
    if (old === undefined) throw new Error('nothing was built')
    await publish(space, [old])
    store.write(() => hideDocuments(space.key, [old.document], 2, 7))
    await publish(space, await built(space, { 'a.md': 'after' }))
    expect(store.rows('SELECT deleted_at FROM documents ORDER BY key')).toEqual([
      { deleted_at: 7 },
      { deleted_at: null },
    ])
  })
})
