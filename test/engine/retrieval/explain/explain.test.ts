import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExplainBody } from '../../../../src/contract/gateway/explain.js'
import type { RetrievalProfileBody } from '../../../../src/contract/gateway/retrieval-profile.js'
import { explainText } from '../../../../src/engine/retrieval/explain/index-stages.js'
import { Stages } from '../../../../src/engine/retrieval/explain/stages.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import {
  decidingStage,
  documentIdIn,
  explainIn,
  makeSpace,
  plantUnindexed,
  restrict,
  SMALL,
  stageOf,
  withProfileIn,
} from './planted.js'

let test: TestEngine
/** A few documents: no embedding model, text search alone. */
let small = ''
/** Enough documents for cut-off candidates and for an embedding model. */
let large = ''

const explain = (spaceId: string, body: Partial<ExplainBody>) => explainIn(test.engine, spaceId, body)
const documentId = (spaceId: string, filename: string) => documentIdIn(test.engine, spaceId, filename)
const withProfile = <T>(spaceId: string, change: Partial<RetrievalProfileBody>, action: () => Promise<T>) =>
  withProfileIn(test.engine, spaceId, change, action)

const LARGE_DOCUMENTS = 320

function largeDocuments(): Record<string, string> {
  const topics = ['lantern', 'anchor', 'compass', 'rudder', 'sextant', 'galley', 'mast', 'keel']
  const files: Record<string, string> = {}
  for (let i = 0; i < LARGE_DOCUMENTS; i++) {
    const topic = topics[i % topics.length]!
    const other = topics[(i * 3 + 1) % topics.length]!
    files[`log/${i}.md`] =
      `# Entry ${i} of the ${topic}\n\nThe ${topic} was checked beside the ${other} on watch ${i}. ` +
      `The voyage ${'voyage '.repeat(1 + (i % 3))} went on with ${topic} and ${other}.`
  }
  for (let i = 0; i < 40; i++)
    files[`orchard/${i}.md`] = `# Trees ${i}\n\nThe walnut and the cherry bore fruit in year ${i}.`
  const filler = Array.from({ length: 150 }, (_, i) => `pebble${i} shale${i} gravel${i}`).join(' ')
  files['geology.md'] = `# Stones\n\n${filler} voyage walnut cherry ${filler.slice(0, 1500)}`
  return files
}

beforeAll(async () => {
  test = await startEngine()
  small = await makeSpace(test.engine, 'small')
  large = await makeSpace(test.engine, 'large')
  await ingest(test.engine, ADA, small, SMALL)
  await ingest(test.engine, ADA, large, largeDocuments())
  await until(
    async () => (await test.engine.activity()).backgroundTasks === 0 && (await test.engine.activity()).activeJobs === 0,
    60_000,
  )
}, 120_000)
afterAll(() => test.end())

describe('the explanation of a document in the evidence', () => {
  it('shows that the document passed every stage, and the parts of its score', async () => {
    const found = await explain(small, { query: 'When do the highest tides come?', path: 'tides.md' })
    expect(found).toMatchObject({ verdict: 'shown', mode: 'fast', document: { filename: 'tides.md' } })
    expect(found.stages.map(({ stage }) => stage)).toEqual([
      'document',
      'publication',
      'text',
      'terms',
      'text-leg',
      'vector-leg',
      'fusion',
      'rerank',
      'threshold',
      'top-k',
      'evidence',
    ])
    const { parts, score } = stageOf(found, 'rerank')!.figures as { parts: { adds: number }[]; score: number }
    expect(parts.reduce((sum, part) => sum + part.adds, 0)).toBeCloseTo(score, 2)
    expect(stageOf(found, 'terms')!.figures).toMatchObject({
      words: expect.arrayContaining([
        { word: 'When', terms: [] },
        { word: 'tides', terms: ['tide'] },
      ]),
    })
    expect(found.passage?.text).toContain('highest tides')
  })

  it('names the same passage and rank as the query itself', async () => {
    const query = 'voyage of the compass and the rudder'
    const asked = await ask(test.engine, ADA, large, query)
    const items = (await test.engine.queries.evidence(ADA, asked.traceId, { limit: 50 })).items
    const trace = await test.engine.queries.trace(ADA, asked.traceId)
    const bundle = trace.steps.at(-1)!.metadata.evidenceBundle as {
      items: { nodeId: string; citations: { documentAssetId: string }[] }[]
    }
    for (const [index, item] of bundle.items.entries()) {
      const found = await explain(large, { query, documentId: item.citations[0]!.documentAssetId })
      expect(found.verdict).toBe('shown')
      expect(found.passage?.nodeId).toBe(item.nodeId)
      expect(stageOf(found, 'top-k')!.figures.rank).toBe(index + 1)
    }
    expect(items).toHaveLength(10)
  })
})

