import { createParser } from 'eventsource-parser'
import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { type EgressResponse, readResponseChunks } from '../egress-fetch.js'
import { toProviderFailure } from '../failure.js'
import type { GenerationUsage } from '../meter.js'
import type { ProviderEvent } from '../provider.js'
import type { ToolCall } from '../types.js'
import { parseRefusal } from './endpoint.js'
import { getCount, getList, getRecord, parseProviderJson } from './json.js'
import { ToolCallCollector } from './tool-calls.js'

/** An event usually contains one token. */
const MAX_EVENT_CHARACTERS = 1024 * 1024

/** Limit of the complete stream; at some 300 bytes per token, more than 200,000 tokens. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024

/**
 * After `[DONE]` the body ends at once; waiting for that keeps the connection alive, waiting longer delays the caller.
 */
const LINGER_MS = 50

/** The status that an error in the stream is treated as. */
const STREAM_ERROR_STATUS = 500

/** Reads a streamed completion; ends with exactly one `end`, or fails. */
export async function* readCompletionStream(
  response: EgressResponse,
  requestedModel: string,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent> {
  const state = createStreamState(requestedModel)
  const decoder = new TextDecoder()
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (event) => state.take(event.data),
    onError: (error) => {
      isTooLong ||= error.type === 'max-buffer-size-exceeded'
    },
  })
  const feed = function* (text: string) {
    parser.feed(text)
    // text before a failure in the same chunk still belongs to the answer
    yield* state.drain()
    if (isTooLong) throw new ProviderFailure('malformed', `an event of more than ${MAX_EVENT_CHARACTERS} characters`)
    state.check()
  }

  let linger: NodeJS.Timeout | undefined
  try {
    for await (const chunk of readResponseChunks(response, MAX_STREAM_BYTES, signal)) {
      if (linger) continue
      yield* feed(decoder.decode(chunk, { stream: true }))
      if (!state.done()) continue
      yield state.end()
      linger = setTimeout(() => response.body.destroy(), LINGER_MS)
    }
  } catch (error) {
    if (!linger) throw error
  } finally {
    clearTimeout(linger)
  }
  if (linger) return
  // the last event may lack its blank line
  yield* feed('\n\n')
  yield state.end()
}

/** Collects the events of a stream. */
function createStreamState(requestedModel: string) {
  let queue: ProviderEvent[] = []
  let finishReason: unknown
  let usage: Record<string, unknown> = {}
  let model: unknown
  let done = false
  let failure: ProviderFailure | undefined
  let highSurrogate = ''
  let answer = ''
  const calls = new ToolCallCollector()

  // a server that splits its text by code units may split a character
  const takeText = (text: string) => {
    answer += text
    const pending = highSurrogate + text
    highSurrogate = /[\ud800-\udbff]$/.exec(pending)?.[0] ?? ''
    const complete = pending.slice(0, pending.length - highSurrogate.length).toWellFormed()
    queue.push(complete === '' ? { type: 'alive' } : { type: 'delta', text: complete })
  }

  const takeChoice = (choice: unknown) => {
    const isMessage = isRecord(choice) && !isRecord(choice.delta) && isRecord(choice.message)
    const delta = getRecord(choice, isMessage ? 'message' : 'delta')
    const text = toContentText(delta.content)
    // a message contains the text so far
    const addition = isMessage && text.startsWith(answer) ? text.slice(answer.length) : text
    if (addition !== '') takeText(addition)
    else if (delta.reasoning_content || delta.reasoning || delta.tool_calls) queue.push({ type: 'alive' })
    if (!isMessage || calls.list().length === 0) calls.addFragment(delta)
    if (isRecord(choice) && choice.finish_reason) finishReason = choice.finish_reason
  }

  const takeChunk = (json: unknown) => {
    // failures after the status line are reported in the stream; their text may quote the prompt
    if (!isRecord(json) || json.error) throw toStreamFailure(json, requestedModel)
    model ??= json.model
    const counted = getRecord(json, 'usage')
    if (Object.keys(counted).length > 0) usage = counted
    takeChoice(getList(json, 'choices')[0])
  }

  return {
    take(data: string) {
      if (done || failure) return
      done = data.trim() === '[DONE]'
      if (done) return
      // stored, since an exception would leave the SSE parser in the middle of its input
      try {
        takeChunk(parseProviderJson(data))
      } catch (error) {
        failure = toProviderFailure(error)
      }
    },
    check() {
      if (failure) throw failure
    },
    drain() {
      const events = queue
      queue = []
      return events
    },
    done: () => done,
    end(): ProviderEvent {
      // a stream that stops in the middle of a sentence looks like a lost connection
      if (!done && finishReason === undefined) throw new ProviderFailure('reset', 'the stream ended early')
      return toEndEvent(finishReason, usage, model, calls.list())
    },
  }
}

/** The text of a message's content: a string, or a list of parts, of which only text is used. */
export function toContentText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts: unknown[] = Array.isArray(content) ? content : []
  return parts.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** A server that has started its response can only report an error inside it. */
function toStreamFailure(json: unknown, model: string): ProviderFailure {
  const refusal = parseRefusal(STREAM_ERROR_STATUS, JSON.stringify(json), model)
  const options = { status: STREAM_ERROR_STATUS, ...omitUndefined({ refusal }) }
  return new ProviderFailure('status', 'an error in the stream', options)
}

/** The last event, from the server's data about the complete answer. */
export function toEndEvent(
  finishReason: unknown,
  usage: Record<string, unknown>,
  servedModel: unknown,
  toolCalls: ToolCall[],
): ProviderEvent {
  const inputTokens = getCount(usage, 'prompt_tokens')
  const outputTokens = getCount(usage, 'completion_tokens')
  const counted: GenerationUsage = omitUndefined({ inputTokens, outputTokens })
  return {
    type: 'end',
    finishReason: typeof finishReason === 'string' && finishReason !== '' ? finishReason.slice(0, 100) : 'unknown',
    ...(Object.keys(counted).length === 0 ? {} : { usage: counted }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(typeof servedModel === 'string' ? { metadata: { model: servedModel.slice(0, 200) } } : {}),
  }
}
