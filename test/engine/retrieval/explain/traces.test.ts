import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExplainBody } from '../../../../src/contract/gateway/explain.js'
import type { RetrievalProfileBody } from '../../../../src/contract/gateway/retrieval-profile.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { decidingStage, documentIdIn, explainIn, makeSpace, PROFILE, SMALL, stageOf, withProfileIn } from './planted.js'

let test: TestEngine
let small = ''

const explain = (spaceId: string, body: Partial<ExplainBody>) => explainIn(test.engine, spaceId, body)
const documentId = (spaceId: string, filename: string) => documentIdIn(test.engine, spaceId, filename)
const withProfile = <T>(spaceId: string, change: Partial<RetrievalProfileBody>, action: () => Promise<T>) =>
  withProfileIn(test.engine, spaceId, change, action)

beforeAll(async () => {
  test = await startEngine()
  small = await makeSpace(test.engine, 'small')
  await ingest(test.engine, ADA, small, SMALL)
})
afterAll(() => test.end())

describe('a stored trace', () => {
  it('can be explained by its record, and by a repetition of its query if that gives the same evidence', async () => {
    const spaceId = await makeSpace(test.engine, 'traces')
    await ingest(test.engine, ADA, spaceId, { 'tides.md': SMALL['tides.md'], 'bread.md': SMALL['bread.md'] })
    const set = (topK: number) => test.engine.spaces.setRetrievalProfile(ADA, spaceId, { ...PROFILE, topK })
    await set(1)
    const { traceId } = await ask(test.engine, ADA, spaceId, 'highest tides of the moon over flour')
    const shown = await explain(spaceId, { traceId, path: 'tides.md' })
    expect(shown).toMatchObject({ verdict: 'shown', verdictNow: 'shown', trace: { rank: 1, reproduced: true } })
    const left = await explain(spaceId, { traceId, path: 'bread.md' })
    expect(left).toMatchObject({ verdict: 'beyond-top-k', trace: { id: traceId, reproduced: true } })

    await ingest(test.engine, ADA, spaceId, { 'flour.md': 'The highest tides of the moon, over flour.' })
    const later = await explain(spaceId, { traceId, path: 'flour.md' })
    expect(later).toMatchObject({ verdict: 'not-published', trace: { reproduced: false } })
    expect(decidingStage(later)).toMatchObject({ stage: 'trace', reason: 'published-later' })
    expect(later.trace!.headRevisionNow).toBeGreaterThan(later.trace!.headRevisionThen!)

    const unknowable = await explain(spaceId, { traceId, path: 'bread.md' })
    expect(unknowable).toMatchObject({ verdict: 'unknowable', verdictNow: 'beyond-top-k' })
    expect(unknowable.hint).toMatch(/ask the question again/)
  })

  it('explains that its query was limited to other documents', async () => {
    const bread = await documentId(small, 'bread.md')
    const { traceId } = await ask(test.engine, ADA, small, 'highest tides', { activeDocumentIds: [bread] })
    const found = await explain(small, { traceId, path: 'tides.md' })
    expect(found.verdict).toBe('out-of-scope')
  })

  it('cannot be explained by other tenants or subjects, or in another space', async () => {
    const { traceId } = await ask(test.engine, ADA, small, 'highest tides')
    const body = ExplainBody.parse({ traceId, path: 'tides.md' })
    await expect(test.engine.queries.explain(BOB, small, body)).rejects.toMatchObject({ code: 'not-found' })
    const carol = { tenant: ADA.tenant, subject: 'carol' }
    await expect(test.engine.queries.explain(carol, small, body)).rejects.toMatchObject({ code: 'not-found' })
    await expect(test.engine.queries.explain(ADA, await makeSpace(test.engine, 'other'), body)).rejects.toMatchObject({
      code: 'not-found',
    })
  })
})

describe('the explanation of a query in a mode other than fast', () => {
  const modes: RetrievalProfileBody['modes'] = ['fast', 'deep', 'research']

  it.each(['deep', 'research'] as const)(
    'in %s mode describes the stages of fast mode, and whether the requested mode shows the document',
    async (mode) => {
      const shown = await withProfile(small, { modes }, () =>
        explain(small, { query: 'When do the highest tides come?', path: 'tides.md', mode }),
      )
      expect(shown).toMatchObject({ verdict: 'shown', mode: 'fast' })
      expect(stageOf(shown, 'mode')).toMatchObject({ outcome: 'passed', reason: 'shown-by-mode', figures: { mode } })
      const not = await withProfile(small, { modes, defaultMode: mode }, () =>
        explain(small, { query: 'When do the highest tides come?', path: 'bread.md' }),
      )
      expect(not.verdict).toBe('no-term-in-common')
      expect(stageOf(not, 'mode')).toMatchObject({ outcome: 'missed', reason: 'not-by-mode' })
    },
  )

  it('names the mode of a trace, and reports unknowable for a document that the trace does not contain', async () => {
    await withProfile(small, { modes, defaultMode: 'research' }, async () => {
      const { traceId } = await ask(test.engine, ADA, small, 'When do the highest tides come?')
      const shown = await explain(small, { traceId, path: 'tides.md' })
      expect(shown).toMatchObject({ verdict: 'shown', trace: { mode: 'research', rank: 1 } })
      const not = await explain(small, { traceId, path: 'bread.md' })
      expect(not).toMatchObject({ verdict: 'unknowable', verdictNow: 'no-term-in-common' })
      expect(stageOf(not, 'mode')?.reason).toBe('fast-only')
    })
  })
})