describe('the explanation of a document that is missing in the evidence', () => {
  it('names similar documents for an unknown path', async () => {
    const found = await explain(small, { query: 'tides', path: 'sea/tides.txt' })
    expect(found.verdict).toBe('unknown-document')
    expect(decidingStage(found)).toMatchObject({ reason: 'unknown-path', figures: { similar: ['tides.md'] } })
  })

  it('reports an unknown document id', async () => {
    const found = await explain(small, { query: 'tides', documentId: '018f0000-0000-7000-8000-000000000001' })
    expect([found.verdict, decidingStage(found).reason]).toEqual(['unknown-document', 'unknown-id'])
  })

  it('reports a path suffix that matches several documents', async () => {
    const found = await explain(small, { query: 'charges', path: 'fees.md' })
    expect(decidingStage(found)).toMatchObject({
      reason: 'ambiguous-path',
      figures: { similar: expect.arrayContaining(['guide/fees.md', 'archive/fees.md']) },
    })
    expect((await explain(small, { query: 'charges', path: './guide/fees.md' })).verdict).toBe('shown')
  })

  it('reports a deleted document, even after its rows are purged', async () => {
    const [gone] = await ingest(test.engine, ADA, small, { 'gone.md': 'Seagulls nest on the roof.' })
    await test.engine.documents.delete(ADA, small, [gone!.asset.id])
    await until(async () => {
      const found = await explain(small, { query: 'seagulls', documentId: gone!.asset.id })
      expect(found.verdict).toBe('deleted')
      return decidingStage(found).figures.deletedAt === undefined
    })
  })

  it('reports a deleted document whose name a newer one has', async () => {
    // A query with an unread response keeps deleted rows alive.
    const body = { knowledgeSpaceId: small, query: 'x', activeDocumentIds: [], activeEntityIds: [] }
    const held = await test.engine.queries.start(ADA, body, new AbortController().signal)
    const [old] = await ingest(test.engine, ADA, small, { 'news.md': 'Seagulls were seen.' })
    await test.engine.documents.delete(ADA, small, [old!.asset.id])
    const [next] = await ingest(test.engine, ADA, small, { 'news.md': 'Cormorants were seen.' })
    const found = await explain(small, { query: 'seagulls', documentId: old!.asset.id })
    for await (const _ of held.frames());
    expect(found.verdict).toBe('deleted')
    expect(decidingStage(found)).toMatchObject({ reason: 'replaced', figures: { replacedBy: next!.asset.id } })
  })

  it('reports a document whose compilation is still running or was canceled', async () => {
    const upload = await test.engine.documents.upload(ADA, small, { many: true })
    const page = `${'whales swim deep and sing. '.repeat(40)}\n\n`
    await upload.add({ filename: 'long.md', content: Readable.from([Buffer.from(page.repeat(4000))]) })
    const [accepted] = await upload.commit({})
    const found = await explain(small, { query: 'whales', documentId: accepted!.asset.id })
    expect([found.verdict, decidingStage(found).reason]).toEqual(['not-published', 'not-published-yet'])
    expect(decidingStage(found).figures.jobStage).toMatch(/queued|parsed|outline_built|nodes_generated/)
    await test.engine.jobs.cancel(ADA, accepted!.compilationJob.id)
    const after = await explain(small, { query: 'whales', path: 'long.md' })
    // 7. A document whose compilation was canceled.
    expect([after.verdict, decidingStage(after).reason]).toEqual(['compile-failed', 'compile-canceled'])
  })

  it('reports a file that the parser could not read', async () => {
    await ingest(test.engine, ADA, small, { 'broken.pdf': '%PDF-1.7\nnothing that a PDF needs' })
    const found = await explain(small, { query: 'broken', path: 'broken.pdf' })
    expect([found.verdict, decidingStage(found).reason]).toEqual(['compile-failed', 'compile-failed'])
    expect(decidingStage(found).figures.error).toMatch(/broken\.pdf/)
  })

  it('reports a query that is limited to other documents', async () => {
    const activeDocumentIds = [await documentId(small, 'bread.md')]
    const found = await explain(small, { query: 'highest tides', path: 'tides.md', activeDocumentIds })
    expect([found.verdict, decidingStage(found).stage]).toEqual(['out-of-scope', 'scope'])
    const own = await explain(small, { query: 'kneading dough', path: 'bread.md', activeDocumentIds })
    expect([own.verdict, stageOf(own, 'scope')?.outcome]).toEqual(['shown', 'passed'])
  })

  it('reports a document without text', async () => {
    await ingest(test.engine, ADA, small, { 'blank.md': '\n \n' })
    const found = await explain(small, { query: 'anything', path: 'blank.md' })
    expect([found.verdict, decidingStage(found).reason]).toEqual(['no-text', 'no-text'])
  })

  it('reports a quote that no single passage contains', async () => {
    const found = await explain(small, { query: 'mooring', path: 'harbour.md', quote: 'moor at the western quay' })
    expect([found.verdict, decidingStage(found).stage]).toEqual(['passage-not-found', 'text'])
  })

  it('reports a question that shares no term with the document if no embedding model bridges them', async () => {
    const found = await explain(small, { query: 'How is pastry baked?', path: 'bread.md' })
    expect(found.verdict).toBe('no-term-in-common')
    expect(stageOf(found, 'terms')).toMatchObject({
      outcome: 'missed',
      figures: { present: [], absent: ['pastri', 'bake'] },
    })
    expect(stageOf(found, 'vector-leg')?.reason).toBe('no-model')
    expect(found.hint).toMatch(/model/)
  })

  it('reports the words of a question that were ignored as stop words', async () => {
    const found = await explain(small, { query: 'does the sea water come with nothing here', path: 'guide/fees.md' })
    expect(found.verdict).toBe('no-term-in-common')
    const { words } = stageOf(found, 'terms')!.figures as { words: { word: string; terms: string[] }[] }
    expect(words.filter(({ terms }) => terms.length === 0).map(({ word }) => word)).toEqual(['does', 'the', 'with'])
  })

  it('reports a rank beyond the candidates of text and vector search', async () => {
    const body = { query: 'lantern anchor voyage', path: 'geology.md' }
    // The model learns the words of the orchard once it is trained on all documents.
    await until(async () => stageOf(await explain(large, body), 'vector-leg')?.reason === 'beyond-limit')
    const found = await explain(large, body)
    expect([found.verdict, decidingStage(found).stage]).toEqual(['beyond-candidates', 'fusion'])
    const text = stageOf(found, 'text-leg')!
    expect(text.reason).toBe('beyond-limit')
    const { rank, score, cut, limit } = text.figures as { rank: number; score: number; cut: number; limit: number }
    expect(rank).toBeGreaterThan(limit)
    expect(rank).toBeLessThanOrEqual(LARGE_DOCUMENTS + 1)
    expect(score).toBeLessThan(cut)
    const vector = stageOf(found, 'vector-leg')!
    expect(vector.reason).toBe('beyond-limit')
    expect(vector.figures).toMatchObject({ limit: 200, score: expect.any(Number), rank: expect.any(Number) })
  })

  it('reports a fused rank beyond the reranked candidates', async () => {
    const asked = 'anchor compass voyage'
    const ranks = new Map<string, number>()
    for (let i = 0; i < 40; i++) {
      const found = await explain(large, { query: asked, path: `log/${i}.md` })
      if (found.verdict === 'beyond-rerank') {
        const fusion = stageOf(found, 'fusion')!
        expect(fusion.reason).toBe('beyond-rerank-limit')
        expect(fusion.figures.rank).toBeGreaterThan(30)
        expect(fusion.figures.score).toBeLessThanOrEqual(Number(fusion.figures.cut))
        expect(stageOf(found, 'rerank')).toBeUndefined()
        ranks.set(`${i}`, Number(fusion.figures.rank))
        break
      }
    }
    expect(ranks.size).toBe(1)
  })

  it('reports a score below the threshold of the profile', async () => {
    const found = await withProfile(small, { scoreThreshold: 0.99 }, () =>
      explain(small, { query: 'moon and flour', path: 'bread.md' }),
    )
    expect([found.verdict, decidingStage(found).stage]).toEqual(['below-threshold', 'threshold'])
    expect(decidingStage(found).figures).toMatchObject({ scoreThreshold: 0.99 })
  })

  it('reports a rank beyond topK, and in which parts of the score the last shown passage was better', async () => {
    const found = await withProfile(small, { topK: 1 }, () =>
      explain(small, { query: 'highest tides of the moon over flour', path: 'bread.md' }),
    )
    expect([found.verdict, decidingStage(found).stage]).toEqual(['beyond-top-k', 'top-k'])
    const rerank = stageOf(found, 'rerank')!.figures as {
      score: number
      lastShown: number
      parts: { adds: number; lastShownAdds: number }[]
    }
    expect(rerank.score).toBeLessThan(rerank.lastShown)
    expect(rerank.parts.some((part) => part.lastShownAdds > part.adds)).toBe(true)
  })

  it('reports a fused rank beyond topK if reranking is disabled', async () => {
    const found = await withProfile(small, { topK: 1, rerank: { enabled: false } }, () =>
      explain(small, { query: 'highest tides of the moon over flour', path: 'bread.md' }),
    )
    expect(found.verdict).toBe('beyond-top-k')
    expect(stageOf(found, 'fusion')?.reason).toBe('order-of-fusion')
    expect(stageOf(found, 'rerank')?.reason).toBe('disabled')
  })

  it('reports that another passage of the document was shown', async () => {
    const parts = ['Berths', 'Fees', 'Lights'].map((name) => {
      return `## ${name}\n\n${name === 'Fees' ? 'Pilotage is charged by draught. ' : ''}${`${name} text of the port. `.repeat(90)}`
    })
    await ingest(test.engine, ADA, small, { 'port.md': `# Port\n\n${parts.join('\n\n')}` })
    const body = { query: 'How is pilotage charged, by draught?', path: 'port.md', quote: 'Lights text of the port.' }
    const found = await withProfile(small, { topK: 1 }, () => explain(small, body))
    expect(found.verdict).toBe('other-passage-shown')
    expect(stageOf(found, 'evidence')).toMatchObject({ reason: 'other-passage-shown', figures: { ranks: [1] } })
    const own = await withProfile(small, { topK: 1 }, () => explain(small, { ...body, quote: 'Pilotage is  CHARGED' }))
    expect(own.verdict).toBe('shown')
  })

  it('reports a document that the text index does not contain', async () => {
    await plantUnindexed(test.dataDir, 'hidden.md', 'Puffins live in burrows.')
    const found = await explain(small, { query: 'Where do puffins live?', path: 'hidden.md' })
    expect([found.verdict, stageOf(found, 'text-leg')?.reason]).toEqual(['index-behind', 'not-in-index'])
  })

  it('reports a text index that has not applied the newest change', () => {
    const nothing = {
      hits: [],
      textCount: 0,
      textEngine: 'tantivy' as const,
      degraded: ['the text index is catching up'],
    }
    const found = { ...nothing, vectorCount: 0, frequencies: new Map(), rewordings: [], textMs: 0, vectorMs: 0 }
    const hits = { ...found, vectorMethod: 'none' as const }
    const passages = { selected: new Map(), all: new Set([7]), termCounts: new Map([['guillemot', 1]]) }
    const stages = new Stages()
    const record = {
      ...{ embedding: { embedded: undefined }, found: hits, hits: [] },
      ...{ compared: [], ranked: [], copyOf: new Map<number, number>() },
    }
    const probed = { own: hits, wide: hits, watermark: { applied: 3, newest: 5 } }
    explainText({ record, passages, terms: ['guillemot'] }, probed, stages)
    expect(stages.list).toMatchObject([
      { outcome: 'missed', reason: 'watermark-behind', figures: { watermark: 3, newestChange: 5 } },
    ])
  })
})

