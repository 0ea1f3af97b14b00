import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { canShareCommit, Publications, type StoredBatch } from '../../../../src/engine/ingest/compile/publications.js'
import { type ParsedWork, storeVersions } from '../../../../src/engine/ingest/compile/store-versions.js'
import { IndexProcessFailedError } from '../../../../src/engine/search/ports.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, PROVIDED, passages, preparedDocument, type SmallStore } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'

const { signal } = new AbortController()

let store: SmallStore
let publications: Publications
beforeEach(async () => {
  store = await openSmallStore()
  publications = new Publications(store.context)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await store.end()
})

/** Stores the version of one document with the text of its file, without updating the index. */
async function storedIn(space: SpaceRow, name: string, text = `text of ${name}`): Promise<StoredBatch> {
  const works = await store.uploadAndClaim(space, { [name]: text })
  const read: ParsedWork[] = await Promise.all(
    works.map(async (work) => ({ work, document: await preparedDocument(name, text) })),
  )
  const { built, indexUpdates } = await storeVersions(store.context, space, read, signal)
  return { space, built, indexUpdates }
}

const publish = (stored: StoredBatch) => publications.publish(stored, signal)
const published = () =>
  store
    .rows<{ filename: string }>(
      `SELECT filename FROM versions JOIN documents ON documents.key = doc_key WHERE from_revision IS NOT NULL
       ORDER BY filename`,
    )
    .map(({ filename }) => filename)

/** Records the index updates per turn of the event loop and blocks each one until it is released. */
function heldUp() {
  const { follow } = store.indexes
  const waiting: (() => void)[] = []
  const turns: number[][] = []
  vi.spyOn(store.indexes, 'follow').mockImplementation(async (space, seq, fresh) => {
    // Removals from the index do not count here.
    if (seq === 0) return
    if (waiting.length === 0) turns.push([])
    turns.at(-1)?.push(seq)
    await new Promise<void>((resolve) => waiting.push(resolve))
    await follow.call(store.indexes, space, seq, fresh)
  })
  return {
    turns,
    letGo: () => {
      for (const go of waiting.splice(0)) go()
    },
    waits: (count: number) => until(() => waiting.length === count),
  }
}

it('a small stored version is not in the index before its publication, which receives the index update', async () => {
  const space = store.createSpace()
  const { built, indexUpdates } = await storedIn(space, 'a.md')
  expect(built).toHaveLength(1)
  expect(store.indexes.texts(space.id)).toEqual([])
  // No query waits for it.
  expect(store.indexes.announced.get(space.id)).toBe(1)
  expect(indexUpdates).toMatchObject([{ seq: 1, fresh: { first: 1, seq: 1, add: [{ body: 'text of a.md' }] } }])
})

it('a lone batch reaches the index and is published at once', async () => {
  const space = store.createSpace()
  await publish(await storedIn(space, 'a.md'))
  expect(published()).toEqual(['a.md'])
  expect(store.indexes.texts(space.id)).toEqual(['text of a.md'])
})

it('batches that arrive during a publication reach the index together and are published', async () => {
  const space = store.createSpace()
  const batches = [await storedIn(space, 'a.md'), await storedIn(space, 'b.md'), await storedIn(space, 'c.md')]
  const held = heldUp()
  const first = publish(batches[0]!)
  await held.waits(1)
  const others = [publish(batches[1]!), publish(batches[2]!)]
  held.letGo()
  await first
  expect(published()).toEqual(['a.md'])
  await held.waits(2)
  held.letGo()
  await Promise.all(others)
  expect(held.turns).toEqual([[1], [2, 3]])
  expect(published()).toEqual(['a.md', 'b.md', 'c.md'])
})

