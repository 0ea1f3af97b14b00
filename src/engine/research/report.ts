import type { EvidenceBundle, EvidenceItem, EvidenceState } from '../../contract/gateway/queries.js'
import type { ResearchReport, ResearchStop } from '../../contract/gateway/research.js'
import { defined } from '../../lib/defined.js'

import type { Span } from '../../lib/text/sentences.js'
import { hasAnswerText } from '../../lib/text/thoughts.js'
import { type Degradation, degradation, degradedFields } from '../base/degraded.js'
import type { ModelReference } from '../base/model-reference.js'

import { isBuiltin } from '../models/registry.js'
import { checkAnswer } from '../query/answer-check.js'
import { deciderOf, stateOfReply, withState } from '../query/answer-state.js'
import { buildPrompt } from '../query/generate.js'
import { sourceOf } from '../query/model-answer.js'
import { quote, toQuotable } from '../query/quotation/quote.js'
import { quotationText } from '../query/quotation/text.js'
import type { Spent } from '../rows/research/costs.js'
import { stepBody } from '../rows/research/steps.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { type Analysis, wholeState } from './analyze.js'
import { askModel } from './ask-model.js'
import { bundleOf } from './bundle.js'
import { type CellFound, cellOf, type Field } from './digest.js'
import { foundBy, lackedByLeads } from './gather.js'
import type { Plan } from './plan-questions.js'
import { reportText } from './report-text.js'
import { LimitReached, type TaskRun } from './task-run.js'

export const SECTION_TOKENS = 1024

/** An answer whose marks `[n]` refer to its own list of items. */
interface Draft {
  answer: string
  /** ranges of the answer that quote documents: marks `[n]` in them are text */
  quoted?: Span[]
  generator: 'model' | 'extractive'
  /** state of the section after writing; absent when that of the evidence applies */
  state?: EvidenceState
  /** the limit that kept the model from writing it */
  stop?: ResearchStop
  /** why rules wrote it although there is a model */
  degraded?: Degradation
  /** the figure that the section's part of a comparison asks for */
  cell?: CellFound
}

const NOTHING = { answer: 'Nothing was found for this question.', generator: 'extractive' } as const

/** Reason for not showing what the model wrote. */
const UNSUPPORTED = degradation(
  'answer',
  'a section is a quotation of the evidence: its passages do not support what the model wrote',
)

type Section = ResearchReport['sections'][number]
type Drafted = Analysis['sections'][number] & { items: EvidenceItem[] }

/**
 * Writes the report: a section for each question, by the model within the budget or as a quotation of the evidence,
 * with one list of sources. Each section is a separate step, so that no model call is repeated.
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
  const fields: Field[] = []
  const generators = new Set<Draft['generator']>()
  const degraded = [...(await run.context.db.read(lackedSoFar(run)))]
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
    if (state !== 'not-enough-evidence') generators.add(draft.generator)
    const { text, cited } = renumbered(draft, items, sources)
    const decidedBy = draft.generator === 'model' ? deciderOf(state) : 'rules'
    sections.push({ question: section.question, state, decidedBy, answer: text, cited })
    const { part } = section
    const [entity] = part?.entities ?? []
    if (part?.measure === undefined || entity === undefined) continue
    const { measure, year } = part
    const value = draft.cell === undefined ? undefined : renumbered(fieldOf(draft.cell, items), items, sources).text
    const of = { entity, measure, ...defined({ year }) }
    fields.push({ ...of, ...defined({ value }) })
  }
  const states = sections.map(({ state }) => state)
  await run.step('report', 'generate', async () => {
    const whole = wholeState(states, stoppedBy)
    // Sections that could not be answered change the state of the evidence, too.
    const said = whole === bundle.state ? bundle : bundleOf(withState(bundle, whole))
    const body = wholeReport(run, { sections, sources, fields, generators, bundle: said, stoppedBy: stop, degraded })
    return { body, toolCalls: 0, scanned: 0, ...(said === bundle ? {} : { partial: said }) }
  })
}

/** Degradations of the earlier steps, and of a model that is no longer available. */
function* lackedSoFar({ context, row, frozen, hasModel }: TaskRun): Read<Degradation[]> {
  const plan: Plan = fromCell((yield* stepBody(row, 'plan')) ?? '{}')
  const reference = frozen.profile.reasoningModel ?? context.options.defaultGenerator
  const isGone = !hasModel && !isBuiltin(reference)
  return [
    ...(plan.degraded === undefined ? [] : [plan.degraded]),
    ...(yield* foundBy(row)).flatMap(({ degraded = [] }) => degraded),
    ...(yield* lackedByLeads(row)),
    ...(isGone ? [degradation('answer', `this daemon has no chat provider ${providerOf(reference)}`)] : []),
  ]
}

