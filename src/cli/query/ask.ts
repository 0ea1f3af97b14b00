import type { Client } from '../../client/client.js'
import { ConnectionError } from '../../client/errors.js'
import { EXIT } from '../../contract/errors.js'
import type { QueryBody, SearchedFor } from '../../contract/gateway/queries.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { CliError } from '../cli-error.js'
import { shortId } from '../columns.js'
import { readDegraded } from './degraded.js'
import { type Evidence, readEvidence } from './evidence.js'

/** The request; absent fields have their defaults in the service. */
export type Question = Pick<QueryBody, 'knowledgeSpaceId' | 'query'> & Partial<QueryBody>

export interface Answer {
  answer: string
  finishReason: string
  requestedMode: string | undefined
  resolvedMode: string | undefined
  evidenceState: string | undefined
  citations: unknown
  evidenceBundle: unknown
  traceId: string
  sessionId: string | undefined
  metadata: Record<string, unknown>
  /** Degradations of the answer; not part of the JSON, since the metadata contain them. */
  degraded: { class: string; reason: string }[]
  /** Corrected words of the question; part of the metadata in the JSON. */
  searchedFor: SearchedFor[] | undefined
  /** Evidence as shown to people; not part of the JSON. */
  evidence: Evidence[]
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
export async function askQuestion(client: Client, question: Question, handlers: AskHandlers = {}): Promise<Answer> {
  const started = performance.now()
  const stream = await client.stream('POST /queries', { body: question })
  const header = (name: string) => textOf(stream.headers[name])
  let answer = ''
  let traceId = header('x-query-run-id') ?? ''
  try {
    for await (const frame of stream.events) {
      const data: unknown = JSON.parse(frame.data)
      if (!isRecord(data)) continue
      handlers.onFrame?.(frame.event, data)
      traceId = textOf(data.traceId) ?? traceId
      if (frame.event === 'answer.delta') {
        const delta = textOf(data.delta) ?? ''
        answer += delta
        handlers.onDelta?.(delta)
      } else if (frame.event === 'answer.error') {
        throw stoppedEarly(textOf(data.error) ?? 'no reason given', traceId)
      } else if (frame.event === 'answer.done') {
        const tookMs = performance.now() - started
        return { ...readDone(data), answer, traceId, sessionId: header('x-session-id'), tookMs }
      }
    }
  } catch (error) {
    if (error instanceof ConnectionError && error.code === 'unreachable') throw stoppedEarly(error.message, traceId)
    throw error
  }
  throw stoppedEarly('the service closed the stream', traceId)
}

function stoppedEarly(reason: string, traceId: string): CliError {
  const trace = traceId === '' ? '' : ` (trace ${shortId(traceId)})`
  return new CliError(`the answer stopped early: ${reason}${trace}`, { code: 'answer-failed', exit: EXIT.unavailable })
}

function readDone(data: Record<string, unknown>) {
  const metadata = isRecord(data.metadata) ? data.metadata : {}
  const { evidenceBundle } = metadata
  const state = isRecord(evidenceBundle) ? textOf(evidenceBundle.state) : undefined
  return {
    finishReason: textOf(data.finishReason) ?? 'unknown',
    requestedMode: textOf(metadata.requestedMode),
    resolvedMode: textOf(metadata.mode),
    evidenceState: state,
    citations: metadata.citations ?? [],
    evidenceBundle: evidenceBundle ?? null,
    metadata,
    degraded: readDegraded(metadata),
    searchedFor: readSearchedFor(metadata),
    evidence: readEvidence(evidenceBundle),
  }
}

function readSearchedFor({ searchedFor }: Record<string, unknown>): SearchedFor[] | undefined {
  if (!Array.isArray(searchedFor)) return undefined
  return searchedFor.filter(isRecord).map((word) => ({
    asked: textOf(word.asked) ?? '',
    searched: textOf(word.searched) ?? '',
  }))
}

/** The JSON value of `ks query --json`. */
export function answerJson(answer: Answer): object {
  const { evidence: _, tookMs: __, degraded: _____, searchedFor: ______, metadata, ...rest } = answer
  const { evidenceBundle: ___, citations: ____, ...others } = metadata
  return { ...rest, metadata: others }
}
