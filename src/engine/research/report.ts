import type { EvidenceBundle, EvidenceItem } from '../../contract/gateway/queries.js'
import type { ResearchReport, ResearchStop } from '../../contract/gateway/research.js'
import { extractiveAnswer } from '../query/extractive.js'
import { buildMessages } from '../query/generate.js'
import type { Analysis } from './analyze.js'
import { askModel } from './ask-model.js'
import type { Spent } from './step-store.js'
import { LimitReached, type TaskRun } from './task-run.js'

export const SECTION_TOKENS = 1024
const NOT_FOUND = 'No passage in this space answers this.'

/** An answer whose marks `[n]` are places in its own list of items. */
interface Draft {
  answer: string
  generator: 'model' | 'extractive'
  /** the limit that kept the model from writing it */
  stop?: ResearchStop
}

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
  let stop = stoppedBy
  for (const [place, section] of analysis.sections.entries()) {
    const items = section.nodeIds.flatMap((id) => byId.get(id) ?? [])
    const key = `generate-${String(place + 1).padStart(2, '0')}`
    const draft = await run.step(key, 'generate', async ({ signal }) => {
      const written = await draftOf(run, { ...section, items }, stop, signal)
      return { scanned: 0, toolCalls: written.spent === undefined ? 0 : 1, ...written }
    })
    stop ??= draft.stop
    if (items.length > 0 && section.state !== 'not-enough-evidence') generators.add(draft.generator)
    const { text, cited } = renumbered(draft.answer, items, sources)
    sections.push({ question: section.question, state: section.state, answer: text, cited })
  }
  await run.step('report', 'generate', async () => {
    const body = wholeReport(run, { sections, sources, generators, bundle, stoppedBy: stop })
    return { body, toolCalls: 0, scanned: 0 }
  })
}

async function draftOf(
  run: TaskRun,
  section: Analysis['sections'][number] & { items: EvidenceItem[] },
  stoppedBy: ResearchStop | undefined,
  signal: AbortSignal,
): Promise<{ body: Draft; spent?: Spent }> {
  const { searched, state, items } = section
  if (state === 'not-enough-evidence' || items.length === 0)
    return { body: { answer: NOT_FOUND, generator: 'extractive' } }
  const byRules = (stop?: ResearchStop) => ({
    body: { ...extractive(section), ...(stop === undefined ? {} : { stop }) },
  })
  // what has no time or budget left does not ask
  if (stoppedBy?.limit === 'timeoutMs' || stoppedBy?.limit === 'budgetUsd') return byRules()
  try {
    const reply = await askModel(run, buildMessages(searched, items, []), SECTION_TOKENS, signal)
    if (reply === undefined || reply.text.trim() === '') return byRules()
    return { body: { answer: reply.text.trim(), generator: 'model' }, spent: reply.spent }
  } catch (error) {
    const reached = signal.reason instanceof LimitReached ? signal.reason : error
    if (!(reached instanceof LimitReached)) throw error
    if (reached.stop.limit === 'budgetUsd') await run.noteBudget()
    return byRules(reached.stop)
  }
}

/** Passages come in the order of the question as it is searched; their sentences are chosen by its own words. */
function extractive({ question, items, idf }: Analysis['sections'][number] & { items: EvidenceItem[] }): Draft {
  const weights = new Map(idf)
  const evidence = items.map(({ text, metadata }) => ({ text, title: String(metadata.title ?? '') }))
  const { text } = extractiveAnswer({ query: question, evidence, idf: (term) => weights.get(term) ?? 1 })
  return { answer: text === '' ? NOT_FOUND : text, generator: 'extractive' }
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
}

function wholeReport(run: TaskRun, { sections, sources, generators, bundle, stoppedBy }: Parts): ResearchReport {
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
    text: markdown(row.query, sections, listed, stoppedBy),
    ...{ sections, sources: listed, open },
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
    ...{ evidenceBundleId: bundle.id, createdAt: new Date(run.context.now()).toISOString() },
  }
}

function markdown(
  query: string,
  sections: readonly Section[],
  sources: ResearchReport['sources'],
  stoppedBy: ResearchStop | undefined,
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
  if (sources.length > 0) lines.push('## Sources', sources.map(sourceLine).join('\n'))
  return `${lines.join('\n\n')}\n`
}

function sourceLine({ number, title, citation }: ResearchReport['sources'][number]): string {
  const page = citation.pageNumber === undefined ? '' : `, p. ${citation.pageNumber}`
  return `[${number}] ${title.replace(/\s+/g, ' ')}${page}`
}
