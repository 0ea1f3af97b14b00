import { defined } from '../../lib/defined.js'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import type { GenerationUsage } from './meter.js'
import { replyTo } from './reply.js'
import type { ChatMessage, Generator } from './types.js'
import { shareWindow, withinWindow } from './window.js'

/** A reply that holds what was asked for, or why not, in words that a model can act on. */
export type Reading<T> = { value: T } | { problem: string }

/** So much of an unusable reply is shown to the model again. */
const SHOWN_CHARACTERS = 4000

/**
 * The JSON of a reply, which may stand in a fence, behind thoughts, or between sentences.
 *
 * @param read takes the value; undefined where it is of another shape
 * @param shape what it should be, in a few words
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

/** Shows a model its reply and what is wrong with it. */
export function repairMessages(messages: readonly ChatMessage[], reply: string, problem: string): ChatMessage[] {
  const said = withoutThoughts(reply).trim().slice(0, SHOWN_CHARACTERS)
  return [
    ...messages,
    // servers refuse a message without content
    { role: 'assistant', content: said === '' ? '(nothing)' : said },
    { role: 'user', content: `${problem}. Reply again, with the JSON alone: no fence, no other word.` },
  ]
}

/** A question whose answer is JSON. */
interface JsonQuestion<T> {
  /** what is asked, in at most so many tokens */
  messagesFor: (tokens: number) => ChatMessage[]
  /** takes the value; undefined where it is of another shape */
  read: (value: unknown) => T | undefined
  /** what it should be, in a few words */
  shape: string
  maxTokens: number
  /** a longer reply is not read to its end */
  mostCharacters: number
  signal: AbortSignal
}

/** @property value absent where neither reply could be read; `served`: the model that its server says has answered */
interface JsonReply<T> {
  value?: T
  usage?: GenerationUsage
  served?: unknown
}

/**
 * Asks for JSON: with less where the window is smaller than configured, and once more where the reply is of no use; the
 * model is told why.
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

/** Texts that may be the JSON, the likeliest first: the whole, what stands in fences, what stands between brackets. */
function* candidatesIn(text: string): Iterable<string> {
  const opening = /[[{]/.exec(text)
  if (opening === null) return
  if (opening.index === 0) yield text
  for (const [, fenced = ''] of text.matchAll(/```[\w-]*\s*([\s\S]*?)```/g)) yield fenced
  const balanced = balancedFrom(text, opening.index)
  if (balanced === undefined) return
  yield balanced
  // a comma behind the last entry is the usual mistake
  yield balanced.replace(/,(\s*[}\]])/g, '$1')
}

/** The object or list that begins at `start`, to the bracket that closes it; undefined where none does. */
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
