import type { EvidenceBundle, EvidenceItem, EvidenceState } from '../../../contract/gateway/queries.js'
import type { ReachedResearchLimit, ResearchReport } from '../../../contract/gateway/research.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'

import type { SentenceSpan } from '../../../lib/text/sentences.js'
import { hasAnswerText } from '../../../lib/text/thoughts.js'
import { createDegradation, type Degradation, toDegradedFields } from '../../base/degraded.js'
import { checkAnswer } from '../../knowledge/index.js'
import { isBuiltin } from '../../models/index.js'
import {
  buildPrompt,
  chooseQuotation,
  computeReplyState,
  formatQuotation,
  getDecider,
  toQuotable,
  toSource,
  withState,
} from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { ModelCallCost } from '../rows/research/costs.js'
import { findStepBody } from '../rows/research/steps.js'
import { combineStates, type ResearchAnalysis } from './analyze.js'
import { askModel } from './ask-model.js'
import { createBundle } from './bundle.js'
import { type ComparisonField, type ComparisonFigure, findComparisonFigure } from './digest.js'
import { loadLeadDegradations, loadRetrievals } from './gather.js'
import type { ResearchQuestionPlan } from './plan-questions.js'
import { formatReport } from './report-text.js'
import { LimitReached, type TaskRun } from './task-run.js'

export const SECTION_TOKENS = 1024

/** An answer whose marks `[n]` refer to its own list of items. */
interface SectionDraft {
  answer: string
  /** ranges of the answer that quote documents: marks `[n]` in them are text */
  quoted?: SentenceSpan[]
  generator: 'model' | 'extractive'
  /** state of the section after writing; absent when that of the evidence applies */
  state?: EvidenceState
  /** the limit that kept the model from writing it */
  stop?: ReachedResearchLimit
  /** why rules wrote it although there is a model */
  degraded?: Degradation
  /** the figure that the section's part of a comparison asks for */
  cell?: ComparisonFigure
}

const NOTHING_FOUND = { answer: 'Nothing was found for this question.', generator: 'extractive' } as const

/** Reason for not showing what the model wrote. */
const UNSUPPORTED = createDegradation(
  'answer',
  'a section is a quotation of the evidence: its passages do not support what the model wrote',
)

type ReportSection = ResearchReport['sections'][number]
type SectionToWrite = ResearchAnalysis['sections'][number] & { items: EvidenceItem[] }

/**
 * Writes the report: a section for each question, by the model within the budget or as a quotation of the evidence,
 * with one list of sources. Each section is a separate step, so that no model call is repeated.
 */
export async function writeReport(
  run: TaskRun,
  analysis: ResearchAnalysis,
  bundle: EvidenceBundle,
  stoppedBy: ReachedResearchLimit | undefined,
): Promise<void> {
  const byId = new Map(bundle.items.map((item) => [item.nodeId, item]))
  const sources: EvidenceItem[] = []
  const sections: ReportSection[] = []
  const fields: ComparisonField[] = []
  const generators = new Set<SectionDraft['generator']>()
  const degraded = [...(await run.context.db.read(loadDegradations(run)))]
  let stop = stoppedBy
  for (const [index, section] of analysis.sections.entries()) {
    const items = section.nodeIds.flatMap((id) => byId.get(id) ?? [])
    const key = `generate-${String(index + 1).padStart(2, '0')}`
    const draft = await run.step(key, 'generate', async ({ signal }) => {
      const written = await draftSection(run, { ...section, items }, stop, signal)
      return { scanned: 0, toolCalls: written.cost === undefined ? 0 : 1, ...written }
    })
    stop ??= draft.stop
    if (draft.degraded !== undefined) degraded.push(draft.degraded)
    const state = draft.state ?? section.state
    if (state !== 'not-enough-evidence') generators.add(draft.generator)
    const { text, cited } = renumberCitations(draft, items, sources)
    const decidedBy = draft.generator === 'model' ? getDecider(state) : 'rules'
    sections.push({ question: section.question, state, decidedBy, answer: text, cited })
    const { part } = section
    const [entity] = part?.entities ?? []
    if (part?.measure === undefined || entity === undefined) continue
    const { measure, year } = part
    const value =
      draft.cell === undefined ? undefined : renumberCitations(formatField(draft.cell, items), items, sources).text
    const field = { entity, measure, ...omitUndefined({ year }) }
    fields.push({ ...field, ...omitUndefined({ value }) })
  }
  const states = sections.map(({ state }) => state)
  await run.step('report', 'generate', async () => {
    const state = combineStates(states, stoppedBy)
    // Sections that could not be answered change the state of the evidence, too.
    const finalBundle = state === bundle.state ? bundle : createBundle(withState(bundle, state), run.context.now())
    const body = buildReport(run, {
      sections,
      sources,
      fields,
      generators,
      bundle: finalBundle,
      stoppedBy: stop,
      degraded,
    })
    return { body, toolCalls: 0, scanned: 0, ...(finalBundle === bundle ? {} : { partial: finalBundle }) }
  })
}

