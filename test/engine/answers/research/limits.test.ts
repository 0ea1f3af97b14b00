import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { KsError } from '../../../../src/contract/errors.js'
import { openEngine } from '../../../../src/engine/index.js'
import { ADA, engineOptions, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'
import {
  ANSWERED_QUESTION,
  eventsOf,
  FILES,
  LONG_DOCUMENT,
  research,
  spaceWith,
  TWO_PART,
  UNANSWERED_QUESTIONS,
  untilTaskEnded,
} from './helpers.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'writer' }
const PROFILE = {
  defaultMode: 'fast' as const,
  topK: 10,
  scoreThreshold: 0,
  rerank: { enabled: true },
  reasoningModel: MODEL,
}
let engineTest: TestEngine
let fake: FakeOpenAi
let spaceId = ''
/** Responses of the model, by the first words of the system prompt. */
let says: { route: string; plan: string; mended?: string; section?: string }

beforeEach(async () => {
  says = {
    route: '{"mode":"deep"}',
    plan: '["What makes the tides?","Who invented the stepped lens?"]',
  }
  fake = await startFakeOpenAi({
    answer: (messages) => {
      const [first, , third] = messages
      if (third !== undefined && says.mended !== undefined) return says.mended
      if (first?.content.startsWith('Choose how')) return says.route
      return first?.content.startsWith('Break a research') ? says.plan : (says.section ?? sectionOn(messages))
    },
  })
  engineTest = await startEngine({
    providers: [
      {
        pluginId: MODEL.pluginId,
        provider: MODEL.provider,
        baseUrl: fake.url,
        timeoutMs: 60_000,
        prices: { '*': { inputUsdPerMillion: 100, outputUsdPerMillion: 1000 } },
      },
    ],
  })
  spaceId = await spaceWith(engineTest.engine)
})
afterEach(async () => {
  await engineTest.end()
  await fake.close()
})

const sectionOn = (messages: { content: string }[]) =>
  /lens/.test(messages.at(-1)?.content.split('Question: ').at(-1) ?? '')
    ? 'Augustin Fresnel did in 1823.'
    : 'The moon pulls the sea.'
const withModel = () =>
  engineTest.engine.spaces.setRetrievalProfile(ADA, spaceId, { ...PROFILE, modes: ['fast', 'deep', 'research'] })
const calls = (start: string) =>
  fake.requests.filter(({ body }) => body.messages?.[0]?.content.startsWith(start)).length

/** The last bundle of a task. */
async function lastBundle(id: string) {
  const { items } = await engineTest.engine.research.partials(ADA, id, { limit: 100 })
  return items.at(-1)!.evidenceBundle
}

describe('a limit of a research task', () => {
  test('rejects a task whose estimate exceeds the limit, and the error lists every violation', async () => {
    const limits = { maxRetrievalSteps: 1, maxScannedResources: 1, maxToolCalls: 1, timeoutMs: 1 }
    const asked = { knowledgeSpaceId: spaceId, query: TWO_PART, limits }
    const refusal: KsError = await engineTest.engine.research.create(ADA, asked).then(
      () => expect.fail('it was admitted'),
      (error) => error,
    )
    expect(refusal.code).toBe('research-limits-exceeded')
    expect(refusal.details?.violations).toMatchObject(
      Object.entries(limits).map(([limit, limitValue]) => ({ limit, limitValue, estimatedValue: expect.any(Number) })),
    )
    expect((await engineTest.engine.research.list(ADA, { limit: 10 })).items).toEqual([])
  })

  test.each(['maxRetrievalSteps', 'maxScannedResources', 'maxToolCalls'] as const)(
    'ends the search when %s is reached, and the task completes with the evidence found so far',
    async (limit) => {
      const { engine } = engineTest
      const long = await spaceWith(engine, { 'west.md': LONG_DOCUMENT })
      // Measured: one search per question, so follow-up searches exceed the estimate.
      await research(engine, long, { query: ANSWERED_QUESTION })
      const { estimates } = await engine.research.plan(ADA, {
        knowledgeSpaceId: long,
        query: UNANSWERED_QUESTIONS,
        topK: 3,
      })
      const names = { maxRetrievalSteps: 'retrievalSteps', maxScannedResources: 'scannedResources' } as const
      const limitValue = estimates[limit === 'maxToolCalls' ? 'toolCalls' : names[limit]]
      const task = await research(engine, long, {
        query: UNANSWERED_QUESTIONS,
        topK: 3,
        limits: { [limit]: limitValue },
      })
      expect(task.stage).toBe('completed')
      const report = await engine.research.report(ADA, task.id)
      expect(report.stoppedBy).toEqual({ limit, limitValue })
      const bundle = await lastBundle(task.id)
      expect(bundle.missingEvidence[0]).toMatchObject({ reason: 'unknown', metadata: { limit, limitValue } })
      expect(bundle.items.length).toBeGreaterThan(0)
      const looks = (await engine.research.partials(ADA, task.id, { limit: 100 })).items.slice(0, -1)
      if (limit === 'maxScannedResources')
        expect(looks.reduce((sum, { evidenceBundle }) => sum + evidenceBundle.items.length, 0)).toBe(limitValue)
      else expect(looks).toHaveLength(limitValue)
    },
  )

  test('aborts a hanging model call when timeoutMs is over, and the report uses the evidence so far', async () => {
    const { engine } = engineTest
    await withModel()
    // Measured tasks make the estimate small enough.
    await research(engine, spaceId)
    fake.script({ kind: 'ok' }, { kind: 'hang' }, { kind: 'hang' })
    const task = await research(engine, spaceId, { limits: { timeoutMs: 3000 } })
    expect(task.stage).toBe('completed')
    const report = await engine.research.report(ADA, task.id)
    expect(report).toMatchObject({ generator: 'extractive', stoppedBy: { limit: 'timeoutMs', limitValue: 3000 } })
    expect(report.text).toContain('Fresnel')
  })

  test('fails a task that has no evidence yet when timeoutMs is over', async () => {
    const { engine } = engineTest
    await withModel()
    await research(engine, spaceId)
    fake.script({ kind: 'hang' })
    const task = await research(engine, spaceId, { limits: { timeoutMs: 2000 } })
    expect(task).toMatchObject({ stage: 'failed', error: expect.stringContaining('timeoutMs of 2000') })
    expect((await eventsOf(engine, task.id)).at(-1)).toMatchObject({
      event: 'research.failed',
      data: { error: task.error },
    })
  })
})

describe('a research task with a language model', () => {
  test('uses the model to plan and write, and reports the price of its tokens', async () => {
    const { engine } = engineTest
    await withModel()
    const task = await research(engine, spaceId)
    const report = await engine.research.report(ADA, task.id)
    expect(report).toMatchObject({ generator: 'model', sections: [{ answer: 'The moon pulls the sea. [1]' }, {}] })
    expect(task.cost.entries.map(({ step, provider }) => `${step} ${provider}`)).toEqual([
      'plan local',
      'generate local',
      'generate local',
    ])
    for (const { usage, costUsd } of task.cost.entries)
      expect(costUsd).toBeCloseTo((Number(usage.inputTokens) * 100 + Number(usage.outputTokens) * 1000) / 1e6, 6)
    const told = (await eventsOf(engine, task.id)).filter(({ event }) => event === 'research.cost')
    expect(told.at(-1)!.data).toEqual({ totalUsd: task.cost.totalUsd, step: 'generate' })
    expect(told).toHaveLength(3)
  })

  test('in auto mode lets the model choose the mode once, at its creation, and stores the choice', async () => {
    const { engine } = engineTest
    await withModel()
    const task = await research(engine, spaceId, { mode: 'auto' })
    expect(calls('Choose how')).toBe(1)
    const report = await engine.research.report(ADA, task.id)
    expect(report).toMatchObject({ requestedMode: 'auto', resolvedMode: 'deep', route: { resolver: 'llm' } })
    const plan = await engine.research.plan(ADA, { knowledgeSpaceId: spaceId, query: TWO_PART, mode: 'auto' })
    expect(plan.retrievalPlan).toMatchObject({ requestedMode: 'auto', resolvedMode: 'deep' })
    await research(engine, spaceId, { mode: 'research' })
    await research(engine, spaceId)
    expect(calls('Choose how')).toBe(2)
  })

  test('falls back to the default mode of the profile and to rules if every model call fails', async () => {
    const { engine } = engineTest
    await withModel()
    fake.script(...Array.from({ length: 40 }, () => ({ kind: 'status' as const, status: 400 })))
    const task = await research(engine, spaceId, { mode: 'auto' })
    const report = await engine.research.report(ADA, task.id)
    expect(report).toMatchObject({
      generator: 'extractive',
      resolvedMode: 'fast',
      route: { resolver: 'fallback', degraded: true },
    })
    expect(task.cost).toEqual({ totalUsd: 0, entries: [] })
  })

  test('plans by rules if the plan of the model cannot be parsed', async () => {
    const { engine } = engineTest
    await withModel()
    says.plan = 'Sure! Here is my plan.'
    const report = await engine.research.report(ADA, (await research(engine, spaceId)).id)
    expect(report.sections.map(({ question }) => question)[0]).toBe('What makes the tides')
    expect(calls('Break a research')).toBe(2)
  })

  test('follows a plan that the model corrected after a parse error, and counts tokens of both calls', async () => {
    const { engine } = engineTest
    await withModel()
    says.plan = '["What makes the tides?", "Who'
    says.mended = 'Sorry. ["What makes the tides?","Who invented the stepped lens?"]'
    const task = await research(engine, spaceId)
    const report = await engine.research.report(ADA, task.id)
    expect(report.sections.map(({ question }) => question)).toEqual([
      'What makes the tides?',
      'Who invented the stepped lens?',
    ])
    const plans = fake.requests.filter(({ body }) => body.messages?.[0]?.content.startsWith('Break a research'))
    expect(plans.map(({ body }) => body.messages?.length)).toEqual([2, 4])
    const counted = (name: string) => task.cost.entries.find(({ step }) => step === name)?.usage.inputTokens ?? 0
    expect(counted('plan')).toBeGreaterThan(2 * 60)
  })

  test('fails with provider-not-configured if the daemon lacks the model, in auto and fast mode', async () => {
    await withModel()
    await engineTest.engine.close()
    engineTest.engine = await openEngine(engineOptions(engineTest.dataDir))
    const asked = { knowledgeSpaceId: spaceId, query: TWO_PART }
    for (const mode of ['auto', 'fast'] as const)
      await expect(engineTest.engine.research.create(ADA, { ...asked, mode })).rejects.toMatchObject({
        code: 'provider-not-configured',
      })
  })
})

describe('the budget of a research task', () => {
  test('rejects a task whose estimated cost exceeds it, as the plan of the task announced', async () => {
    const { engine } = engineTest
    await withModel()
    const asked = { knowledgeSpaceId: spaceId, query: TWO_PART, budgetUsd: 0.001 }
    const plan = await engine.research.plan(ADA, asked)
    expect(plan.budget).toEqual({ budgetUsd: 0.001, exceedsBudget: true, remainingBudgetUsd: 0 })
    await expect(engine.research.create(ADA, asked)).rejects.toMatchObject({
      code: 'research-limits-exceeded',
      details: {
        violations: [{ limit: 'budgetUsd', limitValue: 0.001, estimatedValue: plan.estimates.costUsd.estimated }],
      },
    })
  })

  test('prevents a model call that may exceed it, and rules finish the task', async () => {
    const { engine } = engineTest
    await withModel()
    // Measured tasks are cheap, so the task is admitted; the longest response would be too expensive.
    await research(engine, spaceId)
    const { estimates } = await engine.research.plan(ADA, { knowledgeSpaceId: spaceId, query: TWO_PART })
    const budgetUsd = estimates.costUsd.estimated + 0.5
    const before = fake.requests.length
    const task = await research(engine, spaceId, { budgetUsd })
    expect(task).toMatchObject({ stage: 'completed', budgetUsd, cost: { budgetUsd, budgetExceeded: true } })
    expect(task.cost.totalUsd).toBeLessThanOrEqual(budgetUsd)
    expect(fake.requests.length - before).toBe(task.cost.entries.length)
    const report = await engine.research.report(ADA, task.id)
    expect(report).toMatchObject({ generator: 'extractive', stoppedBy: { limit: 'budgetUsd' } })
    expect(report.text).toContain('Fresnel')
  })

  test('can be 0 if no model is configured', async () => {
    expect(await research(engineTest.engine, spaceId, { budgetUsd: 0 })).toMatchObject({
      stage: 'completed',
      cost: { totalUsd: 0, budgetUsd: 0, budgetExceeded: false },
    })
  })
})

describe('a research report', () => {
  test.each([
    ['auth', { kind: 'status', status: 401 }],
    ['context-too-long', { kind: 'status', status: 400, body: '{"error":{"code":"context_length_exceeded"}}' }],
  ] as const)('states the failure class of the model that should write it: %s', async (degradedClass, fault) => {
    const { engine } = engineTest
    await withModel()
    fake.script(...Array.from({ length: 20 }, () => fault))
    const { id } = await research(engine, spaceId)
    const report = await engine.research.report(ADA, id)
    expect(report).toMatchObject({ generator: 'extractive', degraded: true, degradedClass })
    expect(new Set(report.degradations?.map(({ part }) => part))).toEqual(new Set(['plan', 'answer']))
    expect(report.text).toContain(`This report is degraded (${degradedClass}):`)
    expect(report.text).toContain(report.degradedReasons[0])
  })

  test('comes from the model without degradation after retries of prompts too long for its window', async () => {
    const { engine } = engineTest
    await withModel()
    const tooLong = { kind: 'status' as const, status: 400, body: '{"error":{"code":"context_length_exceeded"}}' }
    fake.script(tooLong, { kind: 'ok' }, tooLong, tooLong)
    const report = await engine.research.report(ADA, (await research(engine, spaceId)).id)
    expect(report).toMatchObject({ generator: 'model', degraded: false })
    expect(fake.requests.map(({ body }) => body.max_tokens).slice(2, 5)).toEqual([1024, 1024, 1024])
  })

  test('carries no degradation of the plan or answers when nothing failed', async () => {
    await withModel()
    const report = await engineTest.engine.research.report(ADA, (await research(engineTest.engine, spaceId)).id)
    expect(report.degradations?.filter(({ part }) => part === 'plan' || part === 'answer') ?? []).toEqual([])
    expect(report.generator).toBe('model')
  })

  test('contains only sections that rules answer with certainty if the model declines to answer', async () => {
    const { engine } = engineTest
    await withModel()
    says.section = 'The passages do not say [1].'
    const sure = await engine.research.report(ADA, (await research(engine, spaceId)).id)
    expect(sure).toMatchObject({ state: 'answerable', generator: 'extractive', open: [] })
    const query = 'Which person devised segmented glass for coastal beacons such as lighthouses?'
    says.plan = JSON.stringify([query])
    const { id } = await research(engine, spaceId, { query })
    const report = await engine.research.report(ADA, id)
    expect(report.sections).toMatchObject([
      { state: 'not-enough-evidence', answer: 'The passages do not say.', cited: [] },
    ])
    expect(report).toMatchObject({ state: 'not-enough-evidence', generator: 'extractive', open: [query], sources: [] })
    expect(await lastBundle(id)).toMatchObject({ id: report.evidenceBundleId, state: 'not-enough-evidence' })
  })

  test('answers a question that shares no terms with the passages only if a model is configured', async () => {
    const { engine } = engineTest
    const query = 'Which person devised segmented glass for coastal beacons such as lighthouses?'
    const without = await engine.research.report(ADA, (await research(engine, spaceId, { query })).id)
    expect(without.state).toBe('not-enough-evidence')
    await withModel()
    says.plan = JSON.stringify([query])
    says.section = 'Augustin Fresnel [1].'
    const report = await engine.research.report(ADA, (await research(engine, spaceId, { query })).id)
    expect(report).toMatchObject({ state: 'answerable', open: [], sources: [{ number: 1 }] })
  })
})

describe('a research plan', () => {
  test('states whether its estimates are assumed or measured by tasks of the space or the tenant', async () => {
    const { engine } = engineTest
    const asked = { knowledgeSpaceId: spaceId, query: TWO_PART }
    const first = await engine.research.plan(ADA, asked)
    expect(first.strategyVersion).toBe('research-task-1+assumed')
    await research(engine, spaceId)
    const measured = await engine.research.plan(ADA, asked)
    expect(measured.strategyVersion).toBe('research-task-1+measured-space')
    expect(measured.estimates.retrievalSteps).toBe(3)
    expect(measured.estimates.latencyMs.p50).toBeLessThan(measured.estimates.latencyMs.p95)
    const other = await engine.spaces.create(ADA, { name: 'Other', slug: 'other' })
    const elsewhere = await engine.research.plan(ADA, { ...asked, knowledgeSpaceId: other.id })
    expect(elsewhere.strategyVersion).toBe('research-task-1+measured-tenant')
    const stranger = { tenant: 'tenant-b', subject: 'bob' }
    const foreign = await engine.spaces.create(stranger, { name: 'F', slug: 'f' })
    await ingest(engine, stranger, foreign.id, FILES)
    const theirs = await engine.research.plan(stranger, { ...asked, knowledgeSpaceId: foreign.id })
    expect(theirs.strategyVersion).toBe('research-task-1+assumed')
  })
})

test('a space rejects a research task above its quota of active tasks until one of them ends', async () => {
  const small = await startEngine({ quotas: { maxActiveJobCount: 1 } })
  const id = await spaceWith(small.engine)
  const asked = { knowledgeSpaceId: id, query: TWO_PART }
  const first = await small.engine.research.create(ADA, asked)
  await expect(small.engine.research.create(ADA, asked)).rejects.toMatchObject({ code: 'capacity-exceeded' })
  await untilTaskEnded(small.engine, first.id)
  await untilTaskEnded(small.engine, (await small.engine.research.create(ADA, asked)).id)
  await small.end()
})
