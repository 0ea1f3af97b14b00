import { tokensAtMost } from '../../models/tokens.js'
import type { ChatMessage, ToolSpec } from '../../models/types.js'
import { beginningOf, fitTexts } from '../../models/window.js'

/** Overhead of a message beyond its text. */
const MESSAGE_TOKENS = 8
/** Notice with the beginning of a result that does not fit any more. */
const CUT =
  'This result was longer; what else it said does not fit. Ask for less at once, or answer from what you have.'
const CUT_TOKENS = tokensAtMost(JSON.stringify({ cut: CUT, text: '' }))
/** Limit of the text of an assistant between tool calls. */
const SAID_TOKENS = 200

/** Maximum number of tokens in messages with their tool calls. */
export function tokensOf(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (sum, { content, toolCalls = [] }) =>
      sum +
      MESSAGE_TOKENS +
      tokensAtMost(content) +
      (toolCalls.length === 0 ? 0 : tokensAtMost(JSON.stringify(toolCalls))),
    0,
  )
}

export function tokensOfTools(tools: readonly ToolSpec[]): number {
  return tools.length === 0 ? 0 : tokensAtMost(JSON.stringify(tools))
}

/**
 * Fits the steps of a turn into a number of tokens: truncates the results of tools, the longest first, with a notice.
 */
export function fitSteps(steps: readonly ChatMessage[], tokens: number): ChatMessage[] {
  if (tokensOf(steps) <= tokens) return [...steps]
  const said = steps.map((step) =>
    step.role === 'tool' ? step : { ...step, content: beginningOf(step.content, SAID_TOKENS, true) },
  )
  const results = said.filter(({ role }) => role === 'tool')
  const around = tokensOf(said.map((step) => (step.role === 'tool' ? { ...step, content: '' } : step)))
  const room = tokens - around - results.length * CUT_TOKENS
  const fitting = fitTexts(
    results.map(({ content }) => content),
    Math.max(0, room),
  )
  const contents = new Map(results.map((step, place) => [step, shortened(step.content, fitting[place] ?? '')]))
  return said.map((step) => ({ ...step, content: contents.get(step) ?? step.content }))
}

function shortened(content: string, fitting: string): string {
  return fitting === content ? content : JSON.stringify({ cut: CUT, text: fitting })
}
