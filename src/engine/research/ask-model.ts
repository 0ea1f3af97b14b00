import { KsError } from '../../contract/errors.js'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import { type Degradation, degradation, degradationBy } from '../base/degraded.js'
import { estimateTokens } from '../models/budget.js'
import { replyTo } from '../models/reply.js'
import type { ChatMessage } from '../models/types.js'
import { withinWindow } from '../models/window.js'
import type { Spent } from '../rows/research/costs.js'
import { costUsd } from './prices.js'
import type { TaskModel, TaskRun } from './task-run.js'

const BY_RULES = {
  plan: 'the question was split by rules',
  answer: 'a section is a quotation of the evidence',
}

/** Messages for a model, and the maximum length of its answer. */
interface Prompt {
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
  promptFor: (window: number) => Prompt,
  { part, signal, spent }: { part: 'plan' | 'answer'; signal: AbortSignal; spent?: Spent },
): Promise<{ text: string; spent: Spent } | { degraded: Degradation } | undefined> {
  const model = await run.model()
  if (model === undefined) return undefined
  try {
    const reply = await withinWindow(model.generator.contextTokens, async (window) => {
      const prompt = promptFor(window)
      const asked = prompt.messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
      const worst = costUsd(model.price, { inputTokens: asked, outputTokens: prompt.maxTokens })
      await run.checkModelCall(worst + (spent?.costUsd ?? 0), spent === undefined ? 0 : 1)
      return replyOf(model, prompt, asked, signal)
    })
    if (reply !== undefined) return reply
    return { degraded: degradation(part, `${BY_RULES[part]}: the model ended without an answer`) }
  } catch (error) {
    if (signal.aborted || !(error instanceof KsError)) throw error
    run.context.log.warn({ task: run.row.id, error: error.message }, 'a research task goes on without its model')
    return { degraded: degradationBy(part, BY_RULES[part], error) }
  }
}

/** @returns undefined when the model's answer has no end */
async function replyOf(
  model: TaskModel,
  { messages, maxTokens }: Prompt,
  asked: number,
  signal: AbortSignal,
): Promise<{ text: string; spent: Spent } | undefined> {
  const { text, end } = await replyTo(model.generator, messages, { maxTokens, signal })
  if (end === undefined) return undefined
  const inputTokens = end.usage?.inputTokens ?? asked
  const outputTokens = end.usage?.outputTokens ?? estimateTokens(text)
  const cost = costUsd(model.price, { inputTokens, outputTokens })
  return {
    text: withoutThoughts(text),
    spent: { provider: model.provider, model: model.name, inputTokens, outputTokens, costUsd: cost },
  }
}
