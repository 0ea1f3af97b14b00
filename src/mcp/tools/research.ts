import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ApiError } from '../../client/errors.js'
import { EvidenceState } from '../../contract/gateway/queries.js'
import type { ResearchReport, ResearchTaskJob } from '../../contract/gateway/research.js'
import { PlanResearchBody, ResearchLimits, ResearchStage } from '../../contract/gateway/research.js'
import { count, positive, uuid } from '../../contract/primitives.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { GatewayApi } from '../api.js'
import { parseArguments } from '../arguments.js'
import { estimateTokens, TOKEN_LIMITS, truncateToTokens } from '../budget.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { locationFields, maxTokensField, queryField, spaceField } from '../fields.js'
import type { SessionAccess } from '../spaces.js'
import { defineTool, READ_ONLY, toToolResult } from '../tool.js'
import { formatUri } from '../uri.js'

const FINAL_STAGES: readonly string[] = ['completed', 'failed', 'canceled']
/** Tokens of a source beyond its names: field names, address, offsets. */
const SOURCE_OVERHEAD_TOKENS = 40

const sourceSchema = z.strictObject({ number: positive, ...locationFields })

const ResearchStatus = z.strictObject({
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
      sources: z.array(sourceSchema),
      open: z.array(z.string()).describe('questions without a complete answer'),
      degradedReasons: z.array(z.string()),
    })
    .optional(),
})
type ResearchStatus = z.output<typeof ResearchStatus>

const researchInputSchema = z.strictObject({
  question: queryField,
  space: spaceField,
  mode: PlanResearchBody.shape.mode,
  budgetUsd: PlanResearchBody.shape.budgetUsd.describe('Maximum cost of models in US dollars.'),
  limits: ResearchLimits.optional(),
})

/** Starts a research task of the service. */
export async function startResearch({ api, spaces }: SessionAccess, args: unknown): Promise<ResearchTaskJob> {
  const { values } = parseArguments('research', researchInputSchema, args)
  const { space: spaceName, mode, budgetUsd, limits, question: query } = values
  const space = await spaces.resolve(spaceName)
  const body = { knowledgeSpaceId: space.id, query, ...omitUndefined({ mode, budgetUsd, limits }) }
  return api.request('POST /research-tasks', { body })
}

export const research = defineTool({
  name: 'research',
  title: 'Start research',
  description:
    'Start a research task for a complex question; it runs in the background and ends in a report with sources. Returns an id at once: call `research_status` for the progress and the report. For simple questions `ask` is faster.',
  input: researchInputSchema,
  output: () => ResearchStatus,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  isTask: true,
  run: async (args, call) => {
    const data = toStatus(await startResearch(call, args))
    const text = `Research ${data.researchTaskId} has started (${data.stage}). Call research_status with this id for the progress and the report.`
    return { text, data }
  },
})

export const researchStatus = defineTool({
  name: 'research_status',
  title: 'Progress and report of research',
  description: 'Get the progress of a research task and, once it is completed, its report with sources.',
  input: z.strictObject({
    researchTaskId: uuid,
    offset: count.default(0).describe('nextOffset of the previous result, to continue the report.'),
    maxTokens: maxTokensField,
  }),
  output: () => ResearchStatus,
  annotations: READ_ONLY,
  run: async ({ researchTaskId, ...range }, call) => toToolOutput(await readStatus(call, researchTaskId, range)),
})

export const researchCancel = defineTool({
  name: 'research_cancel',
  title: 'Cancel research',
  description: 'Cancel a running research task. Its evidence so far is kept.',
  input: z.strictObject({ researchTaskId: uuid }),
  output: () => ResearchStatus,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async ({ researchTaskId: id }, call) => {
    // Rejects a task of a space that this session does not see.
    await readStatus(call, id, { offset: 0, maxTokens: TOKEN_LIMITS.min })
    const data = toStatus(await call.api.request('DELETE /research-tasks/{id}', { path: { id } }))
    return { text: formatStatus(data), data }
  },
})

