import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROW_TABLES } from '../../../../src/engine/upkeep/rows/bundles/tables.js'
import { exportBundle, importBundle, listDifferences, readRowCounts } from '../../../helpers/bundles.js'
import { ADA, ask, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { createFullSpace, type FilledSpace } from '../../../helpers/filled-space.js'

/** A caller of another tenant who may read the sources of the space. */
const AWAY = { tenant: 'tenant-b', subject: 'ada' }
const QUESTION = 'What does the keeper fill the lamp with?'

describe('a space that is moved to another store', () => {
  let one: TestEngine
  let other: TestEngine
  let filled: FilledSpace
  let bundle: Buffer

  beforeAll(async () => {
    one = await startEngine({ sources: { egressAllow: ['127.0.0.0/8'] } })
    other = await startEngine()
    filled = await createFullSpace(one.engine)
    bundle = await exportBundle(one.engine, ADA, [filled.space])
    await importBundle(other.engine, AWAY, bundle)
  }, 240_000)

  afterAll(async () => {
    await one.end()
    await other.end()
  })

  it('exports rows of every table that a bundle can contain, except results of paid models', async () => {
    const held = await readRowCounts(bundle)
    // Results of paid models exist only where a model ran.
    const paid = ['conflict_verdicts', 'research_costs']
    const expected = ROW_TABLES.filter((table) => !paid.includes(table))
    expect(Object.keys(held).filter((table) => table !== 'spaces')).toEqual(expect.arrayContaining(expected))
  })

  it('F64: exports the same bundle before and after the move', async () => {
    expect(await listDifferences(bundle, await exportBundle(one.engine, ADA, [filled.space]))).toEqual([])
    expect(await listDifferences(bundle, await exportBundle(other.engine, AWAY, [filled.space]))).toEqual([])
  })

  it('answers a question with the same text and citations as before the move', async () => {
    const here = await ask(one.engine, ADA, filled.space, QUESTION)
    const there = await ask(other.engine, AWAY, filled.space, QUESTION)
    const cited = ({ done }: typeof here) =>
      (done.metadata?.evidenceBundle?.items ?? []).map(({ nodeId, text, citations }) => ({
        nodeId,
        text,
        documents: citations.map(({ documentAssetId, documentVersion }) => [documentAssetId, documentVersion]),
      }))
    expect(there.answer).toBe(here.answer)
    expect(there.answer).toContain('colza oil')
    expect(cited(there)).toEqual(cited(here))
    expect(cited(there)[0]?.documents[0]?.[0]).toBe(filled.lamps)
    expect(there.done.metadata?.degraded).toBe(false)
  })

  it('passes fsck, shows old traces, and hides its sources from readers without permission', async () => {
    for (const check of ['raw-objects', 'references', 'artifact-segments'] as const) {
      const { issues } = await other.engine.integrity.fsck(AWAY, filled.space, { check, deep: false })
      expect(issues).toEqual([])
    }
    expect(await other.engine.queries.trace(AWAY, filled.ids.traceId ?? '')).toMatchObject({ id: filled.ids.traceId })
    const stranger = { tenant: 'tenant-b', subject: 'eve' }
    const seen = await other.engine.documents.list(stranger, filled.space, { limit: 100 })
    expect(seen.items.map(({ id }) => id)).not.toContain(filled.documents[0])
    await expect(exportBundle(other.engine, stranger, [filled.space])).rejects.toMatchObject({ code: 'scope-missing' })
  })

  it('can be imported once per store, and only under a free slug', async () => {
    await expect(importBundle(other.engine, AWAY, bundle)).rejects.toMatchObject({ code: 'slug-taken' })
    await expect(importBundle(other.engine, AWAY, bundle, { slug: 'again' })).rejects.toMatchObject({
      code: 'id-taken',
    })
    await expect(importBundle(other.engine, ADA, bundle)).rejects.toMatchObject({ code: 'id-taken' })
  })
})
