import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ResearchReport, ResearchTaskJob, researchEvents } from '../../../../src/contract/gateway/research.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { eventsOf, research, spaceWith, TWO_PART, untilTaskEnded } from './helpers.js'

let test1: TestEngine
let spaceId = ''
beforeAll(async () => {
  test1 = await startEngine()
  spaceId = await spaceWith(test1.engine)
})
afterAll(() => test1.end())

const CAROL = { tenant: ADA.tenant, subject: 'carol' }

describe('a research task without a model', () => {
  test('answers every sub-question from its evidence, with sources', async () => {
    const { engine } = test1
    const task = await research(engine, spaceId)
    expect(ResearchTaskJob.safeParse(task).error).toBeUndefined()
    expect(task).toMatchObject({ stage: 'completed', cost: { totalUsd: 0, entries: [] } })
    const report = await engine.research.report(ADA, task.id)
    expect(ResearchReport.safeParse(report).error).toBeUndefined()
    expect(report.sections.map(({ question }) => question)).toEqual([
      'What makes the tides',
      'who invented the stepped lens of lighthouses?',
    ])
    expect(report.sections[0]!.answer).toContain('The moon pulls the sea')
    expect(report.sections[1]!.answer).toContain('Fresnel')
    for (const section of report.sections) expect(section.cited.length).toBeGreaterThan(0)
    expect(report.text).toContain('## Sources')
    const numbers = new Set(report.sources.map(({ number }) => number))
    for (const { cited } of report.sections) for (const number of cited) expect(numbers.has(number)).toBe(true)
  })

  test('keeps marks like [3] in quoted text, and numbers its own citations from 1', async () => {
    const { engine } = test1
    const files = {
      'tides.md': 'The moon pulls the sea and makes the tides, see [3] and [9].\n',
      'lamps [2].md': 'Augustin Fresnel invented the stepped lens of lighthouses in 1823 [1].\n',
    }
    const { id } = await research(engine, await spaceWith(engine, files))
    const { sections } = await engine.research.report(ADA, id)
    expect(sections.map(({ answer, cited }) => [answer, cited])).toEqual([
      ['[1] tides.md\n\nThe moon pulls the sea and makes the tides, see [3] and [9].', [1]],
      ['[2] lamps [2].md\n\nAugustin Fresnel invented the stepped lens of lighthouses in 1823 [1].', [2]],
    ])
  })

  test('adds the subject of the previous sub-question to a sub-question with "it"', async () => {
    const { engine } = test1
    const own = await spaceWith(engine, {
      'eckmuhl.md':
        '# Eckmuhl\n\nThe lighthouse of Eckmuhl stands at Penmarch. The tower of Eckmuhl is 60 metres high.\n',
      'kereon.md': '# Kereon\n\nThe tower is high, 41 metres high, and it is the tower of Kereon.\n',
    })
    const task = await research(engine, own, {
      query: 'Where does the lighthouse of Eckmuhl stand and how high is it?',
    })
    const { sections } = await engine.research.report(ADA, task.id)
    expect(sections.map(({ question }) => question)).toEqual([
      'Where does the lighthouse of Eckmuhl stand',
      'how high is it (Eckmuhl)',
    ])
    expect(sections[1]!.answer).toContain('60 metres')
  })

  test('stores an evidence bundle per search, numbered without gaps, the last for the entire question', async () => {
    const { engine } = test1
    const task = await research(engine, spaceId)
    const partials = []
    let cursor: string | undefined
    do {
      const page = await engine.research.partials(ADA, task.id, { limit: 2, cursor })
      partials.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(partials.map(({ sequence }) => sequence)).toEqual(partials.map((_, place) => place + 1))
    expect(partials[0]!.evidenceBundle.query).toBe(TWO_PART)
    const report = await engine.research.report(ADA, task.id)
    expect(partials.at(-1)!.evidenceBundle).toMatchObject({ id: report.evidenceBundleId, query: TWO_PART })
  })

  test('emits each event once and in order to every reader of its event stream', async () => {
    const { engine } = test1
    const { id } = await engine.research.create(ADA, { knowledgeSpaceId: spaceId, query: TWO_PART })
    const live = await eventsOf(engine, id, 100)
    const stages = live.filter(({ event }) => event === 'research.stage').map(({ data }) => data)
    expect(stages).toMatchObject(
      ['queued', 'planning', 'retrieving', 'analyzing', 'generating'].map((stage) => ({ researchTaskId: id, stage })),
    )
    expect(live.at(-1)).toMatchObject({ event: 'research.completed', data: { researchTaskId: id } })
    expect(live.slice(0, -1).every(({ event }) => ['research.stage', 'research.partial'].includes(event))).toBe(true)
    for (const { event, data } of live)
      expect(researchEvents[event as keyof typeof researchEvents].safeParse(data).error).toBeUndefined()
    expect(await eventsOf(engine, id, 100)).toEqual(live)
    expect(await eventsOf(engine, id, 2)).toEqual(live)
    const after = await engine.research.events(
      ADA,
      id,
      { limit: 100, cursor: live.at(-1)!.id },
      new AbortController().signal,
    )
    for await (const _ of after) throw new Error('nothing comes after the end')
  })

  test('completes without evidence for an unanswerable question, and lists it as open', async () => {
    const { engine } = test1
    const task = await research(engine, spaceId, { query: 'Which orchestra plays at the opera of Vienna?' })
    expect(task.stage).toBe('completed')
    const report = await engine.research.report(ADA, task.id)
    expect(report).toMatchObject({ state: 'not-enough-evidence', sources: [], open: [report.query] })
  })

  test('reports as a degradation that the graph of some documents was still being built', async () => {
    const { engine, dataDir } = test1
    await rowsOf(dataDir).run(
      "CREATE TRIGGER unreadable BEFORE INSERT ON page_index BEGIN SELECT RAISE(ABORT, 'not now'); END",
    )
    try {
      const space = await spaceWith(engine)
      const task = await research(engine, space, {
        query: 'Which orchestra did the admiral of Brest conduct?',
        mode: 'fast',
      })
      const reason = 'the graph of 3 documents is still being built'
      expect(await engine.research.report(ADA, task.id)).toMatchObject({
        degraded: true,
        degradedReasons: expect.arrayContaining([reason]),
        degradations: expect.arrayContaining([{ part: 'graph', class: 'unavailable', reason }]),
      })
    } finally {
      await rowsOf(dataDir).run('DROP TRIGGER unreadable')
    }
  })

  test('completes in each mode, and in an empty space without evidence', async () => {
    const { engine } = test1
    for (const mode of ['deep', 'research', 'auto'] as const) {
      const report = await engine.research.report(ADA, (await research(engine, spaceId, { mode })).id)
      expect(report).toMatchObject({ requestedMode: mode, resolvedMode: mode === 'auto' ? 'fast' : mode })
      expect(report.text).toContain('Fresnel')
    }
    const { id } = await engine.spaces.create(ADA, { name: 'Empty', slug: 'empty' })
    const report = await engine.research.report(ADA, (await research(engine, id)).id)
    expect(report.state).toBe('not-enough-evidence')
  })

  test('uses the same publication as the previous task if nothing was published in between', async () => {
    const { engine } = test1
    const own = await spaceWith(engine)
    const before = (await engine.research.report(ADA, (await research(engine, own)).id)).publicationId
    const again = (await engine.research.report(ADA, (await research(engine, own)).id)).publicationId
    expect(again).toBe(before)
  })
})

describe('access to research tasks', () => {
  test('fails with not-found for other subjects and other tenants', async () => {
    const { engine } = test1
    const { id } = await research(engine, spaceId)
    const signal = new AbortController().signal
    for (const other of [BOB, CAROL]) {
      const page = { limit: 10 }
      for (const look of [
        () => engine.research.get(other, id),
        () => engine.research.partials(other, id, page),
        () => engine.research.events(other, id, page, signal),
        () => engine.research.report(other, id),
        () => engine.research.cancel(other, id),
      ])
        await expect(look()).rejects.toMatchObject({ code: 'not-found' })
      expect(await engine.research.list(other, page)).toEqual({ items: [] })
    }
    const asked = { knowledgeSpaceId: spaceId, query: 'x' }
    await expect(engine.research.create(BOB, asked)).rejects.toMatchObject({ code: 'not-found' })
    await expect(engine.research.plan(BOB, asked)).rejects.toMatchObject({ code: 'not-found' })
  })

  test('lists tasks by space and stage, newest first, without gaps between pages', async () => {
    const { engine } = test1
    const all = (await engine.research.list(ADA, { limit: 100, knowledgeSpaceId: spaceId })).items
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    const first = await engine.research.list(ADA, { limit: 2, knowledgeSpaceId: spaceId, stage: 'completed' })
    const next = await engine.research.list(ADA, {
      limit: 100,
      knowledgeSpaceId: spaceId,
      stage: 'completed',
      cursor: first.nextCursor,
    })
    expect([...first.items, ...next.items]).toEqual(all.filter(({ stage }) => stage === 'completed'))
  })
})

describe('canceling a research task', () => {
  test('emits research.canceled, leaves no report, and fails with already-terminal if repeated', async () => {
    const { engine } = test1
    const { id } = await engine.research.create(ADA, { knowledgeSpaceId: spaceId, query: TWO_PART })
    const canceled = await engine.research.cancel(ADA, id)
    expect(canceled).toMatchObject({ stage: 'canceled', completedAt: expect.any(Number) })
    await expect(engine.research.cancel(ADA, id)).rejects.toMatchObject({ code: 'already-terminal' })
    const events = await eventsOf(engine, id)
    expect(events.at(-1)).toMatchObject({ event: 'research.canceled' })
    await expect(engine.research.report(ADA, id)).rejects.toMatchObject({ code: 'not-found' })
    const done = await research(engine, spaceId)
    await expect(engine.research.cancel(ADA, done.id)).rejects.toMatchObject({ code: 'already-terminal' })
    expect(await untilTaskEnded(engine, id)).toMatchObject({ stage: 'canceled' })
  })
})

describe('deleted content in research tasks', () => {
  test('disappears from the evidence bundles of the task, and its report is no longer found', async () => {
    const { engine } = test1
    const own = await spaceWith(engine)
    const { id } = await research(engine, own)
    const [document] = (await engine.documents.list(ADA, own, { limit: 10 })).items.filter(
      ({ filename }) => filename === 'tides.md',
    )
    await engine.documents.delete(ADA, own, [document!.id])
    const { items } = await engine.research.partials(ADA, id, { limit: 100 })
    const cited = items.flatMap(({ evidenceBundle }) => evidenceBundle.items.flatMap((item) => item.citations))
    expect(cited.length).toBeGreaterThan(0)
    expect(cited.some(({ documentAssetId }) => documentAssetId === document!.id)).toBe(false)
    await expect(engine.research.report(ADA, id)).rejects.toMatchObject({ code: 'not-found' })
    await engine.spaces.delete(ADA, own)
    await expect(engine.research.get(ADA, id)).rejects.toMatchObject({ code: 'not-found' })
  })
})