function providerOf({ pluginId, provider }: ModelReference): string {
  return `${pluginId}/${provider}`
}

async function draftOf(
  run: TaskRun,
  section: Drafted,
  stoppedBy: ResearchStop | undefined,
  signal: AbortSignal,
): Promise<{ body: Draft; spent?: Spent }> {
  const { searched, items } = section
  const byRules = (more: Pick<Draft, 'stop' | 'degraded'> = {}) => ({ body: { ...extractive(section), ...more } })
  if (!run.hasModel || items.length === 0) return byRules()
  // Without remaining time or budget the model is not called.
  if (stoppedBy?.limit === 'timeoutMs' || stoppedBy?.limit === 'budgetUsd')
    return byRules({ degraded: spentBy(stoppedBy) })
  try {
    let numbers: number[] = []
    const promptFor = (window: number) => {
      const prompt = buildPrompt(window, searched, items, [], { maxTokens: SECTION_TOKENS })
      numbers = prompt.numbers
      return prompt
    }
    const reply = await askModel(run, promptFor, { part: 'answer', signal })
    if (reply === undefined || 'degraded' in reply) return byRules(reply)
    if (!hasAnswerText(reply.text))
      return byRules({
        degraded: degradation('answer', 'a section is a quotation of the evidence: the model returned no text'),
      })
    const body = modelDraft(section, reply.text, numbers)
    return { body: body ?? byRules({ degraded: UNSUPPORTED }).body, spent: reply.spent }
  } catch (error) {
    const reached = signal.reason instanceof LimitReached ? signal.reason : error
    if (!(reached instanceof LimitReached)) throw error
    if (reached.stop.limit === 'budgetUsd') await run.noteBudget()
    return byRules({ stop: reached.stop, degraded: spentBy(reached.stop) })
  }
}

/** Degradation for a limit of the task that kept its model from writing. */
function spentBy({ limit, limitValue }: ResearchStop): Degradation {
  const reason = `a section is a quotation of the evidence: ${limit} of ${limitValue} was reached`
  return degradation('answer', reason, limit === 'timeoutMs' ? 'timeout' : 'budget-spent')
}

/**
 * Drafts a section from the model's text, as far as the passages support it. If the model declines, uses a quotation of
 * the evidence if that is sure.
 *
 * @param numbers numbers of the section's items in the prompt
 * @returns undefined when the passages support none of it
 */
function modelDraft(section: Drafted, text: string, numbers: readonly number[]): Draft | undefined {
  const { question, state, items, withheld } = section
  const sources = new Map(
    numbers.flatMap((number) => {
      const item = items[number - 1]
      return item === undefined ? [] : [[number, sourceOf(item)] as const]
    }),
  )
  const { checked, dropped, isDeclined, text: reply } = checkAnswer(text, { question, sources })
  if (checked !== '')
    return {
      answer: checked,
      generator: 'model',
      state: stateOfReply(state, { isDeclined: false, isPart: dropped > 0 }, withheld),
      ...defined({ cell: cellIn(section) }),
    }
  if (!isDeclined) return undefined
  const own = extractive(section)
  if (!withheld && (own.state ?? state) === 'answerable') return own
  return { answer: reply, generator: 'model', state: stateOfReply(state, { isDeclined, isPart: false }, withheld) }
}

/**
 * Drafts a section from the requested figure, or else from a quotation that answers the question, as asked or as
 * searched.
 */
