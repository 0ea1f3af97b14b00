import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AnswerTrace, EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, type AskResult, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

const bundleOf = ({ done }: AskResult): EvidenceBundle =>
  (done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle
const filesOf = (asked: AskResult): unknown[] => bundleOf(asked).items.map((item) => item.metadata.filename)
const step = (trace: AnswerTrace, name: string) => trace.steps.find((one) => one.name === name)
const retrieval = (trace: AnswerTrace) =>
  (step(trace, 'query.retrieve')?.metadata ?? {}) as Record<'metrics' | 'plan', Record<string, number>>
const traceOf = (asked: AskResult): Promise<AnswerTrace> => test.engine.queries.trace(ADA, asked.traceId)

const section = (title: string, text: string): string => `## ${title}\n\n${text}\n\n`
const filler = (topic: string): string =>
  Array.from(
    { length: 12 },
    (_, i) => `The ${topic} notes describe step ${i} of the usual ${topic} work in detail.`,
  ).join(' ')

const HANDBOOK = `# Harbour handbook\n\n${section('Mooring', filler('mooring'))}${section('Dredging', `${filler('dredging')} The channel is kept nine metres deep.`)}${section('Pilotage', filler('pilotage'))}`
const ARCHIVE = `# Archive rules\n\n${section('Lending', filler('lending'))}${section('Scanning', filler('scanning'))}`

describe('mode research', () => {
  it('finds a section by the outline, and uses neither the text index nor vectors nor reranking', async () => {
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HANDBOOK, 'archive.md': ARCHIVE })
    const asked = await ask(test.engine, ADA, spaceId, 'What does the harbour handbook say about dredging?', {
      mode: 'research',
    })
    const [best] = bundleOf(asked).items
    expect(best.citations[0].sectionPath.at(-1)).toBe('Dredging')
    const trace = await traceOf(asked)
    expect(trace.mode).toBe('research')
    expect(trace.steps.map(({ name }) => name)).toEqual([
      'query.route',
      'query.retrieve',
      'query.answer',
      'query.generate',
    ])
    expect(step(trace, 'query.retrieve')?.metadata).toMatchObject({
      plan: { resolvedMode: 'research', denseTopK: 0, ftsTopK: 0, fusionLimit: 0, rerankCandidateLimit: 0 },
      metrics: {
        pageIndexScoreVersion: 'page-index-1',
        pageIndexScannedOutlines: 2,
        pageIndexCandidateTruncated: false,
        pageIndexPendingDocuments: 0,
        denseCandidateCount: 0,
        ftsCandidateCount: 0,
        rerankCandidateCount: 0,
        degraded: false,
      },
    })
    const { metrics } = retrieval(trace)
    expect(metrics.pageIndexScannedNodes).toBeGreaterThanOrEqual(3)
    expect(metrics.pageIndexOpenedRanges).toBeGreaterThan(0)
    expect(metrics.pageIndexMatchedNodes).toBeGreaterThanOrEqual(metrics.pageIndexOpenedRanges)
    expect(Object.keys(metrics).filter((name) => name.startsWith('graph'))).toEqual([])
  })

  it('finds the new version of a document instead of the old one, and nothing of a deleted document', async () => {
    const [first] = await ingest(test.engine, ADA, spaceId, { 'harbour.md': HANDBOOK, 'archive.md': ARCHIVE })
    const question = 'How deep is the channel kept by dredging?'
    expect((await ask(test.engine, ADA, spaceId, question, { mode: 'research' })).answer).toContain('nine metres')
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HANDBOOK.replace('nine metres', 'eleven metres') })
    const again = await ask(test.engine, ADA, spaceId, question, { mode: 'research' })
    expect(again.answer).toContain('eleven metres')
    expect(JSON.stringify(bundleOf(again))).not.toContain('nine metres')
    const { items } = await test.engine.documents.list(ADA, spaceId, { limit: 10 })
    const harbour = items.find((item) => item.filename === 'harbour.md')
    await test.engine.documents.delete(ADA, spaceId, [harbour?.id ?? first.asset.id])
    const gone = await ask(test.engine, ADA, spaceId, question, { mode: 'research' })
    expect(filesOf(gone)).not.toContain('harbour.md')
  })

  it('opens only the active documents of the query', async () => {
    const [harbour, archive] = await ingest(test.engine, ADA, spaceId, {
      'harbour.md': HANDBOOK,
      'archive.md': ARCHIVE,
    })
    const within = (id: string) =>
      ask(test.engine, ADA, spaceId, 'Which step is described in the notes?', {
        mode: 'research',
        activeDocumentIds: [id],
      })
    expect(new Set(filesOf(await within(harbour.asset.id)))).toEqual(new Set(['harbour.md']))
    expect(new Set(filesOf(await within(archive.asset.id)))).toEqual(new Set(['archive.md']))
  })

  it('reports not-enough-evidence in an empty space', async () => {
    const asked = await ask(test.engine, ADA, spaceId, 'Is anybody here?', { mode: 'research' })
    expect(bundleOf(asked)).toMatchObject({ state: 'not-enough-evidence', items: [] })
  })
})

