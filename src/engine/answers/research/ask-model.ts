import { KsError } from '../../../contract/errors.js'
import { stripThoughts } from '../../../lib/text/thoughts.js'
import { createDegradation, type Degradation, toDegradation } from '../../base/degraded.js'
import { type ChatMessage, estimateTokens, readReply, retryWithinWindow } from '../../models/index.js'
import type { ModelCallCost } from '../rows/research/costs.js'
import { computeCostUsd } from './prices.js'
import type { TaskModel, TaskRun } from './task-run.js'

const RULES_REASONS = {
  plan: 'the question was split by rules',
  answer: 'a section is a quotation of the evidence',
}

/** Messages for a model, and the maximum length of its answer. */
interface ModelPrompt {
  messages: ChatMessage[]
  maxTokens: number
}

/**
 * Calls the task's model, if it has one, within the limits. Retries with a smaller prompt when the model reports that
 * its window is smaller than configured.
 *
 * @param promptFor builds the prompt for a window of a number of tokens
 * @param part work that rules do when the provider fails; `spent`: usage in the same step that is not stored yet
 * @returns undefined without a model; the reason when the call fails and rules do the work
 * @throws LimitReached when the call could exceed the remaining budget or the number of calls
 */
export async function askModel(
  run: TaskRun,
  promptFor: (window: number) => ModelPrompt,
  { part, signal, spent }: { part: 'plan' | 'answer'; signal: AbortSignal; spent?: ModelCallCost },
): Promise<{ text: string; spent: ModelCallCost } | { degraded: Degradation } | undefined> {
  const model = await run.model()
  if (model === undefined) return undefined
  try {
    const reply = await retryWithinWindow(model.generator.contextTokens, async (window) => {
      const prompt = promptFor(window)
      const inputTokens = prompt.messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
      const maxCost = computeCostUsd(model.price, { inputTokens, outputTokens: prompt.maxTokens })
      await run.checkModelCall(maxCost + (spent?.costUsd ?? 0), spent === undefined ? 0 : 1)
      return requestReply(model, prompt, inputTokens, signal)
    })
    if (reply !== undefined) return reply
    return { degraded: createDegradation(part, `${RULES_REASONS[part]}: the model ended without an answer`) }
  } catch (error) {
    if (signal.aborted || !(error instanceof KsError)) throw error
    run.context.log.warn({ task: run.row.id, error: error.message }, 'a research task goes on without its model')
    return { degraded: toDegradation(part, RULES_REASONS[part], error) }
  }
}

/** @returns undefined when the model's answer has no end */
async function requestReply(
  model: TaskModel,
  { messages, maxTokens }: ModelPrompt,
  estimatedInputTokens: number,
  signal: AbortSignal,
): Promise<{ text: string; spent: ModelCallCost } | undefined> {
  const { text, end } = await readReply(model.generator, messages, { maxTokens, signal })
  if (end === undefined) return undefined
  const inputTokens = end.usage?.inputTokens ?? estimatedInputTokens
  const outputTokens = end.usage?.outputTokens ?? estimateTokens(text)
  const cost = computeCostUsd(model.price, { inputTokens, outputTokens })
  return {
    text: stripThoughts(text),
    spent: { provider: model.provider, model: model.name, inputTokens, outputTokens, costUsd: cost },
  }
}
