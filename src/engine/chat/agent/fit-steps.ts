import { tokensAtMost } from '../../models/tokens.js'
import type { ChatMessage, ToolSpec } from '../../models/types.js'
import { beginningOf, fitTexts } from '../../models/window.js'

/** What is around the text of a message. */
const MESSAGE_TOKENS = 8
/** What stands with the beginning of a result that does not fit any more. */
const CUT =
  'This result was longer; what else it said does not fit. Ask for less at once, or answer from what you have.'
const CUT_TOKENS = tokensAtMost(JSON.stringify({ cut: CUT, text: '' }))
/** What an assistant said between its calls. */
const SAID_TOKENS = 200

/** Tokens of messages, at most, with the calls that they hold. */
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
 * The steps of a turn so far, in at most so many tokens: where they are more, results of tools lose their ends, the
 * longest most, and say so.
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
