import { omitUndefined } from '../../lib/omit-undefined.js'
import { stripThoughts } from '../../lib/text/thoughts.js'
import type { GenerationUsage } from './meter.js'
import { readReply } from './reply.js'
import type { ChatMessage, Generator } from './types.js'
import { retryWithinWindow, splitWindow } from './window.js'

/** The parsed value of a reply, or the problem in words that a model can act on. */
export type JsonReading<T> = { value: T } | { problem: string }

/** Maximal length of an unusable reply that is shown to the model again. */
const MAX_SHOWN_CHARACTERS = 4000

/**
 * Parses the JSON of a reply, which may be in a fence, after reasoning, or between sentences.
 *
 * @param read converts the value; undefined for an invalid one
 * @param shape the expected shape in a few words
 */
export function parseJsonReply<T>(
  reply: string,
  read: (value: unknown) => T | undefined,
  shape: string,
): JsonReading<T> {
  const text = stripThoughts(reply).trim()
  let problem = 'the reply holds no JSON'
  for (const candidate of findJsonCandidates(text)) {
    try {
      const value = read(JSON.parse(candidate))
      if (value !== undefined) return { value }
      problem = `the JSON is not ${shape}`
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      problem = `the JSON cannot be parsed: ${error.message}`
    }
  }
  return { problem }
}

/** Appends the model's reply and what is wrong with it. */
export function buildRepairMessages(messages: readonly ChatMessage[], reply: string, problem: string): ChatMessage[] {
  const shown = stripThoughts(reply).trim().slice(0, MAX_SHOWN_CHARACTERS)
  return [
    ...messages,
    // servers refuse a message without content
    { role: 'assistant', content: shown === '' ? '(nothing)' : shown },
    { role: 'user', content: `${problem}. Reply again, with the JSON alone: no fence, no other word.` },
  ]
}

/** A request whose reply is JSON. */
interface JsonRequest<T> {
  /** builds the request with at most this many tokens */
  buildMessages: (tokens: number) => ChatMessage[]
  /** converts the value; undefined for an invalid one */
  read: (value: unknown) => T | undefined
  /** the expected shape in a few words */
  shape: string
  maxTokens: number
  /** a longer reply is aborted */
  maxCharacters: number
  signal: AbortSignal
}

interface JsonResult<T> {
  /** absent where neither reply was valid */
  value?: T
  usage?: GenerationUsage
  /** the model that the server reports */
  served?: unknown
}

/**
 * Asks for JSON: with a smaller request where the context window is smaller than configured, and once more, with the
 * problem, where the reply is invalid.
 *
 * @throws KsError of the provider
 */
export async function requestJson<T>(generator: Generator, request: JsonRequest<T>): Promise<JsonResult<T>> {
  const { buildMessages, read, shape } = request
  return retryWithinWindow(generator.contextTokens, async (window) => {
    const { answerTokens, requestTokens } = splitWindow(window, request.maxTokens)
    const messages = buildMessages(requestTokens)
    const options = { maxTokens: answerTokens, maxCharacters: request.maxCharacters, signal: request.signal }
    const first = await readReply(generator, messages, options)
    const firstReading = parseJsonReply(first.text, read, shape)
    if ('value' in firstReading) return { ...toMetadata(first), value: firstReading.value }
    const second = await readReply(generator, buildRepairMessages(messages, first.text, firstReading.problem), options)
    const secondReading = parseJsonReply(second.text, read, shape)
    const metadata = { ...toMetadata(second), ...sumUsage(first.end?.usage, second.end?.usage) }
    return 'value' in secondReading ? { ...metadata, value: secondReading.value } : metadata
  })
}

function toMetadata({ end }: Awaited<ReturnType<typeof readReply>>): JsonResult<never> {
  if (end === undefined) return {}
  return { served: end.metadata?.model, ...omitUndefined({ usage: end.usage }) }
}

function sumUsage(
  first: GenerationUsage | undefined,
  second: GenerationUsage | undefined,
): { usage?: GenerationUsage } {
  if (first === undefined || second === undefined) return {}
  const sum = (field: keyof GenerationUsage) => (first[field] ?? 0) + (second[field] ?? 0)
  return { usage: { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') } }
}

/**
 * Candidates for the JSON, the likeliest first: the complete text, the content of fences, the first balanced brackets.
 */
function* findJsonCandidates(text: string): Iterable<string> {
  const opening = /[[{]/.exec(text)
  if (opening === null) return
  if (opening.index === 0) yield text
  for (const [, fenced = ''] of text.matchAll(/```[\w-]*\s*([\s\S]*?)```/g)) yield fenced
  const balanced = findBalanced(text, opening.index)
  if (balanced === undefined) return
  yield balanced
  // a trailing comma is the usual mistake
  yield balanced.replace(/,(\s*[}\]])/g, '$1')
}

/** The object or list that begins at `start`, up to its closing bracket; undefined without one. */
function findBalanced(text: string, start: number): string | undefined {
  let depth = 0
  let isQuoted = false
  for (let index = start; index < text.length; index++) {
    const character = text[index]
    if (isQuoted) {
      if (character === '\\') index++
      else if (character === '"') isQuoted = false
    } else if (character === '"') isQuoted = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return text.slice(start, index + 1)
  }
  return undefined
}
