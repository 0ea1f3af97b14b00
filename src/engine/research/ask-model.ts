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
  plan: 'the question was taken apart by rules',
  answer: 'a section is a quotation of the evidence',
}

/** What a model is asked, and how long its answer may be. */
interface Prompt {
  messages: ChatMessage[]
  maxTokens: number
}

/**
 * Asks the task's model, where it has one that answers within the limits; with less where it says that its window is
 * smaller than configured.
 *
 * @param promptFor what it is asked, made to fit a window of so many tokens
 * @param part of the work that rules do where the provider fails; `spent`: in the same step, and not stored yet
 * @returns undefined without a model; what a failure means for the report: rules do the work then
 * @throws LimitReached when the call could cost more than the budget has left, or is one too many
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

/** @returns undefined where the model's answer has no end */
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
