import { z } from 'zod'
import { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { AnswerMetadata, EvidenceState, SearchedFor } from '../../contract/gateway/queries.js'
import { QueryMode, uuid } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { recordIn, textOf } from '../../lib/json/values.js'
import { counted } from '../../lib/text/counted.js'
import { searchedForText } from '../../lib/text/searched-for.js'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import { cutText, tokensOf } from '../budget.js'
import { Writer } from '../content.js'
import { ToolError } from '../failure.js'
import { indexState, maxTokens, queryText, space } from '../fields.js'
import { absenceIn, indexStateOf } from '../index-state.js'
import { linksOf, type Passage, passage, passageOf, writePassage } from '../passages.js'
import { READS, type ToolCall, tool } from '../tool.js'
import { activeDocuments, documentsOf, fitted, whereOf } from './search.js'

/** Characters of the answer between progress reports. */
const PROGRESS_CHARS = 200

const AskAnswer = z.strictObject({
  space: z.string(),
  answer: z.string(),
  answerIsCut: z.boolean(),
  state: EvidenceState.describe('state of the evidence'),
  citations: z.array(passage).describe('evidence, best first'),
  leftOut: z.int().describe('number of evidence passages that did not fit; `search` finds them'),
  missing: z.array(z.string()).describe('evidence that was not found'),
  conflicts: z.array(z.string()).describe('contradictions in the evidence'),
  searchedFor: z.array(SearchedFor).optional().describe('corrected words of the question'),
  degradedReasons: z.array(z.string()).describe('reasons why the answer is degraded'),
  index: indexState,
  generator: z.string().optional().describe('`model`, or `extractive` for a quotation of the documents'),
  traceId: z.string(),
  sessionId: z.string().optional(),
})

export const ask = tool({
  name: 'ask',
  title: 'Ask a question',
  description:
    'Answer a question from a space, with citations: [2] refers to the second passage in the result. `state` is whether the documents answer the question, partly or not at all, or contradict each other. Without a model provider the answer is a quotation of the documents. Use `search` to read passages yourself, and `research` for questions that need many steps.',
  input: z.strictObject({
    question: queryText,
    space,
    documents: documentsOf,
    filter: DocumentFilter.optional().describe('Only documents whose own metadata matches.'),
    mode: QueryMode.optional().describe('Depth of the search. Default: the mode of the space.'),
    sessionId: uuid.optional().describe('sessionId of the previous result, for a follow-up question.'),
    maxTokens,
  }),
  output: () => AskAnswer,
  annotations: { ...READS, idempotentHint: false },
  run: async ({ maxTokens: budget, ...args }, call) => {
    const ref = await call.spaces.named(args.space)
    const documents = args.documents && (await activeDocuments(call, args.documents, ref.slug))
    const body = {
      knowledgeSpaceId: ref.id,
      query: args.question,
      ...defined({ mode: args.mode, filter: args.filter, sessionId: args.sessionId, activeDocumentIds: documents }),
    }
    // Read before the query: documents published meanwhile were not searched.
    const index = await indexStateOf(call.api, ref.id)
    const answered = await answerOf(call, body)
    const { metadata } = answered
    const degraded = stringsOf(metadata.degradedReasons)
    const items = metadata.evidenceBundle?.items ?? []
    const all = items.flatMap((item, at) => passageOf(item, at + 1, ref.slug) ?? [])
    const evidenceState = metadata.evidenceBundle?.state ?? ('not-enough-evidence' as const)
    const words = stateWords(evidenceState, metadata.decidedBy)
    const how = { index, degraded, where: whereOf(args) }
    const state = evidenceState === 'not-enough-evidence' ? await absenceIn(call.api, ref.id, words, how) : words
    const frame = {
      space: ref.slug,
      answer: '',
      answerIsCut: true,
      state: evidenceState,
      citations: [],
      leftOut: all.length,
      missing: (metadata.evidenceBundle?.missingEvidence ?? []).map(({ text }) => text),
      conflicts: [...new Set(items.flatMap(({ conflicts }) => conflicts.map(({ reason }) => reason)))],
      degradedReasons: degraded,
      index,
      traceId: answered.traceId,
      ...defined({ searchedFor: metadata.searchedFor }),
      ...defined({ generator: metadata.generator, sessionId: answered.sessionId }),
    }
    const answer = cutText(answered.text, Math.max(1, budget - tokensOf(told(frame, state))))
    const shown = fittedBeside(all, budget - tokensOf(told({ ...frame, answer: answer.text }, state)))
    const data = {
      ...frame,
      answer: answer.text,
      answerIsCut: answer.isCut,
      citations: shown,
      leftOut: all.length - shown.length,
    }
    return { text: told(data, state), data, links: linksOf(shown) }
  },
})

interface Answered {
  text: string
  metadata: AnswerMetadata
  traceId: string
  sessionId: string | undefined
}

async function answerOf(call: ToolCall, body: { knowledgeSpaceId: string; query: string }): Promise<Answered> {
  const { headers, events } = await call.api.stream('POST /queries', { body, signal: call.signal })
  let text = ''
  let toldAt = 0
  call.progress('searching for evidence')
  for await (const { event, data } of events) {
    const frame = recordIn(data) ?? {}
    if (event === 'answer.delta') text += textOf(frame.delta) ?? ''
    if (event === 'answer.error') throw failed(textOf(frame.error))
    if (event === 'answer.done') {
      const metadata = AnswerMetadata.parse(frame.metadata ?? {})
      const traceId = textOf(frame.traceId) ?? ''
      return { text: withoutThoughts(text), metadata, traceId, sessionId: textOf(headers['x-session-id']) }
    }
    if (text.length - toldAt < PROGRESS_CHARS) continue
    toldAt = text.length
    call.progress(`${counted(text.length, 'character')} of the answer`)
  }
  throw failed('the stream ended early')
}

function failed(reason = 'no reason given'): ToolError {
  const next = 'Call again, or use `search` and read the passages.'
  return new ToolError('answer-failed', `the answer stopped early: ${reason}`, next)
}

/** Evidence that fits next to the answer, possibly none, since `search` finds it. */
function fittedBeside(passages: readonly Passage[], tokens: number): Passage[] {
  return tokens < 50 ? [] : fitted(passages, tokens)
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

const STATES: Readonly<Record<EvidenceState, string>> = {
  answerable: 'The documents answer this.',
  partial: 'The documents answer a part of this.',
  'not-enough-evidence': 'Nothing was found that answers this.',
  conflict: 'The documents contradict each other on this.',
  'permission-limited': 'This token may not read some of the evidence.',
}

/** Passages close to a question may not answer it: without a model, nothing has checked them. */
const CLOSEST = 'It is not certain that the documents answer this: these are the closest passages.'

function stateWords(state: EvidenceState, decidedBy: AnswerMetadata['decidedBy']): string {
  return state === 'partial' && decidedBy !== 'model' ? CLOSEST : STATES[state]
}

function told(data: z.output<typeof AskAnswer>, state: string): string {
  const lacksEvidence = data.state === 'not-enough-evidence'
  const writer = new Writer().line(state)
  if (!lacksEvidence && !data.index.isCurrent)
    writer.line(`The index is not current: ${data.index.reasons.join('; ')}.`)
  if (data.searchedFor !== undefined) writer.line(`Corrected words: ${searchedForText(data.searchedFor)}.`)
  for (const reason of data.degradedReasons) writer.line(`The answer is degraded: ${reason}.`)
  if (data.citations.some(({ freshness }) => freshness === 'stale'))
    writer.line('Some of the evidence is STALE: its file has changed or was deleted. `refresh` reads it again.')
  const made = data.generator === 'extractive' && !lacksEvidence ? 'Answer, quoted from the documents:' : 'Answer:'
  writer.line(made).content(data.answer)
  if (data.answerIsCut) writer.line('The answer is truncated: call again with a larger maxTokens.')
  for (const reason of data.conflicts) writer.line('Contradiction:').content(reason)
  for (const text of data.missing) writer.line('Not found:').content(text)
  if (data.citations.length > 0) writer.line('Evidence:')
  for (const one of data.citations) writePassage(writer, one)
  if (data.leftOut > 0)
    writer.line(`${counted(data.leftOut, 'more passage')} of evidence did not fit: \`search\` finds them.`)
  return writer.text()
}
