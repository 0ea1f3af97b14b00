import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseReport } from '../../../../src/engine/knowledge/views/report-writer.js'
import { buildReportDrafts } from '../../../../src/engine/knowledge/views/reports.kernel.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'fake', model: 'm' }
const member = (name: string, score = 1, type = 'organization') => ({ names: [name], type, score })
const told = (text: string, document = 1) => ({ node: document * 10, document, text })

describe('the evidence of a community report', () => {
  it('prefers sentences that state a relation of two members to mere co-occurrence', () => {
    const [report] = buildReportDrafts([
      {
        members: [member('Acme Steel'), member('Borealis Mining', 0.8), member('Port of Narvik', 0.6)],
        passages: [
          told('Acme Steel and Borealis Mining were at the fair in spring. Acme Steel was praised for its stand.'),
          told('Acme Steel acquired Borealis Mining in 2019. It sold the Port of Narvik to Acme Steel later.', 2),
          told('| Acme Steel | Borealis Mining | 12 |\n\nDo Acme Steel and Borealis Mining get along?', 3),
        ],
      },
    ])
    expect(report?.evidence.map(({ text }) => text)).toEqual([
      'Acme Steel acquired Borealis Mining in 2019.',
      'Acme Steel and Borealis Mining were at the fair in spring.',
    ])
    expect(report?.evidence[0]?.node).toBe(20)
  })

  it('counts a member whose name is part of another name only where the member occurs alone', () => {
    const [report] = buildReportDrafts([
      {
        members: [member('Harbour Office of Brest'), member('Brest', 0.5)],
        passages: [
          told('The Harbour Office of Brest measures every tide of the year.'),
          told('The Harbour Office of Brest is the largest employer in Brest today.', 2),
        ],
      },
    ])
    expect(report?.evidence.map(({ node }) => node)).toEqual([20])
  })

  it('contains at most twelve sentences, at most three per document, and none twice', () => {
    const members = [member('Acme Steel'), member('Borealis Mining')]
    const words = 'iron copper zinc lead gold silver nickel tin cobalt salt coal sand clay slate chalk'.split(' ')
    const passages = words.map((word, place) =>
      told(
        `Acme Steel buys much ${word} of ${word}field from Borealis Mining near ${word}ton ${word}wards.`,
        place + 1,
      ),
    )
    expect(buildReportDrafts([{ members, passages }])[0]?.evidence).toHaveLength(12)
    const [one] = buildReportDrafts([{ members, passages: passages.map((passage) => ({ ...passage, document: 1 })) }])
    expect(one?.evidence).toHaveLength(3)
    const same = passages.slice(0, 2).map((passage) => ({ ...passage, text: passages[0]?.text ?? '' }))
    expect(buildReportDrafts([{ members, passages: same }])[0]?.evidence).toHaveLength(1)
  })

  it('gives the report a title of names, without numbers, overlapping names and lower-case terms', () => {
    const titleOf = (...members: ReturnType<typeof member>[]) =>
      buildReportDrafts([{ members, passages: [] }])[0]?.title
    expect(
      titleOf(
        member('2019', 1),
        member('tide', 1, 'term'),
        member('Harbour Office of Brest', 0.9),
        member('Brest', 0.8),
        member('Ada Keller', 0.7, 'person'),
      ),
    ).toBe('Harbour Office of Brest and Ada Keller')
    expect(titleOf(member('42'))).toBeUndefined()
  })
})

describe('the check of a community report written by a model', () => {
  const evidence = [
    { text: 'Acme Steel acquired Borealis Mining in 2019.', node: 1 },
    { text: 'Borealis Mining runs the Port of Narvik.', node: 2 },
  ]

  it('keeps statements that the evidence supports, each with its citations', () => {
    const reply =
      '# Acme Steel and its mines\nAcme Steel bought Borealis Mining in 2019 [1]. It thereby runs the Port of Narvik [1][2].'
    expect(parseReport(reply, evidence)).toEqual({
      title: 'Acme Steel and its mines',
      statements: [
        { text: 'Acme Steel bought Borealis Mining in 2019.', from: [0] },
        { text: 'It thereby runs the Port of Narvik.', from: [0, 1] },
      ],
    })
  })

  it('drops a statement and a title that the evidence does not support', () => {
    const reply =
      'The rise of Umbrella Corporation\nAcme Steel paid 5 billion for it [1]. Borealis Mining runs a port [2].'
    expect(parseReport(reply, evidence)).toEqual({
      title: '',
      statements: [{ text: 'Borealis Mining runs a port.', from: [1] }],
    })
    expect(parseReport('Title\nUmbrella Corporation owns all of it [1].', evidence)).toBeUndefined()
    expect(parseReport('', evidence)).toBeUndefined()
  })
})

