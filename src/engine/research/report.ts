import type { EvidenceBundle, EvidenceItem, EvidenceState } from '../../contract/gateway/queries.js'
import type { ResearchReport, ResearchStop } from '../../contract/gateway/research.js'
import { saysSomething } from '../../lib/text/said.js'
import { type Degradation, degradation, degradedFields } from '../degraded.js'
import { isBuiltin } from '../models/registry.js'
import type { ModelReference } from '../models/types.js'
import { citationWriter } from '../query/citation-marks.js'
import { extractiveAnswer } from '../query/extractive.js'
import { buildPrompt, citedNumbers } from '../query/generate.js'
import { deciderOf, markReader, stateBySaid, withState } from '../query/said-of-evidence.js'
import { fromCell } from '../storage/readable.js'
import { type Analysis, wholeState } from './analyze.js'
import { askModel } from './ask-model.js'
import { foundBy, lackedByLeads } from './gather.js'
import type { Plan } from './plan-questions.js'
import { bundleOf, type Spent, stepBody } from './step-store.js'
import { LimitReached, type TaskRun } from './task-run.js'

export const SECTION_TOKENS = 1024

/** An answer whose marks `[n]` are places in its own list of items. */
interface Draft {
  answer: string
  generator: 'model' | 'extractive'
  /** of the section, by what could be said on it; absent where the evidence's own holds */
  state?: EvidenceState
  /** the limit that kept the model from writing it */
  stop?: ResearchStop
  /** why rules wrote it although there is a model */
  degraded?: Degradation
}

const NOTHING = { answer: 'No passage in this space answers this.', generator: 'extractive' } as const

type Section = ResearchReport['sections'][number]

/**
 * Writes the report: a section for each question, by the model within the budget or of the evidence's own sentences,
 * with one list of sources. Each section is a step of its own, so that no call of a model is made twice.
 */
export async function writeReport(
  run: TaskRun,
  analysis: Analysis,
  bundle: EvidenceBundle,
  stoppedBy: ResearchStop | undefined,
): Promise<void> {
  const byId = new Map(bundle.items.map((item) => [item.nodeId, item]))
  const sources: EvidenceItem[] = []
  const sections: Section[] = []
  const generators = new Set<Draft['generator']>()
  const degraded = [...lackedSoFar(run)]
  let stop = stoppedBy
  for (const [place, section] of analysis.sections.entries()) {
    const items = section.nodeIds.flatMap((id) => byId.get(id) ?? [])
    const key = `generate-${String(place + 1).padStart(2, '0')}`
    const draft = await run.step(key, 'generate', async ({ signal }) => {
      const written = await draftOf(run, { ...section, items }, stop, signal)
      return { scanned: 0, toolCalls: written.spent === undefined ? 0 : 1, ...written }
    })
    stop ??= draft.stop
    if (draft.degraded !== undefined) degraded.push(draft.degraded)
    const state = draft.state ?? section.state
    if (draft.answer !== NOTHING.answer) generators.add(draft.generator)
    const { text, cited } = renumbered(draft.answer, items, sources)
    const decidedBy = draft.generator === 'model' ? deciderOf(state) : 'rules'
    sections.push({ question: section.question, state, decidedBy, answer: text, cited })
  }
  const states = sections.map(({ state }) => state)
  await run.step('report', 'generate', async () => {
    const whole = wholeState(states, stoppedBy)
    // what could not be said after all counts in the evidence too
    const said = whole === bundle.state ? bundle : bundleOf(withState(bundle, whole))
    const body = wholeReport(run, { sections, sources, generators, bundle: said, stoppedBy: stop, degraded })
    return { body, toolCalls: 0, scanned: 0, ...(said === bundle ? {} : { partial: said }) }
  })
}

