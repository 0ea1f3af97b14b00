import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportBundle, importBundle, listFiles, readRowCounts } from '../../../helpers/bundles.js'
import { ADA, ask, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { createFullSpace, type FilledSpace } from '../../../helpers/filled-space.js'
import { until } from '../../../helpers/until.js'

const BOB = { tenant: 'tenant-b', subject: 'bob' }
const QUESTION = 'What does the keeper fill the lamp with?'

describe('a copy of a space in the same store', () => {
  let store: TestEngine
  let filled: FilledSpace
  let bundle: Buffer
  let copy: string

  beforeAll(async () => {
    store = await startEngine({ sources: { egressAllow: ['127.0.0.0/8'] } })
    filled = await createFullSpace(store.engine)
    bundle = await exportBundle(store.engine, ADA, [filled.space])
    const { spaces } = await importBundle(store.engine, ADA, bundle, { as: 'copy' })
    copy = spaces[0]?.id ?? ''
  }, 240_000)
  afterAll(() => store.end())

  /** Documents and passages that an answer of a space cites. */
  async function cited(space: string) {
    const { answer, done } = await ask(store.engine, ADA, space, QUESTION)
    expect(answer).toContain('colza oil')
    const items = done.metadata?.evidenceBundle?.items ?? []
    return {
      nodes: items.map(({ nodeId }) => nodeId),
      documents: items.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId)),
    }
  }

  const idsIn = async (space: string) =>
    new Set((await store.engine.documents.list(ADA, space, { limit: 100 })).items.map(({ id }) => id))

  it('keeps the same rows in every table, under new ids', async () => {
    const again = await exportBundle(store.engine, ADA, [copy])
    expect(await readRowCounts(again)).toEqual(await readRowCounts(bundle))
    const idOf =
      /"(?:id|document|source_id|owner|trace_id|task_id|review_id|publication_id|vector_space|parent_id|artifact_id|nodeId|documentAssetId|traceId)":"([0-9a-f]{8}-[0-9a-f-]{27})"/g
    const texts = async (bytes: Buffer) =>
      (await listFiles(bytes)).map(({ bytes: file }) => file.toString('latin1').replaceAll('\\"', '"')).join('')
    const [before, after] = [await texts(bundle), await texts(again)]
    const old = new Set([...before.matchAll(idOf)].map(([, id = '']) => id))
    expect(old.size).toBeGreaterThan(100)
    const kept = [...after.matchAll(idOf)].filter(([, id = '']) => old.has(id))
    expect(kept.map(({ index, 0: found }) => after.slice(Math.max(0, index - 200), index + found.length))).toEqual([])
  })

  it('cites its own documents, and the original keeps citing its own', async () => {
    const [there, here] = [await cited(copy), await cited(filled.space)]
    const [copies, originals] = [await idsIn(copy), await idsIn(filled.space)]
    expect(there.documents.every((id) => copies.has(id))).toBe(true)
    expect(here.documents.every((id) => originals.has(id))).toBe(true)
    expect(there.nodes.filter((id) => here.nodes.includes(id))).toEqual([])
  })

  it('keeps golden questions, which expect passages of the copy', async () => {
    const { items } = await store.engine.quality.golden.list(ADA, copy, { limit: 10 })
    const original = await store.engine.quality.golden.list(ADA, filled.space, { limit: 10 })
    expect(items.map(({ question }) => question)).toEqual(original.items.map(({ question }) => question))
    const [mine, theirs] = [items, original.items].map((list) => list.flatMap((one) => one.expectedEvidenceIds))
    expect(mine).toHaveLength(theirs?.length ?? 0)
    expect(mine?.filter((id) => theirs?.includes(id))).toEqual([])
  })

  it('passes fsck, lists the same number of documents for another reader, and refuses its export', async () => {
    for (const check of ['raw-objects', 'references', 'artifact-segments'] as const) {
      const { issues } = await store.engine.integrity.fsck(ADA, copy, { check, deep: false })
      expect(issues).toEqual([])
    }
    const eve = { ...ADA, subject: 'eve' }
    const count = async (space: string) => (await store.engine.documents.list(eve, space, { limit: 100 })).items.length
    expect(await count(copy)).toBe(await count(filled.space))
    await expect(exportBundle(store.engine, eve, [copy])).rejects.toMatchObject({ code: 'scope-missing' })
  })

  it('cannot be imported under an existing slug or with existing ids, and the error suggests --as NAME', async () => {
    const advice = expect.stringContaining('--as NAME')
    await expect(importBundle(store.engine, ADA, bundle)).rejects.toMatchObject({ code: 'slug-taken', message: advice })
    await expect(importBundle(store.engine, ADA, bundle, { as: 'copy' })).rejects.toMatchObject({ code: 'slug-taken' })
    await expect(importBundle(store.engine, ADA, bundle, { slug: 'other' })).rejects.toMatchObject({
      code: 'id-taken',
      message: advice,
    })
    expect((await importBundle(store.engine, BOB, bundle, { as: 'third' })).spaces).toMatchObject([{ slug: 'third' }])
  })

  it('stays complete after the original is deleted', async () => {
    await store.engine.spaces.delete(ADA, filled.space)
    await until(async () => (await store.engine.activity()).backgroundTasks === 0)
    const { documents } = await cited(copy)
    const own = await idsIn(copy)
    expect(documents.every((id) => own.has(id))).toBe(true)
    const { issues } = await store.engine.integrity.fsck(ADA, copy, { check: 'raw-objects', deep: true })
    expect(issues).toEqual([])
  })
})
