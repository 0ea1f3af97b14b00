import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { ThoughtSeparator } from '../../lib/text/thinking.js'
import { type AnswerSource, findCitedSources, toSources } from '../sources.js'

/** A step of an agent before its answer. */
export interface ChatStep {
  readonly id: string
  readonly thought: string
  readonly tool: string
  readonly input: string
  readonly observation: string
}

/** Resources that an answer used. */
export interface AnswerUsage {
  readonly tokens: number
  /** as reported by the service, a decimal number */
  readonly price: string
  readonly currency: string
  readonly seconds: number
}

/** An entry of the view. */
export interface ChatEntry {
  readonly kind: 'question' | 'answer' | 'note' | 'error' | 'rule'
  readonly text: string
  /** passages that an answer cites */
  readonly sources?: readonly AnswerSource[]
  readonly isStopped?: true
  /** whether more text will follow */
  readonly isGrowing?: true
  /** thoughts of the model before its answer */
  readonly thought?: string
  readonly steps?: readonly ChatStep[]
  readonly usage?: AnswerUsage
}

export function toThought({ thought }: ThoughtSeparator): { thought?: string } {
  return thought.trim() === '' ? {} : { thought }
}

/** Splits a complete answer into its text and the thoughts before it, if any. */
export function splitAnswer(answer: string): { output: string; thought?: string } {
  const separator = new ThoughtSeparator()
  const output = separator.add(answer) + separator.end()
  return { output, ...toThought(separator) }
}

/** Converts a stored message to entries for its question and answer. */
export function toEntries(message: Record<string, unknown>): ChatEntry[] {
  const { output, ...thought } = splitAnswer(toNonEmptyString(message.answer) ?? '')
  const steps = Array.isArray(message.agent_thoughts) ? message.agent_thoughts.filter(isRecord).map(toStep) : []
  return [
    { kind: 'question', text: toNonEmptyString(message.query) ?? '' },
    {
      kind: 'answer',
      text: output,
      sources: findCitedSources(output, toSources({ metadata: message })),
      ...thought,
      ...(steps.length === 0 ? {} : { steps }),
    },
  ]
}

export function toStep(event: Record<string, unknown>): ChatStep {
  return {
    id: toNonEmptyString(event.id) ?? '',
    thought: toNonEmptyString(event.thought) ?? '',
    tool: toNonEmptyString(event.tool) ?? '',
    input: toNonEmptyString(event.tool_input) ?? '',
    observation: toNonEmptyString(event.observation) ?? '',
  }
}

/** Adds a step, or replaces the one with its id. */
export function setStep(steps: readonly ChatStep[], step: ChatStep): ChatStep[] {
  const index = steps.findIndex(({ id }) => id === step.id)
  return index === -1 ? [...steps, step] : steps.toSpliced(index, 1, step)
}

/** Extracts the usage from the last event of an answer; empty if no model answered. */
export function toUsage({ metadata }: Record<string, unknown>): { usage?: AnswerUsage } {
  const usage = isRecord(metadata) ? metadata.usage : undefined
  if (!isRecord(usage) || typeof usage.total_tokens !== 'number' || typeof usage.latency !== 'number') return {}
  return {
    usage: {
      tokens: usage.total_tokens,
      price: String(usage.total_price ?? '0'),
      currency: toNonEmptyString(usage.currency) ?? '',
      seconds: usage.latency,
    },
  }
}

/** Formats `1,204 tokens · 0.0031 USD · 2.4 s`. */
export function formatUsage({ tokens, price, currency, seconds }: AnswerUsage): string {
  const parts = [pluralize(tokens, 'token')]
  // A model without a price is not free.
  if (Number(price) > 0) parts.push(`${Number(price).toPrecision(2)} ${currency}`.trim())
  parts.push(`${seconds.toFixed(1)} s`)
  return parts.join(' · ')
}