/** What the steps before had to do without, and the model where it is not there any more. */
function lackedSoFar({ context, row, frozen, model }: TaskRun): Degradation[] {
  const plan: Plan = fromCell(stepBody(context.db, row.id, 'plan') ?? '{}')
  const reference = frozen.profile.reasoningModel ?? context.options.defaultGenerator
  const isGone = model === undefined && !isBuiltin(reference)
  return [
    ...(plan.degraded === undefined ? [] : [plan.degraded]),
    ...foundBy(context.db, row.id).flatMap(({ degraded = [] }) => degraded),
    ...lackedByLeads(context.db, row.id),
    ...(isGone ? [degradation('answer', `this daemon has no chat provider ${providerOf(reference)}`)] : []),
  ]
}

function providerOf({ pluginId, provider }: ModelReference): string {
  return `${pluginId}/${provider}`
}

async function draftOf(
  run: TaskRun,
  section: Analysis['sections'][number] & { items: EvidenceItem[] },
  stoppedBy: ResearchStop | undefined,
  signal: AbortSignal,
): Promise<{ body: Draft; spent?: Spent }> {
  const { searched, items } = section
  const byRules = (more: Pick<Draft, 'stop' | 'degraded'> = {}) => ({ body: { ...extractive(section), ...more } })
  if (run.model === undefined || items.length === 0) return byRules()
  // what has no time or budget left does not ask
  if (stoppedBy?.limit === 'timeoutMs' || stoppedBy?.limit === 'budgetUsd')
    return byRules({ degraded: spentBy(stoppedBy) })
  try {
    const { contextTokens } = run.model.generator
    const { messages, maxTokens, given } = buildPrompt(contextTokens, searched, items, [], {
      maxTokens: SECTION_TOKENS,
    })
    const reply = await askModel(run, messages, maxTokens, { part: 'answer', signal })
    if (reply === undefined || 'degraded' in reply) return byRules(reply)
    if (!saysSomething(reply.text))
      return byRules({
        degraded: degradation('answer', 'a section is made of sentences of the evidence: the model said nothing'),
      })
    return { body: modelDraft(section, reply.text, given.passages), spent: reply.spent }
  } catch (error) {
    const reached = signal.reason instanceof LimitReached ? signal.reason : error
    if (!(reached instanceof LimitReached)) throw error
    if (reached.stop.limit === 'budgetUsd') await run.noteBudget()
    return byRules({ stop: reached.stop, degraded: spentBy(reached.stop) })
  }
}

/** A limit of the task that kept its model from writing. */
function spentBy({ limit, limitValue }: ResearchStop): Degradation {
  const reason = `a section is made of sentences of the evidence: ${limit} of ${limitValue} was reached`
  return degradation('answer', reason, limit === 'timeoutMs' ? 'timeout' : 'budget-spent')
}

/**
 * What the model wrote; it says itself whether that answers.
 *
 * @param given passages that it had, of the section's first
 */
function modelDraft(
  { state, withheld }: Pick<Analysis['sections'][number], 'state' | 'withheld'>,
  text: string,
  given: number,
): Draft {
  const mark = markReader()
  const marks = citationWriter(given)
  const answer = `${marks.take(`${mark.take(text)}${mark.rest()}`)}${marks.rest()}`.trim()
  const cited = citedNumbers(answer, given)
  const said = stateBySaid(state, mark.said(), cited.length, withheld)
  return { answer: answer === '' ? NOTHING.answer : answer, generator: 'model', state: said }
}

/** Passages come in the order of the question as it is searched; their sentences are chosen by its own words. */
function extractive(section: Analysis['sections'][number] & { items: EvidenceItem[] }): Draft {
  const { question, searched, items, idf, state } = section
  if (state === 'not-enough-evidence') return { ...NOTHING, state }
  const weights = new Map(idf)
  const evidence = items.map(({ text, metadata }) => ({ text, title: String(metadata.title ?? '') }))
  const asked = { evidence, idf: (term: string) => weights.get(term) ?? 1 }
  const own = extractiveAnswer({ ...asked, query: question }).text
  const text = own === '' ? extractiveAnswer({ ...asked, query: searched }).text : own
  return text === '' ? { ...NOTHING, state: emptyState(state) } : { answer: text, generator: 'extractive' }
}