const PROJECT = 'Project Falcon is led by Maria Keller. Project Falcon builds a new crane for the north quay.\n'
const PEOPLE = 'Maria Keller, the head of the yard, works in Building Seven and plays the cello on Sundays.\n'
const OTHERS = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [
    `crane-${i}.md`,
    `Crane number ${i} of the quay is led to a new place by hand.\n`,
  ]),
)

describe('mode deep', () => {
  it('adds candidates of the graph before one rerank, and reports graph metrics', async () => {
    await ingest(test.engine, ADA, spaceId, { 'project.md': PROJECT, 'people.md': PEOPLE, ...OTHERS })
    const question = 'Which new crane is built for the quay by Project Falcon?'
    const fast = await ask(test.engine, ADA, spaceId, question, { mode: 'fast' })
    const deep = await ask(test.engine, ADA, spaceId, question, { mode: 'deep' })
    expect(filesOf(fast)[0]).toBe('project.md')
    expect(filesOf(deep)[0]).toBe('project.md')
    const { metrics, plan } = retrieval(await traceOf(deep))
    expect(plan).toMatchObject({ resolvedMode: 'deep', denseTopK: 200, ftsTopK: 200 })
    expect(metrics).toMatchObject({ graphTimedOut: false, graphUnknownActiveEntities: 0, graphPendingDocuments: 0 })
    expect(metrics.graphExpansionSeeds).toBeGreaterThan(0)
    expect(metrics.graphTraversedEntities).toBeGreaterThan(1)
    expect(metrics.graphTraversedRelations).toBeGreaterThan(0)
    expect(metrics.graphCandidateCount).toBeGreaterThan(0)
    expect(metrics.rerankCandidateCount).toBeGreaterThan(0)
    expect((await traceOf(deep)).steps.map(({ name }) => name)).toContain('query.embed')
  })

  it('finds a passage that shares no word with the question by a name in another passage', async () => {
    await ingest(test.engine, ADA, spaceId, { 'project.md': PROJECT, 'people.md': PEOPLE })
    const question = 'Project Falcon crane quay'
    const fast = await ask(test.engine, ADA, spaceId, question, { mode: 'fast' })
    const deep = await ask(test.engine, ADA, spaceId, question, { mode: 'deep' })
    expect(filesOf(fast)).toEqual(['project.md'])
    expect(filesOf(deep)).toEqual(['project.md', 'people.md'])
  })

  it('reserves a rank for a passage that answers the second half of a question', async () => {
    const keepers = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `${i}.md`,
        `Keeper ${i} of the north quay was born beside the lighthouse.\n`,
      ]),
    )
    const clue = 'The lighthouse lamp of the north quay was made by Orlando Fink.\n'
    const answer = 'Orlando Fink was born in Utrecht.\n'
    await ingest(test.engine, ADA, spaceId, { 'lamp.md': clue, 'fink.md': answer, ...keepers })
    const question = 'Where was the maker of the lighthouse lamp of the north quay born?'
    const fast = filesOf(await ask(test.engine, ADA, spaceId, question, { mode: 'fast' }))
    const deep = filesOf(await ask(test.engine, ADA, spaceId, question, { mode: 'deep' }))
    expect(fast).toContain('lamp.md')
    expect(fast).not.toContain('fink.md')
    expect(deep.slice(0, fast.length)).toEqual(fast)
    expect(deep).toContain('fink.md')
  })

  it('removes graph entities that only a deleted document mentions', async () => {
    const [project] = await ingest(test.engine, ADA, spaceId, { 'project.md': PROJECT, 'people.md': PEOPLE })
    await ask(test.engine, ADA, spaceId, 'Who leads Project Falcon?', { mode: 'deep' })
    const rows = rowsOf(test.dataDir)
    const names = () => rows.all<{ name: string }>('SELECT name FROM graph_entities').map(({ name }) => name)
    expect(names()).toContain('Project Falcon')
    await test.engine.documents.delete(ADA, spaceId, [project.asset.id])
    const gone = await ask(test.engine, ADA, spaceId, 'Who leads Project Falcon?', { mode: 'deep' })
    expect(filesOf(gone)).not.toContain('project.md')
    await expect.poll(names).not.toContain('Project Falcon')
    expect(names()).toContain('Maria Keller')
    expect(rows.all('SELECT version_key FROM page_index')).toHaveLength(1)
  })

  it('prefers passages about the active entities of the query, and returns only its active documents', async () => {
    const [north, south] = await ingest(test.engine, ADA, spaceId, {
      'north.md': 'North Quay Depot opens at eight and closes at noon every day of the week.\n',
      'south.md': 'South Quay Depot opens at eight and closes at noon every day of the week.\n',
    })
    const question = 'When does the depot open every day?'
    const about = (activeEntityIds: string[]) =>
      ask(test.engine, ADA, spaceId, question, { mode: 'deep', activeEntityIds })
    expect(filesOf(await about(['North Quay Depot']))[0]).toBe('north.md')
    expect(filesOf(await about(['south quay depot']))[0]).toBe('south.md')
    const unknown = await about(['Nobody Knows This'])
    expect(step(await traceOf(unknown), 'query.retrieve')?.metadata).toMatchObject({
      metrics: { graphUnknownActiveEntities: 1, graphActiveEntities: 0 },
    })
    for (const mode of ['fast', 'deep'] as const)
      for (const [one, file] of [
        [north, 'north.md'],
        [south, 'south.md'],
      ] as const) {
        const only = await ask(test.engine, ADA, spaceId, question, { mode, activeDocumentIds: [one.asset.id] })
        expect(filesOf(only)).toEqual([file])
      }
  })
})