/** Degradations of the earlier steps, and of a model that is no longer available. */
function* loadDegradations({ context, row, frozen, hasModel }: TaskRun): Read<Degradation[]> {
  const plan: ResearchQuestionPlan = parseJsonCell((yield* findStepBody(row, 'plan')) ?? '{}')
  const reference = frozen.profile.reasoningModel ?? context.options.defaultGenerator
  const isModelMissing = !hasModel && !isBuiltin(reference)
  return [
    ...(plan.degraded === undefined ? [] : [plan.degraded]),
    ...(yield* loadRetrievals(row)).flatMap(({ degraded = [] }) => degraded),
    ...(yield* loadLeadDegradations(row)),
    ...(isModelMissing
      ? [createDegradation('answer', `this daemon has no chat provider ${reference.pluginId}/${reference.provider}`)]
      : []),
  ]
}

async function draftSection(
  run: TaskRun,
  section: SectionToWrite,
  stoppedBy: ReachedResearchLimit | undefined,
  signal: AbortSignal,
): Promise<{ body: SectionDraft; cost?: ModelCallCost }> {
  const { searched, items } = section
  const draftByRules = (more: Pick<SectionDraft, 'stop' | 'degraded'> = {}) => ({
    body: { ...draftFromEvidence(section), ...more },
  })
  if (!run.hasModel || items.length === 0) return draftByRules()
  // Without remaining time or budget the model is not called.
  if (stoppedBy?.limit === 'timeoutMs' || stoppedBy?.limit === 'budgetUsd')
    return draftByRules({ degraded: toLimitDegradation(stoppedBy) })
  try {
    let numbers: number[] = []
    const promptFor = (window: number) => {
      const prompt = buildPrompt(window, searched, items, { maxTokens: SECTION_TOKENS })
      numbers = prompt.numbers
      return prompt
    }
    const reply = await askModel(run, promptFor, { part: 'answer', signal })
    if (reply === undefined || 'degraded' in reply) return draftByRules(reply)
    if (!hasAnswerText(reply.text))
      return draftByRules({
        degraded: createDegradation('answer', 'a section is a quotation of the evidence: the model returned no text'),
      })
    const body = draftFromModel(section, reply.text, numbers)
    return { body: body ?? draftByRules({ degraded: UNSUPPORTED }).body, cost: reply.spent }
  } catch (error) {
    const reached = signal.reason instanceof LimitReached ? signal.reason : error
    if (!(reached instanceof LimitReached)) throw error
    if (reached.stop.limit === 'budgetUsd') await run.noteBudget()
    return draftByRules({ stop: reached.stop, degraded: toLimitDegradation(reached.stop) })
  }
}

/** Degradation for a limit of the task that kept its model from writing. */
function toLimitDegradation({ limit, limitValue }: ReachedResearchLimit): Degradation {
  const reason = `a section is a quotation of the evidence: ${limit} of ${limitValue} was reached`
  return createDegradation('answer', reason, limit === 'timeoutMs' ? 'timeout' : 'budget-spent')
}

/**
 * Drafts a section from the model's text, as far as the passages support it. If the model declines, uses a quotation of
 * the evidence if that is sure.
 *
 * @param numbers numbers of the section's items in the prompt
 * @returns undefined when the passages support none of it
 */
function draftFromModel(section: SectionToWrite, text: string, numbers: readonly number[]): SectionDraft | undefined {
  const { question, state, items, withheld } = section
  const sources = new Map(
    numbers.flatMap((number) => {
      const item = items[number - 1]
      return item === undefined ? [] : [[number, toSource(item)] as const]
    }),
  )
  const { checked, dropped, isDeclined, text: reply } = checkAnswer(text, { question, sources })
  if (checked !== '')
    return {
      answer: checked,
      generator: 'model',
      state: computeReplyState(state, { isDeclined: false, isPart: dropped > 0 }, withheld),
      ...omitUndefined({ cell: findSectionFigure(section) }),
    }
  if (!isDeclined) return undefined
  const own = draftFromEvidence(section)
  if (!withheld && (own.state ?? state) === 'answerable') return own
  return { answer: reply, generator: 'model', state: computeReplyState(state, { isDeclined, isPart: false }, withheld) }
}

/**
 * Drafts a section from the requested figure, or else from a quotation that answers the question, as asked or as
 * searched.
 */