/** What a section without an answer comes to: better passages may still be there for others. */
function emptyState(state: EvidenceState): EvidenceState {
  return state === 'permission-limited' ? state : 'not-enough-evidence'
}

/** Puts the numbers of the report's sources in place of a section's own; a number of nothing goes. */
function renumbered(answer: string, items: readonly EvidenceItem[], sources: EvidenceItem[]) {
  const cited = new Set<number>()
  const text = answer.replace(/\s?\[(\d{1,3})\]/g, (mark, digits: string) => {
    const item = items[Number(digits) - 1]
    if (item === undefined) return ''
    let place = sources.findIndex(({ nodeId }) => nodeId === item.nodeId)
    if (place < 0) place = sources.push(item) - 1
    cited.add(place + 1)
    return `${mark.startsWith('[') ? '' : ' '}[${place + 1}]`
  })
  return { text, cited: [...cited].sort((a, b) => a - b) }
}

interface Parts {
  sections: Section[]
  sources: EvidenceItem[]
  generators: ReadonlySet<Draft['generator']>
  bundle: EvidenceBundle
  stoppedBy: ResearchStop | undefined
  degraded: readonly Degradation[]
}

function wholeReport(
  run: TaskRun,
  { sections, sources, generators, bundle, stoppedBy, degraded }: Parts,
): ResearchReport {
  const { row, frozen } = run
  const { route, snapshot } = frozen
  const open = sections.filter(({ state }) => state !== 'answerable').map(({ question }) => question)
  const listed = sources.flatMap((item, place) => {
    const [citation] = item.citations
    return citation === undefined
      ? []
      : [{ number: place + 1, nodeId: item.nodeId, title: String(item.metadata.title ?? ''), citation }]
  })
  const [only = 'extractive'] = generators
  return {
    ...{ researchTaskId: row.id, knowledgeSpaceId: row.space_id, query: row.query },
    ...{ requestedMode: route.requestedMode, resolvedMode: route.resolvedMode, route: { ...route } },
    ...{ publicationId: snapshot.publicationId, state: bundle.state },
    generator: generators.size > 1 ? 'mixed' : only,
    text: markdown(row.query, { sections, sources: listed, stoppedBy, degraded }),
    ...{ sections, sources: listed, open, ...degradedFields(degraded) },
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
    ...{ evidenceBundleId: bundle.id, createdAt: new Date(run.context.now()).toISOString() },
  }
}

function markdown(
  query: string,
  {
    sections,
    sources,
    stoppedBy,
    degraded,
  }: Pick<Parts, 'sections' | 'stoppedBy' | 'degraded'> & Pick<ResearchReport, 'sources'>,
): string {
  const heading = (text: string) => text.replace(/\s+/g, ' ').trim()
  const lines = [`# ${heading(query)}`]
  for (const { question, state, answer } of sections) {
    if (sections.length > 1) lines.push(`## ${heading(question)}`)
    lines.push(answer)
    if (state === 'conflict') lines.push('The passages contradict each other here.')
    if (state === 'permission-limited') lines.push('Better passages exist that you may not read.')
  }
  if (stoppedBy !== undefined)
    lines.push(`The work was cut short: ${stoppedBy.limit} of ${stoppedBy.limitValue} was reached.`)
  const { degradedReasons, degradedClass } = degradedFields(degraded)
  if (degradedClass !== undefined)
    lines.push([`This report is degraded (${degradedClass}):`, ...degradedReasons.map((one) => `- ${one}`)].join('\n'))
  if (sources.length > 0) lines.push('## Sources', sources.map(sourceLine).join('\n'))
  return `${lines.join('\n\n')}\n`
}

function sourceLine({ number, title, citation }: ResearchReport['sources'][number]): string {
  const page = citation.pageNumber === undefined ? '' : `, p. ${citation.pageNumber}`
  return `[${number}] ${title.replace(/\s+/g, ' ')}${page}`
}