function extractive(section: Drafted): Draft {
  const { question, searched, items, idf, state, part } = section
  const cell = cellIn(section)
  if (cell !== undefined) {
    const answer = `${cell.quote} [${cell.place + 1}]`
    const quoted = [{ start: 0, end: cell.quote.length }]
    return { answer, quoted, generator: 'extractive', cell, state: state === 'conflict' ? state : 'answerable' }
  }
  if (state === 'not-enough-evidence') return { ...NOTHING, state }
  const weights = new Map(idf)
  const passages = items.map((item) => ({ ...toQuotable(item), source: '' }))
  const quotations = [question, searched].flatMap(
    (query) => quote({ query, passages, idf: (term) => weights.get(term) ?? 1 }) ?? [],
  )
  const [best] = quotations.sort((a, b) => b.probability - a.probability)
  if (best === undefined) return { ...NOTHING, state: emptyState(state) }
  const { text, blocks } = quotationText(best, items)
  // A quotation about another year, or about none, does not answer the question.
  const isOfYear = part?.measure === undefined || part.year === undefined || text.includes(part.year)
  const isOpen = state === 'answerable' && !isOfYear
  const draft = { answer: text, quoted: quotedRanges(text, blocks), generator: 'extractive' as const }
  return isOpen ? { ...draft, state: 'partial' } : draft
}

/** Ranges after the citation mark of each passage: its location and its blocks. */
function quotedRanges(text: string, blocks: readonly Span[]): Span[] {
  return blocks.map(({ end }, index) => ({ start: text.indexOf(']', blocks[index - 1]?.end ?? 0) + 1, end }))
}

/** The figure that a part of a comparison asks for, in passages that the reader may use. */
function cellIn({ part, items, state }: Drafted): CellFound | undefined {
  return part === undefined || state === 'permission-limited' ? undefined : cellOf(part, items)
}

/** A field of the table: the figure, its source and page. */
function fieldOf({ value, place }: CellFound, items: readonly EvidenceItem[]): Pick<Draft, 'answer' | 'quoted'> {
  const page = items[place]?.citations[0]?.pageNumber
  const answer = `${value} [${place + 1}]${page === undefined ? '' : `, p. ${page}`}`
  return { answer, quoted: [{ start: 0, end: value.length }] }
}

/** State of a section without an answer: better passages may exist for other readers. */
function emptyState(state: EvidenceState): EvidenceState {
  return state === 'permission-limited' ? state : 'not-enough-evidence'
}

/** Replaces a section's own citation numbers by those of the report's sources; an invalid number is removed. */
function renumbered(
  { answer, quoted = [] }: Pick<Draft, 'answer' | 'quoted'>,
  items: readonly EvidenceItem[],
  sources: EvidenceItem[],
) {
  const cited = new Set<number>()
  const text = answer.replace(/(\s?)\[(\d{1,3})\]/g, (mark, space: string, digits: string, offset: number) => {
    if (quoted.some(({ start, end }) => offset >= start && offset < end)) return mark
    const item = items[Number(digits) - 1]
    if (item === undefined) return ''
    let place = sources.findIndex(({ nodeId }) => nodeId === item.nodeId)
    if (place < 0) place = sources.push(item) - 1
    cited.add(place + 1)
    return `${space}[${place + 1}]`
  })
  return { text, cited: [...cited].sort((a, b) => a - b) }
}

interface Parts {
  sections: Section[]
  sources: EvidenceItem[]
  fields: Field[]
  generators: ReadonlySet<Draft['generator']>
  bundle: EvidenceBundle
  stoppedBy: ResearchStop | undefined
  degraded: readonly Degradation[]
}

function wholeReport(
  run: TaskRun,
  { sections, sources, fields, generators, bundle, stoppedBy, degraded }: Parts,
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
    researchTaskId: row.id,
    knowledgeSpaceId: row.space_id,
    query: row.query,
    requestedMode: route.requestedMode,
    resolvedMode: route.resolvedMode,
    route: { ...route },
    publicationId: snapshot.publicationId,
    state: bundle.state,
    generator: generators.size > 1 ? 'mixed' : only,
    text: reportText(row.query, { sections, sources: listed, fields, stoppedBy, degraded }),
    sections,
    sources: listed,
    open,
    ...degradedFields(degraded),
    ...defined({ stoppedBy }),
    evidenceBundleId: bundle.id,
    createdAt: new Date(run.context.now()).toISOString(),
  }
}