it('a document that another process published is found by the next explanation', async () => {
  await plantUnindexed(test.dataDir, 'late.md', 'Guillemots nest on cliffs.', true)
  const found = await explain(small, { query: 'guillemots', path: 'late.md' })
  expect(found.verdict).toBe('shown')
  expect(stageOf(found, 'text-leg')).toMatchObject({ outcome: 'passed', reason: 'candidate' })
})

describe('an explanation', () => {
  it('describes a document hidden from the reader like one that does not exist', async () => {
    const [secret] = await ingest(test.engine, ADA, small, { 'secret.md': 'The vault code is ninety walruses.' })
    await restrict(test.dataDir, secret!.asset.id, ['grace'])
    const query = 'vault code walruses'
    const never = await explain(small, { query, path: 'secrets.md' })
    for (const path of ['secret.md', 'secret', 'vault/secret.md']) {
      const found = await explain(small, { query, path })
      expect([found.verdict, decidingStage(found).reason]).toEqual(['unknown-document', 'unknown-path'])
      expect(decidingStage(found).figures).toEqual({ similar: [] })
      expect(found.hint).toBe(never.hint)
    }
    const byId = await explain(small, { query, documentId: secret!.asset.id })
    expect([byId.verdict, decidingStage(byId).reason]).toEqual(['unknown-document', 'unknown-id'])
  })

  it('rejects a mode that the profile lacks, and a request without exactly one question and one document', async () => {
    const query = { query: 'tides', path: 'tides.md' }
    await expect(explain(small, { ...query, mode: 'deep' })).rejects.toMatchObject({ code: 'profile-mode-mismatch' })
    const auto = await explain(small, { ...query, mode: 'auto' })
    expect(auto.stages.find(({ stage }) => stage === 'mode')).toMatchObject({
      outcome: 'note',
      figures: { mode: 'auto' },
    })
    expect(() => ExplainBody.parse({ path: 'x' })).toThrow('exactly one of query or traceId')
    expect(() => ExplainBody.parse({ query: 'x' })).toThrow('exactly one of documentId or path')
  })

  it('leaves no running query behind', async () => {
    const { runningQueries } = await test.engine.activity()
    await explain(small, { query: 'tides', path: 'tides.md' })
    expect((await test.engine.activity()).runningQueries).toBe(runningQueries)
  })
})
