import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { GenerationModel } from '../../base/provider-config.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { EgressResponse } from '../egress-fetch.js'
import type { ProviderEvent, ProviderGenerator } from '../provider.js'
import type { ChatMessage, GenerationOptions } from '../types.js'
import { readCompletionStream, toContentText, toEndEvent } from './chat-stream.js'
import type { OpenAiEndpoint } from './endpoint.js'
import { getList, getRecord, readProviderJson } from './json.js'
import { ToolCallCollector } from './tool-calls.js'

/** Limit of an answer that is not streamed, far more than any model writes. */
const MAX_COMPLETION_BYTES = 16 * 1024 * 1024

/** Optional fields that a server accepts. A rejection that names a field removes it for all later calls. */
interface ChatDialect {
  stream: boolean
  streamUsage: boolean
  lengthField: 'max_tokens' | 'max_completion_tokens'
  temperature: boolean
}

/** `POST /chat/completions`, streamed if the server supports it. */
export function createOpenAiGenerator(endpoint: OpenAiEndpoint, model: GenerationModel): ProviderGenerator {
  let dialect: ChatDialect = { stream: true, streamUsage: true, lengthField: 'max_tokens', temperature: true }

  const requestCompletion = async (messages: ChatMessage[], options: GenerationOptions, signal: AbortSignal) => {
    for (;;) {
      const currentDialect = dialect
      let simpler: ChatDialect | undefined
      try {
        const body = requestBody(model, currentDialect, messages, options)
        return await endpoint.post('chat/completions', body, signal, (status, text) => {
          simpler = simplify(currentDialect, status, text, { temperature: 'temperature' in body })
        })
      } catch (error) {
        // not a retry but a different request: each step removes one field, so this ends after four
        if (!simpler) throw error
        dialect = simpler
      }
    }
  }

  return {
    async *generate(messages, options, signal) {
      const response = await requestCompletion(messages, options, signal)
      if (response.mediaType === 'text/html') {
        response.body.destroy()
        throw new ProviderFailure('malformed', 'a web page')
      }
      if (response.mediaType === 'application/json') yield* readCompletion(response, signal)
      else yield* readCompletionStream(response, model.name, signal)
    },
  }
}

function requestBody(
  model: GenerationModel,
  dialect: ChatDialect,
  messages: ChatMessage[],
  options: GenerationOptions,
) {
  const { maxTokens, temperature = model.temperature, tools = [] } = options
  return {
    model: model.name,
    messages: messages.map(toApiMessage),
    ...(temperature === undefined || !dialect.temperature ? {} : { temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...omitUndefined({ [dialect.lengthField]: maxTokens }),
    ...(dialect.stream ? { stream: true } : {}),
    ...(dialect.stream && dialect.streamUsage ? { stream_options: { include_usage: true } } : {}),
  }
}

function toApiMessage(message: ChatMessage) {
  const { role, toolCalls, toolCallId } = message
  return {
    role,
    content: toApiContent(message),
    ...omitUndefined({ tool_call_id: toolCallId }),
    ...(toolCalls === undefined
      ? {}
      : {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
  }
}

/** Plain text stays a string: servers without vision accept nothing else. */
function toApiContent({ content, images = [] }: ChatMessage) {
  if (images.length === 0) return content
  return [
    { type: 'text', text: content },
    ...images.map(({ mimeType, base64, detail }) => ({
      type: 'image_url',
      image_url: { url: `data:${mimeType};base64,${base64}`, detail },
    })),
  ]
}

/** The dialect without the field that a rejection names; undefined where it names none. */
function simplify(
  dialect: ChatDialect,
  status: number,
  text: string,
  isSent: { temperature: boolean },
): ChatDialect | undefined {
  if (status !== 400 && status !== 422 && status !== 501) return undefined
  if (dialect.lengthField === 'max_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, lengthField: 'max_completion_tokens' }
  }
  // reasoning models accept only their own temperature
  if (dialect.temperature && isSent.temperature && /\btemperature\b/.test(text))
    return { ...dialect, temperature: false }
  if (dialect.stream && dialect.streamUsage && text.includes('stream_options'))
    return { ...dialect, streamUsage: false }
  if (dialect.stream && /\bstream(ing)?\b/i.test(text)) return { ...dialect, stream: false }
  return undefined
}

/** Reads a complete completion: from servers that cannot stream, or ignore the request to. */
async function* readCompletion(response: EgressResponse, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
  const json = await readProviderJson(response, MAX_COMPLETION_BYTES, signal)
  const [choice] = getList(json, 'choices')
  const message = getRecord(choice, 'message')
  const { content = null } = message
  const calls = new ToolCallCollector()
  calls.addFragment(message)
  if (
    !isRecord(choice) ||
    !('message' in choice) ||
    (typeof content !== 'string' && content !== null && !Array.isArray(content))
  ) {
    throw new ProviderFailure('malformed', 'a completion without a message')
  }
  const text = toContentText(content)
  if (text !== '') yield { type: 'delta', text: text.toWellFormed() }
  yield toEndEvent(
    choice.finish_reason,
    getRecord(json, 'usage'),
    isRecord(json) ? json.model : undefined,
    calls.list(),
  )
}