describe('reports of communities', () => {
  let server: FakeOpenAi
  let test: TestEngine
  let spaceId: string
  const FILES = {
    'acme.md': 'In 2019 Acme Steel acquired Borealis Mining. Borealis Mining is led by Ingrid Solheim.',
    'narvik.md': 'The Port of Narvik is part of Borealis Mining. Ingrid Solheim works for Borealis Mining.',
  }
  const communities = async (slug?: string) =>
    (await test.engine.graph.communities(ADA, spaceId, slug === undefined ? {} : { slug })).items
  const texts = async () => (await communities()).flatMap(({ report }) => report.statements.map(({ text }) => text))

  beforeEach(async () => {
    server = await startFakeOpenAi({ answer: () => 'A mining group\nBorealis Mining is what joins them [1].' })
    test = await startEngine({
      providers: [{ pluginId: MODEL.pluginId, provider: 'fake', baseUrl: server.url, timeoutMs: 5000 }],
    })
    spaceId = (await test.engine.spaces.create(ADA, { name: 'Steel', slug: 'steel' })).id
    await ingest(test.engine, ADA, spaceId, FILES)
  })
  afterEach(async () => {
    await test.end()
    await server.close()
  })

  it('cite the documents and passages they quote, and change with a new version of a document', async () => {
    await test.engine.graph.materializeCommunities(ADA, spaceId, {})
    const [community] = await communities()
    expect(community?.report.writtenBy).toBe('rules')
    const first = community?.report.statements.find(({ text }) => text.includes('is led by'))
    expect(first?.citations).toMatchObject([{ filename: 'acme.md' }])
    const path = `/knowledge/communities/${community?.slug}/report.md`
    const read = async () => (await test.engine.fs.cat(ADA, spaceId, { path, offset: 0, maxBytes: 4000 })).content
    expect(await read()).toContain('Borealis Mining is led by Ingrid Solheim. [')
    expect(await read()).toContain('acme.md (passage ')
    await expect(communities('nothing-here')).rejects.toMatchObject({ code: 'not-found' })
    await expect(test.engine.graph.communities(BOB, spaceId, {})).rejects.toMatchObject({ code: 'not-found' })
    await ingest(test.engine, ADA, spaceId, { 'acme.md': 'Borealis Mining was founded by Ingrid Solheim in 1999.' })
    expect(await texts()).not.toContain('Borealis Mining is led by Ingrid Solheim.')
    await test.engine.graph.materializeCommunities(ADA, spaceId, {})
    await expect.poll(texts).toContain('Borealis Mining was founded by Ingrid Solheim in 1999.')
    expect(server.requests).toEqual([])
  })

  it('omit sentences of a source that not every subject may read', async () => {
    await test.engine.graph.materializeCommunities(ADA, spaceId, {})
    expect(await texts()).toContain('Borealis Mining is led by Ingrid Solheim.')
    await rowsOf(test.dataDir).run("UPDATE documents SET source_id = 'closed' WHERE filename = 'acme.md'")
    await rowsOf(test.dataDir).run(
      "INSERT INTO source_readers (source_id, subject, space_key) SELECT 'closed', 'zoe', key FROM spaces",
    )
    expect((await texts()).length).toBeGreaterThan(0)
    expect(await texts()).not.toContain('Borealis Mining is led by Ingrid Solheim.')
    await test.engine.graph.materializeCommunities(ADA, spaceId, {})
    expect((await texts()).join(' ')).not.toContain('is led by')
  })

  it('cost one model call for unchanged sentences, and fall back to rules if a document is restricted', async () => {
    const { revision: _, ...profile } = await test.engine.spaces.retrievalProfile(ADA, spaceId)
    await test.engine.spaces.setRetrievalProfile(ADA, spaceId, { ...profile, reasoningModel: MODEL })
    await communities()
    expect(server.requests).toEqual([])
    const made = async () => {
      await test.engine.graph.materializeCommunities(ADA, spaceId, {})
      await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
    }
    await made()
    const [community] = await communities()
    expect(community?.report).toMatchObject({
      title: 'A mining group',
      writtenBy: 'model',
      statements: [{ text: 'Borealis Mining is what joins them.', citations: [{ filename: expect.any(String) }] }],
    })
    const asked = server.requests.length
    await made()
    expect(server.requests).toHaveLength(asked)
    expect((await communities())[0]?.report.writtenBy).toBe('model')
    await rowsOf(test.dataDir).run("UPDATE documents SET source_id = 'closed' WHERE filename = 'narvik.md'")
    await rowsOf(test.dataDir).run(
      "INSERT INTO source_readers (source_id, subject, space_key) SELECT 'closed', 'zoe', key FROM spaces",
    )
    // Model text may depend on any of the sentences.
    expect((await communities())[0]?.report.writtenBy).toBe('rules')
  })
})