function draftFromEvidence(section: SectionToWrite): SectionDraft {
  const { question, searched, items, idf, state, part } = section
  const cell = findSectionFigure(section)
  if (cell !== undefined) {
    const answer = `${cell.quote} [${cell.place + 1}]`
    const quoted = [{ start: 0, end: cell.quote.length }]
    return { answer, quoted, generator: 'extractive', cell, state: state === 'conflict' ? state : 'answerable' }
  }
  if (state === 'not-enough-evidence') return { ...NOTHING_FOUND, state }
  const weights = new Map(idf)
  const passages = items.map((item) => ({ ...toQuotable(item), source: '' }))
  const quotations = [question, searched].flatMap(
    (query) => chooseQuotation({ query, passages, idf: (term) => weights.get(term) ?? 1 }) ?? [],
  )
  const [best] = quotations.sort((a, b) => b.probability - a.probability)
  if (best === undefined) return { ...NOTHING_FOUND, state: toUnansweredState(state) }
  const { text, blocks } = formatQuotation(best, items)
  // A quotation about another year, or about none, does not answer the question.
  const isOfYear = part?.measure === undefined || part.year === undefined || text.includes(part.year)
  const isOpen = state === 'answerable' && !isOfYear
  const draft = { answer: text, quoted: findQuotedRanges(text, blocks), generator: 'extractive' as const }
  return isOpen ? { ...draft, state: 'partial' } : draft
}

/** Ranges after the citation mark of each passage: its location and its blocks. */
function findQuotedRanges(text: string, blocks: readonly SentenceSpan[]): SentenceSpan[] {
  return blocks.map(({ end }, index) => ({ start: text.indexOf(']', blocks[index - 1]?.end ?? 0) + 1, end }))
}

/** The figure that a part of a comparison asks for, in passages that the reader may use. */
function findSectionFigure({ part, items, state }: SectionToWrite): ComparisonFigure | undefined {
  return part === undefined || state === 'permission-limited' ? undefined : findComparisonFigure(part, items)
}

/** A field of the table: the figure, its source and page. */
function formatField(
  { value, place }: ComparisonFigure,
  items: readonly EvidenceItem[],
): Pick<SectionDraft, 'answer' | 'quoted'> {
  const page = items[place]?.citations[0]?.pageNumber
  const answer = `${value} [${place + 1}]${page === undefined ? '' : `, p. ${page}`}`
  return { answer, quoted: [{ start: 0, end: value.length }] }
}

/** State of a section without an answer: better passages may exist for other readers. */
function toUnansweredState(state: EvidenceState): EvidenceState {
  return state === 'permission-limited' ? state : 'not-enough-evidence'
}

/** Replaces a section's own citation numbers by those of the report's sources; an invalid number is removed. */
function renumberCitations(
  { answer, quoted = [] }: Pick<SectionDraft, 'answer' | 'quoted'>,
  items: readonly EvidenceItem[],
  sources: EvidenceItem[],
) {
  const cited = new Set<number>()
  const text = answer.replace(/(\s?)\[(\d{1,3})\]/g, (mark, space: string, digits: string, offset: number) => {
    if (quoted.some(({ start, end }) => offset >= start && offset < end)) return mark
    const item = items[Number(digits) - 1]
    if (item === undefined) return ''
    let index = sources.findIndex(({ nodeId }) => nodeId === item.nodeId)
    if (index < 0) index = sources.push(item) - 1
    cited.add(index + 1)
    return `${space}[${index + 1}]`
  })
  return { text, cited: [...cited].sort((a, b) => a - b) }
}

interface ReportData {
  sections: ReportSection[]
  sources: EvidenceItem[]
  fields: ComparisonField[]
  generators: ReadonlySet<SectionDraft['generator']>
  bundle: EvidenceBundle
  stoppedBy: ReachedResearchLimit | undefined
  degraded: readonly Degradation[]
}

function buildReport(
  run: TaskRun,
  { sections, sources, fields, generators, bundle, stoppedBy, degraded }: ReportData,
): ResearchReport {
  const { row, frozen } = run
  const { route, snapshot } = frozen
  const open = sections.filter(({ state }) => state !== 'answerable').map(({ question }) => question)
  const listed = sources.flatMap((item, index) => {
    const [citation] = item.citations
    return citation === undefined
      ? []
      : [{ number: index + 1, nodeId: item.nodeId, title: String(item.metadata.title ?? ''), citation }]
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
    text: formatReport(row.query, { sections, sources: listed, fields, stoppedBy, degraded }),
    sections,
    sources: listed,
    open,
    ...toDegradedFields(degraded),
    ...omitUndefined({ stoppedBy }),
    evidenceBundleId: bundle.id,
    createdAt: new Date(run.context.now()).toISOString(),
  }
}
