import type { Client } from '../../client/client.js'
import { ConnectionError } from '../../client/errors.js'
import { EXIT } from '../../contract/errors.js'
import type { QueryBody, TermCorrection } from '../../contract/gateway/queries.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { CliError } from '../cli-error.js'
import { formatShortId } from '../columns.js'
import { parseDegradations } from './degraded.js'
import { parseEvidence, type ShownEvidence } from './evidence.js'
import type { QuestionSpaces } from './scope.js'

/** A question to one space or several; absent fields have their defaults in the service. */
export type QueryAskRequest = Pick<QueryBody, 'query'> & Partial<Omit<QueryBody, 'knowledgeSpaceId'>> & QuestionSpaces

export interface QueryAnswer {
  answer: string
  finishReason: string
  requestedMode: string | undefined
  resolvedMode: string | undefined
  evidenceState: string | undefined
  evidenceBundle: unknown
  traceId: string
  sessionId: string | undefined
  metadata: Record<string, unknown>
  /** Degradations of the answer; in the JSON, the metadata contain them. */
  degraded: { class: string; reason: string }[]
  /** Corrected words of the question; in the JSON, the metadata contain them. */
  searchedFor: TermCorrection[] | undefined
  /** The passages that were found, best first. */
  evidence: ShownEvidence[]
  /** Time from sending the question to the last frame, in milliseconds. */
  tookMs: number
}

export interface AskHandlers {
  onDelta?: (text: string) => void
  /** Called for every frame, unchanged. */
  onFrame?: (event: string, data: unknown) => void
}

/**
 * Sends a question and reads the answer's stream to its end.
 *
 * @throws CliError exit 8 if the stream reports a failure or breaks off
 */
export async function askQuestion(
  client: Client,
  question: QueryAskRequest,
  handlers: AskHandlers = {},
): Promise<QueryAnswer> {
  const startedAt = performance.now()
  const stream = await ('knowledgeSpaceId' in question
    ? client.stream('POST /queries', { body: question })
    : client.stream('POST /queries/spaces', { body: question }))
  const readHeader = (name: string) => toNonEmptyString(stream.headers[name])
  let answer = ''
  let traceId = readHeader('x-query-run-id') ?? ''
  try {
    for await (const frame of stream.events) {
      const data: unknown = JSON.parse(frame.data)
      if (!isRecord(data)) continue
      handlers.onFrame?.(frame.event, data)
      traceId = toNonEmptyString(data.traceId) ?? traceId
      if (frame.event === 'answer.delta') {
        const delta = toNonEmptyString(data.delta) ?? ''
        answer += delta
        handlers.onDelta?.(delta)
      } else if (frame.event === 'answer.error') {
        throw toIncompleteAnswerError(toNonEmptyString(data.error) ?? 'no reason given', traceId)
      } else if (frame.event === 'answer.done') {
        const tookMs = performance.now() - startedAt
        return { ...parseDoneFrame(data), answer, traceId, sessionId: readHeader('x-session-id'), tookMs }
      }
    }
  } catch (error) {
    if (error instanceof ConnectionError && error.code === 'unreachable')
      throw toIncompleteAnswerError(error.message, traceId)
    throw error
  }
  throw toIncompleteAnswerError('the service closed the stream', traceId)
}

function toIncompleteAnswerError(reason: string, traceId: string): CliError {
  const trace = traceId === '' ? '' : ` (trace ${formatShortId(traceId)})`
  return new CliError(`the answer stopped early: ${reason}${trace}`, { code: 'answer-failed', exit: EXIT.unavailable })
}

function parseDoneFrame(data: Record<string, unknown>) {
  const metadata = isRecord(data.metadata) ? data.metadata : {}
  const { evidenceBundle } = metadata
  const state = isRecord(evidenceBundle) ? toNonEmptyString(evidenceBundle.state) : undefined
  return {
    finishReason: toNonEmptyString(data.finishReason) ?? 'unknown',
    requestedMode: toNonEmptyString(metadata.requestedMode),
    resolvedMode: toNonEmptyString(metadata.mode),
    evidenceState: state,
    evidenceBundle: evidenceBundle ?? null,
    metadata,
    degraded: parseDegradations(metadata),
    searchedFor: parseSearchedFor(metadata),
    evidence: parseEvidence(evidenceBundle),
  }
}

function parseSearchedFor({ searchedFor }: Record<string, unknown>): TermCorrection[] | undefined {
  if (!Array.isArray(searchedFor)) return undefined
  return searchedFor.filter(isRecord).map((correction) => ({
    asked: toNonEmptyString(correction.asked) ?? '',
    searched: toNonEmptyString(correction.searched) ?? '',
  }))
}
