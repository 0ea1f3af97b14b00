import { type ChatMessage, estimateMaxTokens, fitTexts, type ToolSpec, truncateEnd } from '../../../models/index.js'

/** Overhead of a message beyond its text. */
const MESSAGE_OVERHEAD_TOKENS = 8
/** Notice with the beginning of a result that does not fit any more. */
const TRUNCATION_NOTICE =
  'This result was longer; what else it said does not fit. Ask for less at once, or answer from what you have.'
const TRUNCATION_NOTICE_TOKENS = estimateMaxTokens(JSON.stringify({ cut: TRUNCATION_NOTICE, text: '' }))
/** Limit of the text of an assistant between tool calls. */
const ASSISTANT_TEXT_TOKENS = 200

/** Maximum number of tokens in messages with their tool calls. */
export function countMessageTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (sum, { content, toolCalls = [] }) =>
      sum +
      MESSAGE_OVERHEAD_TOKENS +
      estimateMaxTokens(content) +
      (toolCalls.length === 0 ? 0 : estimateMaxTokens(JSON.stringify(toolCalls))),
    0,
  )
}

export function countToolTokens(tools: readonly ToolSpec[]): number {
  return tools.length === 0 ? 0 : estimateMaxTokens(JSON.stringify(tools))
}

/**
 * Fits the steps of a turn into a number of tokens: truncates the results of tools, the longest first, with a notice.
 */
export function fitSteps(steps: readonly ChatMessage[], tokens: number): ChatMessage[] {
  if (countMessageTokens(steps) <= tokens) return [...steps]
  const trimmed = steps.map((step) =>
    step.role === 'tool' ? step : { ...step, content: truncateEnd(step.content, ASSISTANT_TEXT_TOKENS) },
  )
  const results = trimmed.filter(({ role }) => role === 'tool')
  const overheadTokens = countMessageTokens(
    trimmed.map((step) => (step.role === 'tool' ? { ...step, content: '' } : step)),
  )
  const availableTokens = tokens - overheadTokens - results.length * TRUNCATION_NOTICE_TOKENS
  const fitting = fitTexts(
    results.map(({ content }) => content),
    Math.max(0, availableTokens),
  )
  const contents = new Map(results.map((step, index) => [step, markTruncated(step.content, fitting[index] ?? '')]))
  return trimmed.map((step) => ({ ...step, content: contents.get(step) ?? step.content }))
}

function markTruncated(content: string, fitting: string): string {
  return fitting === content ? content : JSON.stringify({ cut: TRUNCATION_NOTICE, text: fitting })
}
