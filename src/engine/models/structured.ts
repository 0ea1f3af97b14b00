import { defined } from '../../lib/defined.js'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import type { GenerationUsage } from './meter.js'
import { replyTo } from './reply.js'
import type { ChatMessage, Generator } from './types.js'
import { shareWindow, withinWindow } from './window.js'

/** The parsed value of a reply, or the problem in words that a model can act on. */
export type Reading<T> = { value: T } | { problem: string }

/** Maximal length of an unusable reply that is shown to the model again. */
const SHOWN_CHARACTERS = 4000

/**
 * Parses the JSON of a reply, which may be in a fence, after reasoning, or between sentences.
 *
 * @param read converts the value; undefined for an invalid one
 * @param shape the expected shape in a few words
 */
export function readJsonReply<T>(reply: string, read: (value: unknown) => T | undefined, shape: string): Reading<T> {
  const text = withoutThoughts(reply).trim()
  let problem = 'the reply holds no JSON'
  for (const candidate of candidatesIn(text)) {
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
export function repairMessages(messages: readonly ChatMessage[], reply: string, problem: string): ChatMessage[] {
  const said = withoutThoughts(reply).trim().slice(0, SHOWN_CHARACTERS)
  return [
    ...messages,
    // servers refuse a message without content
    { role: 'assistant', content: said === '' ? '(nothing)' : said },
    { role: 'user', content: `${problem}. Reply again, with the JSON alone: no fence, no other word.` },
  ]
}

/** A request whose reply is JSON. */
interface JsonQuestion<T> {
  /** builds the request with at most this many tokens */
  messagesFor: (tokens: number) => ChatMessage[]
  /** converts the value; undefined for an invalid one */
  read: (value: unknown) => T | undefined
  /** the expected shape in a few words */
  shape: string
  maxTokens: number
  /** a longer reply is aborted */
  mostCharacters: number
  signal: AbortSignal
}

/** @property value absent where neither reply was valid; `served`: the model that the server reports */
interface JsonReply<T> {
  value?: T
  usage?: GenerationUsage
  served?: unknown
}

/**
 * Asks for JSON: with a smaller request where the context window is smaller than configured, and once more, with the
 * problem, where the reply is invalid.
 *
 * @throws KsError of the provider
 */
export async function askForJson<T>(generator: Generator, question: JsonQuestion<T>): Promise<JsonReply<T>> {
  const { messagesFor, read, shape } = question
  return withinWindow(generator.contextTokens, async (window) => {
    const { answer, asked } = shareWindow(window, question.maxTokens)
    const messages = messagesFor(asked)
    const options = { maxTokens: answer, mostCharacters: question.mostCharacters, signal: question.signal }
    const first = await replyTo(generator, messages, options)
    const reading = readJsonReply(first.text, read, shape)
    if ('value' in reading) return { ...toldBy(first), value: reading.value }
    const second = await replyTo(generator, repairMessages(messages, first.text, reading.problem), options)
    const again = readJsonReply(second.text, read, shape)
    const told = { ...toldBy(second), ...usageOfBoth(first.end?.usage, second.end?.usage) }
    return 'value' in again ? { ...told, value: again.value } : told
  })
}

function toldBy({ end }: Awaited<ReturnType<typeof replyTo>>): JsonReply<never> {
  if (end === undefined) return {}
  return { served: end.metadata?.model, ...defined({ usage: end.usage }) }
}

function usageOfBoth(
  one: GenerationUsage | undefined,
  other: GenerationUsage | undefined,
): { usage?: GenerationUsage } {
  if (one === undefined || other === undefined) return {}
  const sum = (of: keyof GenerationUsage) => (one[of] ?? 0) + (other[of] ?? 0)
  return { usage: { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') } }
}

/**
 * Candidates for the JSON, the likeliest first: the complete text, the content of fences, the first balanced brackets.
 */
function* candidatesIn(text: string): Iterable<string> {
  const opening = /[[{]/.exec(text)
  if (opening === null) return
  if (opening.index === 0) yield text
  for (const [, fenced = ''] of text.matchAll(/```[\w-]*\s*([\s\S]*?)```/g)) yield fenced
  const balanced = balancedFrom(text, opening.index)
  if (balanced === undefined) return
  yield balanced
  // a trailing comma is the usual mistake
  yield balanced.replace(/,(\s*[}\]])/g, '$1')
}

/** The object or list that begins at `start`, up to its closing bracket; undefined without one. */
function balancedFrom(text: string, start: number): string | undefined {
  let depth = 0
  let isQuoted = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (isQuoted) {
      if (character === '\\') at++
      else if (character === '"') isQuoted = false
    } else if (character === '"') isQuoted = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return text.slice(start, at + 1)
  }
  return undefined
}