describe('mode auto', () => {
  const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
  let fake: FakeOpenAi
  let reply: string
  /** The model's second reply, after the error report about the first one. */
  let repaired: string

  beforeEach(async () => {
    repaired = 'I am sure'
    fake = await startFakeOpenAi({
      apiKey: 'key',
      dimension: 8,
      answer: ({ length }) => (length > 2 ? repaired : reply),
    })
    await test.end()
    test = await startEngine({
      providers: [
        { pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: fake.url, apiKey: 'key', timeoutMs: 1500 },
      ],
    })
    spaceId = (await test.engine.spaces.create(ADA, { name: 'Auto', slug: 'auto' })).id
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HANDBOOK })
    await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
      defaultMode: 'deep',
      modes: ['fast', 'deep', 'research'],
      topK: 10,
      scoreThreshold: 0,
      rerank: { enabled: true },
      reasoningModel: MODEL,
    })
  })
  afterEach(() => fake.close())

  const routed = async () => {
    const asked = await ask(test.engine, ADA, spaceId, 'How deep is the channel?', { mode: 'auto' })
    const trace = await traceOf(asked)
    const names = trace.steps.map(({ name }) => name)
    return { ...step(trace, 'query.route')?.metadata, mode: trace.mode, embedded: names.includes('query.embed') }
  }

  it('runs the mode that the model chooses', async () => {
    for (const mode of ['fast', 'deep', 'research'] as const) {
      reply = `{"mode":"${mode}"}`
      expect(await routed()).toMatchObject({
        mode,
        requestedMode: 'auto',
        resolvedMode: mode,
        resolver: 'llm',
        degraded: false,
        embedded: mode !== 'research',
      })
    }
  })

  it('sends an unreadable reply back to the model once, with the error', async () => {
    reply = 'fast, I think'
    repaired = '```json\n{"mode":"research"}\n```'
    expect(await routed()).toMatchObject({ mode: 'research', resolver: 'llm', degraded: false })
    const [, second] = fake.requests.filter(({ path }) => path.endsWith('chat/completions'))
    expect(second?.body.messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(second?.body.messages?.at(-1)?.content).toContain('the reply holds no JSON')
  })

  it('F41, A84: runs the default mode and reports the reason if the model names no mode or fails', async () => {
    const fallback = { mode: 'deep', resolvedMode: 'deep', resolver: 'fallback', degraded: true }
    reply = 'fast, I think'
    expect(await routed()).toMatchObject({ ...fallback, errorClass: 'invalid-reply' })
    fake.script(...Array.from({ length: 4 }, () => ({ kind: 'status' as const, status: 500 })))
    expect(await routed()).toMatchObject({ ...fallback, errorClass: expect.stringMatching(/^provider-/) })
  })

  it('runs the default mode if the model does not answer in time', async () => {
    reply = '{"mode":"fast"}'
    fake.script({ kind: 'hang' }, { kind: 'hang' }, { kind: 'hang' })
    expect(await routed()).toMatchObject({
      mode: 'deep',
      resolver: 'fallback',
      degraded: true,
      errorClass: expect.stringMatching(/timeout|provider/),
    })
  })

  it('lets the model choose the mode, but not for a query with an explicit mode or without a mode', async () => {
    reply = '{"mode":"fast"}'
    const chats = () =>
      fake.requests.filter(({ body }) => JSON.stringify(body.messages ?? '').includes('Reply with one JSON')).length
    await ask(test.engine, ADA, spaceId, 'How deep is the channel?', { mode: 'research' })
    await ask(test.engine, ADA, spaceId, 'How deep is the channel?')
    expect(chats()).toBe(0)
    await routed()
    expect(chats()).toBe(1)
  })
})
