import { z } from 'zod'
import { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { AnswerMetadata, EvidenceState, TermCorrection } from '../../contract/gateway/queries.js'
import { QueryMode, uuid } from '../../contract/primitives.js'
import { parseRecord, toNonEmptyString } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { formatCorrections } from '../../lib/text/format-corrections.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { stripThoughts } from '../../lib/text/thoughts.js'
import { estimateTokens, truncateToTokens } from '../budget.js'
import { ToolTextWriter } from '../content.js'
import { ToolError } from '../failure.js'
import { indexStateField, maxTokensField, queryField, spaceField } from '../fields.js'
import { describeAbsenceInSpace, getIndexState } from '../index-state.js'
import { passageField, type ToolPassage, toLinks, toPassage, writePassage } from '../passages.js'
import { defineTool, READ_ONLY, type ToolInvocation } from '../tool.js'
import { describeScope, documentsField, fitRetrievedPassages, resolveDocumentIds } from './search.js'

/** With fewer tokens left, no passage is worth showing. */
const MIN_EVIDENCE_TOKENS = 50
/** Characters of the answer between progress reports. */
const PROGRESS_CHARS = 200

const answerSchema = z.strictObject({
  space: z.string(),
  answer: z.string(),
  answerIsCut: z.boolean(),
  state: EvidenceState.describe('state of the evidence'),
  citations: z.array(passageField).describe('evidence, best first'),
  leftOut: z.int().describe('number of evidence passages that did not fit; `search` finds them'),
  missing: z.array(z.string()).describe('evidence that was not found'),
  conflicts: z.array(z.string()).describe('contradictions in the evidence'),
  searchedFor: z.array(TermCorrection).optional().describe('corrected words of the question'),
  degradedReasons: z.array(z.string()).describe('reasons why the answer is degraded'),
  index: indexStateField,
  generator: z.string().optional().describe('`model`, or `extractive` for a quotation of the documents'),
  traceId: z.string(),
  sessionId: z.string().optional(),
})

export const ask = defineTool({
  name: 'ask',
  title: 'Ask a question',
  description:
    'Answer a question from a space, with citations: [2] refers to the second passage in the result. `state` is whether the documents answer the question, partly or not at all, or contradict each other. Without a model provider the answer is a quotation of the documents. Use `search` to read passages yourself, and `research` for questions that need many steps.',
  input: z.strictObject({
    question: queryField,
    space: spaceField,
    documents: documentsField,
    filter: DocumentFilter.optional().describe('Only documents whose own metadata matches.'),
    mode: QueryMode.optional().describe('Depth of the search. Default: the mode of the space.'),
    sessionId: uuid.optional().describe('sessionId of the previous result, for a follow-up question.'),
    maxTokens: maxTokensField,
  }),
  output: () => answerSchema,
  annotations: { ...READ_ONLY, idempotentHint: false },
  run: async ({ maxTokens, ...args }, call) => {
    const space = await call.spaces.resolve(args.space)
    const documents = args.documents && (await resolveDocumentIds(call, args.documents, space.slug))
    const body = {
      knowledgeSpaceId: space.id,
      query: args.question,
      ...omitUndefined({
        mode: args.mode,
        filter: args.filter,
        sessionId: args.sessionId,
        activeDocumentIds: documents,
      }),
    }
    // Read before the query: documents published meanwhile were not searched.
    const indexState = await getIndexState(call.api, space.id)
    const result = await readAnswer(call, body)
    const { metadata } = result
    const degradedReasons = toStrings(metadata.degradedReasons)
    const items = metadata.evidenceBundle?.items ?? []
    const passages = items.flatMap((item, index) => toPassage(item, index + 1, space.slug) ?? [])
    const evidenceState = metadata.evidenceBundle?.state ?? ('not-enough-evidence' as const)
    const stateText = formatState(evidenceState, metadata.decidedBy)
    const coverage = { index: indexState, degraded: degradedReasons, searched: describeScope(args) }
    const state =
      evidenceState === 'not-enough-evidence'
        ? await describeAbsenceInSpace(call.api, space.id, stateText, coverage)
        : stateText
    const frame = {
      space: space.slug,
      answer: '',
      answerIsCut: true,
      state: evidenceState,
      citations: [],
      leftOut: passages.length,
      missing: (metadata.evidenceBundle?.missingEvidence ?? []).map(({ text }) => text),
      conflicts: [...new Set(items.flatMap(({ conflicts }) => conflicts.map(({ reason }) => reason)))],
      degradedReasons,
      index: indexState,
      traceId: result.traceId,
      ...omitUndefined({
        searchedFor: metadata.searchedFor,
        generator: metadata.generator,
        sessionId: result.sessionId,
      }),
    }
    const answer = truncateToTokens(result.text, Math.max(1, maxTokens - estimateTokens(formatAnswer(frame, state))))
    const fitting = fitEvidence(
      passages,
      maxTokens - estimateTokens(formatAnswer({ ...frame, answer: answer.text }, state)),
    )
    const data = {
      ...frame,
      answer: answer.text,
      answerIsCut: answer.isTruncated,
      citations: fitting,
      leftOut: passages.length - fitting.length,
    }
    return { text: formatAnswer(data, state), data, links: toLinks(fitting) }
  },
})

interface StreamedAnswer {
  text: string
  metadata: AnswerMetadata
  traceId: string
  sessionId: string | undefined
}

async function readAnswer(
  call: ToolInvocation,
  body: { knowledgeSpaceId: string; query: string },
): Promise<StreamedAnswer> {
  const { headers, events } = await call.api.stream('POST /queries', { body, signal: call.signal })
  let text = ''
  let reportedChars = 0
  call.reportProgress('searching for evidence')
  for await (const { event, data } of events) {
    const frame = parseRecord(data) ?? {}
    if (event === 'answer.delta') text += toNonEmptyString(frame.delta) ?? ''
    if (event === 'answer.error') throw createAnswerError(toNonEmptyString(frame.error))
    if (event === 'answer.done') {
      const metadata = AnswerMetadata.parse(frame.metadata ?? {})
      const traceId = toNonEmptyString(frame.traceId) ?? ''
      return { text: stripThoughts(text), metadata, traceId, sessionId: toNonEmptyString(headers['x-session-id']) }
    }
    if (text.length - reportedChars < PROGRESS_CHARS) continue
    reportedChars = text.length
    call.reportProgress(`${pluralize(text.length, 'character')} of the answer`)
  }
  throw createAnswerError('the stream ended early')
}

function createAnswerError(reason = 'no reason given'): ToolError {
  const next = 'Call again, or use `search` and read the passages.'
  return new ToolError('answer-failed', `the answer stopped early: ${reason}`, next)
}

/** Evidence that fits next to the answer, possibly none, since `search` finds it. */
function fitEvidence(passages: readonly ToolPassage[], tokens: number): ToolPassage[] {
  return tokens < MIN_EVIDENCE_TOKENS ? [] : fitRetrievedPassages(passages, tokens)
}

function toStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

const STATE_TEXTS: Readonly<Record<EvidenceState, string>> = {
  answerable: 'The documents answer this.',
  partial: 'The documents answer a part of this.',
  'not-enough-evidence': 'Nothing was found that answers this.',
  conflict: 'The documents contradict each other on this.',
  'permission-limited': 'This token may not read some of the evidence.',
}

/** Passages close to a question may not answer it: without a model, nothing has checked them. */
const CLOSEST_PASSAGES_TEXT = 'It is not certain that the documents answer this: these are the closest passages.'

function formatState(state: EvidenceState, decidedBy: AnswerMetadata['decidedBy']): string {
  return state === 'partial' && decidedBy !== 'model' ? CLOSEST_PASSAGES_TEXT : STATE_TEXTS[state]
}

function formatAnswer(data: z.output<typeof answerSchema>, state: string): string {
  const lacksEvidence = data.state === 'not-enough-evidence'
  const writer = new ToolTextWriter().line(state)
  if (!lacksEvidence && !data.index.isCurrent)
    writer.line(`The index is not current: ${data.index.reasons.join('; ')}.`)
  if (data.searchedFor !== undefined) writer.line(`Corrected words: ${formatCorrections(data.searchedFor)}.`)
  for (const reason of data.degradedReasons) writer.line(`The answer is degraded: ${reason}.`)
  if (data.citations.some(({ freshness }) => freshness === 'stale'))
    writer.line('Some of the evidence is STALE: its file has changed or was deleted. `refresh` reads it again.')
  const heading = data.generator === 'extractive' && !lacksEvidence ? 'Answer, quoted from the documents:' : 'Answer:'
  writer.line(heading).content(data.answer)
  if (data.answerIsCut) writer.line('The answer is truncated: call again with a larger maxTokens.')
  for (const reason of data.conflicts) writer.line('Contradiction:').content(reason)
  for (const text of data.missing) writer.line('Not found:').content(text)
  if (data.citations.length > 0) writer.line('Evidence:')
  for (const passage of data.citations) writePassage(writer, passage)
  if (data.leftOut > 0)
    writer.line(`${pluralize(data.leftOut, 'more passage')} of evidence did not fit: \`search\` finds them.`)
  return writer.text()
}
