import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ApiError } from '../../client/errors.js'
import { EvidenceState } from '../../contract/gateway/queries.js'
import type { ResearchReport, ResearchTaskJob } from '../../contract/gateway/research.js'
import { PlanResearchBody, ResearchLimits, ResearchStage } from '../../contract/gateway/research.js'
import { count, positive, uuid } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import type { Api } from '../api.js'
import { cutText, TOKENS, tokensOf } from '../budget.js'
import { oneLine, Writer } from '../content.js'
import { maxTokens, place, queryText, space } from '../fields.js'
import type { Spaces } from '../spaces.js'
import { argumentsOf, READS, resultOf, tool } from '../tool.js'
import { uriOf } from '../uri.js'

const ENDED: readonly string[] = ['completed', 'failed', 'canceled']
/** Tokens of a source beyond its names. */
const SOURCE_TOKENS = 40

const Source = z.strictObject({ number: positive, ...place })

const Status = z.strictObject({
  researchTaskId: z.string(),
  stage: ResearchStage,
  hasEnded: z.boolean(),
  costUsd: z.number(),
  error: z.string().optional(),
  report: z
    .strictObject({
      text: z.string().describe('Markdown; [n] are numbers of sources'),
      offset: count,
      totalChars: count,
      nextOffset: count.optional().describe('offset of the next part; absent at the end'),
      state: EvidenceState,
      sources: z.array(Source),
      open: z.array(z.string()).describe('questions without a complete answer'),
      degradedReasons: z.array(z.string()),
    })
    .optional(),
})
type Status = z.output<typeof Status>

const ResearchInput = z.strictObject({
  question: queryText,
  space,
  mode: PlanResearchBody.shape.mode,
  budgetUsd: PlanResearchBody.shape.budgetUsd.describe('Maximum cost of models in US dollars.'),
  limits: ResearchLimits.optional(),
})

/** Starts a research task of the service. */
export async function startResearch(api: Api, spaces: Spaces, given: unknown): Promise<ResearchTaskJob> {
  const { space: name, mode, budgetUsd, limits, question: query } = argumentsOf('research', ResearchInput, given)
  const ref = await spaces.named(name)
  const body = { knowledgeSpaceId: ref.id, query, ...defined({ mode, budgetUsd, limits }) }
  return api.request('POST /research-tasks', { body })
}

export const research = tool({
  name: 'research',
  title: 'Start research',
  description:
    'Start a research task for a complex question; it runs in the background and ends in a report with sources. Returns an id at once: call `research_status` for the progress and the report. For simple questions `ask` is faster.',
  input: ResearchInput,
  output: () => Status,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  isTask: true,
  run: async (args, { api, spaces }) => {
    const data = statusOf(await startResearch(api, spaces, args))
    const text = `Research ${data.researchTaskId} has started (${data.stage}). Call research_status with this id for the progress and the report.`
    return { text, data }
  },
})

export const researchStatus = tool({
  name: 'research_status',
  title: 'Progress and report of research',
  description: 'Get the progress of a research task and, once it is completed, its report with sources.',
  input: z.strictObject({
    researchTaskId: uuid,
    offset: count.default(0).describe('nextOffset of the previous result, to continue the report.'),
    maxTokens,
  }),
  output: () => Status,
  annotations: READS,
  run: async ({ researchTaskId, ...asked }, { api, spaces }) => {
    return answerOf(await readStatus(api, spaces, researchTaskId, asked))
  },
})

export const researchCancel = tool({
  name: 'research_cancel',
  title: 'Cancel research',
  description: 'Cancel a running research task. Its evidence so far is kept.',
  input: z.strictObject({ researchTaskId: uuid }),
  output: () => Status,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async ({ researchTaskId: id }, { api, spaces }) => {
    await readStatus(api, spaces, id, { offset: 0, maxTokens: TOKENS.min })
    const data = statusOf(await api.request('DELETE /research-tasks/{id}', { path: { id } }))
    return { text: told(data), data }
  },
})

function answerOf(data: Status) {
  const links = (data.report?.sources ?? []).map(({ uri, document: name }) => ({ uri, name }))
  return { text: told(data), data, links }
}

/** The result of `tasks/result`: the same as `research_status`. */
export function researchResult(status: Status): CallToolResult {
  return { ...resultOf(answerOf(status)), ...(status.stage === 'completed' ? {} : { isError: true }) }
}

export async function readStatus(
  api: Api,
  spaces: Spaces,
  id: string,
  { offset, maxTokens: budget }: { offset: number; maxTokens: number },
): Promise<Status> {
  const job = await api.request('GET /research-tasks/{id}', { path: { id } })
  const ref = await spaces.named(job.knowledgeSpaceId)
  const report = job.stage === 'completed' ? await reportOf(api, id) : undefined
  if (report === undefined) return statusOf(job)
  return { ...statusOf(job), report: shown(report, ref.slug, offset, budget) }
}

/** A task may be completed a moment before its report can be read. */
async function reportOf(api: Api, id: string): Promise<ResearchReport | undefined> {
  try {
    return await api.request('GET /research-tasks/{id}/report', { path: { id } })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function shown(report: ResearchReport, slug: string, offset: number, budget: number): Status['report'] {
  const sources = report.sources.map(({ number, title, citation }) => ({
    number,
    document: title,
    documentId: citation.documentAssetId,
    uri: uriOf({ space: slug, documentId: citation.documentAssetId }),
    section: citation.sectionPath,
    ...defined({ page: citation.pageNumber, start: citation.startOffset, end: citation.endOffset }),
  }))
  const beside = sources.reduce(
    (sum, { document, section }) => sum + tokensOf(document + section.join()) + SOURCE_TOKENS,
    0,
  )
  const { text, chars, isCut } = cutText(report.text.slice(offset), Math.max(budget / 2, budget - beside))
  return {
    text,
    offset,
    totalChars: report.text.length,
    ...(isCut ? { nextOffset: offset + chars } : {}),
    state: report.state,
    // If the text is truncated, only the sources cited in it.
    sources: sources.filter(({ number }) => !isCut || text.includes(`[${number}]`)),
    open: report.open,
    degradedReasons: report.degradedReasons,
  }
}

function statusOf({ id, stage, cost, error }: ResearchTaskJob): Status {
  return { researchTaskId: id, stage, hasEnded: ENDED.includes(stage), costUsd: cost.totalUsd, ...defined({ error }) }
}

function told({ researchTaskId, stage, hasEnded, error, report }: Status): string {
  const writer = new Writer().line(`Research ${researchTaskId}: ${stage}${error === undefined ? '' : ` (${error})`}`)
  if (report === undefined) {
    if (!hasEnded) writer.line('It is still running: call again in some seconds.')
    return writer.text()
  }
  for (const reason of report.degradedReasons) writer.line(`The report is degraded: ${reason}.`)
  writer.content(report.text)
  if (report.nextOffset !== undefined) writer.line(`There is more: call again with offset ${report.nextOffset}.`)
  if (report.sources.length > 0)
    writer.line('Sources:').content(report.sources.map((one) => `[${one.number}] ${oneLine(one.document)}`).join('\n'))
  for (const question of report.open) writer.line('Open question:').content(question)
  return writer.text()
}