it('a failing batch does not fail the batches that are published together with it', async () => {
  const space = store.createSpace()
  const [first, bad, good] = [
    await storedIn(space, 'a.md'),
    await storedIn(space, 'b.md'),
    await storedIn(space, 'c.md'),
  ]
  const held = heldUp()
  const running = publish(first)
  await held.waits(1)
  const failing = { ...bad, indexUpdates: [{ seq: 99, fresh: undefined }] }
  const others = Promise.allSettled([publish(failing), publish(good)])
  held.letGo()
  await running
  await held.waits(2)
  held.letGo()
  expect((await others).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(published()).toEqual(['a.md', 'c.md'])
  // The next publication is not blocked.
  const next = publish(bad)
  await held.waits(1)
  held.letGo()
  await next
  expect(published()).toEqual(['a.md', 'b.md', 'c.md'])
})

it('after the index process died, each batch is published alone, and only one that kills it again fails', async () => {
  const space = store.createSpace()
  const [first, bad, good] = [
    await storedIn(space, 'a.md'),
    await storedIn(space, 'b.md'),
    await storedIn(space, 'c.md'),
  ]
  const { follow } = store.indexes
  const turns: number[][] = []
  let go = () => {}
  vi.spyOn(store.indexes, 'follow').mockImplementation(async (spaceId, seq, fresh) => {
    if (seq === 0) return
    if (turns.push([seq]) === 1)
      await new Promise<void>((resolve) => {
        go = resolve
      })
    const isTogether = turns.length < 4
    if (seq !== 1 && (isTogether || seq === 2))
      throw new IndexProcessFailedError(new Error('the search index process ended'))
    await follow.call(store.indexes, spaceId, seq, fresh)
  })
  const running = publish(first)
  await until(() => turns.length === 1)
  const others = Promise.allSettled([publish(bad), publish(good)])
  go()
  await running
  expect((await others).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(turns).toEqual([[1], [2], [3], [2], [3]])
  expect(published()).toEqual(['a.md', 'c.md'])
})

it('the next publication waits briefly while more batches of the space are running', async () => {
  const space = store.createSpace()
  const batches = [await storedIn(space, 'a.md'), await storedIn(space, 'b.md'), await storedIn(space, 'c.md')]
  let isMoreComing = true
  publications = new Publications(store.context, (key) => key === space.key && isMoreComing)
  const turns = heldUp()
  const first = publish(batches[0]!)
  await turns.waits(1)
  turns.letGo()
  await first
  const second = publish(batches[1]!)
  const third = publish(batches[2]!)
  isMoreComing = false
  await turns.waits(2)
  turns.letGo()
  await Promise.all([second, third])
  expect(turns.turns).toEqual([[1], [2, 3]])
})

it('batches of different spaces do not wait for each other', async () => {
  const [one, other] = [await storedIn(store.createSpace(), 'a.md'), await storedIn(store.createSpace(), 'b.md')]
  const { follow } = store.indexes
  let go = () => {}
  vi.spyOn(store.indexes, 'follow').mockImplementationOnce(async (...args) => {
    await new Promise<void>((resolve) => {
      go = resolve
    })
    await follow.apply(store.indexes, args)
  })
  const first = publish(one)
  await publish(other)
  expect(published()).toEqual(['b.md'])
  go()
  await first
  expect(published()).toEqual(['a.md', 'b.md'])
})

it('only small batches without a provider for vectors may share a publication with other batches', async () => {
  const large = passages(...Array.from({ length: 300 }, (_, n) => `passage ${n}`))
  expect(canShareCommit(await storedIn(store.createSpace(), 'a.md'))).toBe(true)
  expect(canShareCommit(await storedIn(store.createSpace(), 'a.md', large))).toBe(false)
  expect(canShareCommit(await storedIn(store.createSpace({ model: PROVIDED }), 'a.md'))).toBe(false)
})

it('the publication of a batch without any version left ends when the index is up to date', async () => {
  const space = store.createSpace()
  const { indexUpdates } = await storedIn(space, 'a.md')
  await publish({ space, built: [], indexUpdates })
  expect(published()).toEqual([])
  expect(store.indexes.stateOf(space.id).seq).toBe(1)
})