function toToolOutput(data: ResearchStatus) {
  const links = (data.report?.sources ?? []).map(({ uri, document: name }) => ({ uri, name }))
  return { text: formatStatus(data), data, links }
}

/** Converts a status to the result of `tasks/result`, the same as that of `research_status`. */
export function toTaskResult(status: ResearchStatus): CallToolResult {
  return { ...toToolResult(toToolOutput(status)), ...(status.stage === 'completed' ? {} : { isError: true }) }
}

/** Reads the state of a research task, with the part of its report from `offset` that fits in `maxTokens`. */
export async function readStatus(
  { api, spaces }: SessionAccess,
  id: string,
  { offset, maxTokens }: { offset: number; maxTokens: number },
): Promise<ResearchStatus> {
  const job = await api.request('GET /research-tasks/{id}', { path: { id } })
  const space = await spaces.resolve(job.knowledgeSpaceId)
  const report = job.stage === 'completed' ? await getReport(api, id) : undefined
  if (report === undefined) return toStatus(job)
  return { ...toStatus(job), report: toReport(report, space.slug, offset, maxTokens) }
}

/** Undefined without a report: a task may be completed a moment before its report can be read. */
async function getReport(api: GatewayApi, id: string): Promise<ResearchReport | undefined> {
  try {
    return await api.request('GET /research-tasks/{id}/report', { path: { id } })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function toReport(report: ResearchReport, slug: string, offset: number, maxTokens: number): ResearchStatus['report'] {
  const sources = report.sources.map(({ number, title, citation }) => ({
    number,
    document: title,
    documentId: citation.documentAssetId,
    uri: formatUri({ space: slug, documentId: citation.documentAssetId }),
    section: citation.sectionPath,
    ...omitUndefined({ page: citation.pageNumber, start: citation.startOffset, end: citation.endOffset }),
  }))
  const sourceTokens = sources.reduce(
    (sum, { document, section }) => sum + estimateTokens(document + section.join()) + SOURCE_OVERHEAD_TOKENS,
    0,
  )
  const { text, chars, isTruncated } = truncateToTokens(
    report.text.slice(offset),
    Math.max(maxTokens / 2, maxTokens - sourceTokens),
  )
  return {
    text,
    offset,
    totalChars: report.text.length,
    ...(isTruncated ? { nextOffset: offset + chars } : {}),
    state: report.state,
    // If the text is truncated, only the sources cited in it.
    sources: sources.filter(({ number }) => !isTruncated || text.includes(`[${number}]`)),
    open: report.open,
    degradedReasons: report.degradedReasons,
  }
}

function toStatus({ id, stage, cost, error }: ResearchTaskJob): ResearchStatus {
  return {
    researchTaskId: id,
    stage,
    hasEnded: FINAL_STAGES.includes(stage),
    costUsd: cost.totalUsd,
    ...omitUndefined({ error }),
  }
}

function formatStatus({ researchTaskId, stage, hasEnded, error, report }: ResearchStatus): string {
  const writer = new ToolTextWriter().line(
    `Research ${researchTaskId}: ${stage}${error === undefined ? '' : ` (${error})`}`,
  )
  if (report === undefined) {
    if (!hasEnded) writer.line('It is still running: call again in some seconds.')
    return writer.text()
  }
  for (const reason of report.degradedReasons) writer.line(`The report is degraded: ${reason}.`)
  writer.content(report.text)
  if (report.nextOffset !== undefined) writer.line(`There is more: call again with offset ${report.nextOffset}.`)
  if (report.sources.length > 0)
    writer
      .line('Sources:')
      .content(report.sources.map((source) => `[${source.number}] ${toOneLine(source.document)}`).join('\n'))
  for (const question of report.open) writer.line('Open question:').content(question)
  return writer.text()
}
