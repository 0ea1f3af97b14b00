import { isRecord, textOf } from '../../lib/json/values.js'
import { Thinking } from '../../lib/text/thinking.js'
import { citedBy, type Source, sourcesOf } from '../turn.js'

/** A step of an agent before its answer. */
export interface Step {
  readonly id: string
  readonly thought: string
  readonly tool: string
  readonly input: string
  readonly observation: string
}

/** Resources that an answer used. */
export interface Usage {
  readonly tokens: number
  /** as reported by the service, a decimal number */
  readonly price: string
  readonly currency: string
  readonly seconds: number
}

/** An entry of the view. */
export interface Entry {
  readonly kind: 'question' | 'answer' | 'note' | 'error' | 'rule'
  readonly text: string
  /** passages that an answer cites */
  readonly sources?: readonly Source[]
  readonly isStopped?: true
  /** whether more text will follow */
  readonly isGrowing?: true
  /** thoughts of the model before its answer */
  readonly thought?: string
  readonly steps?: readonly Step[]
  readonly usage?: Usage
}

export function thoughtOf({ thought }: Thinking): { thought?: string } {
  return thought.trim() === '' ? {} : { thought }
}

/** Splits a complete answer into its text and the thoughts before it, if any. */
export function partsOfAnswer(answer: string): { said: string; thought?: string } {
  const thinking = new Thinking()
  const said = thinking.add(answer) + thinking.end()
  return { said, ...thoughtOf(thinking) }
}

/** Question and answer of a stored message. */
export function entriesOf(message: Record<string, unknown>): Entry[] {
  const { said, ...thought } = partsOfAnswer(textOf(message.answer) ?? '')
  const steps = Array.isArray(message.agent_thoughts) ? message.agent_thoughts.filter(isRecord).map(stepOf) : []
  return [
    { kind: 'question', text: textOf(message.query) ?? '' },
    {
      kind: 'answer',
      text: said,
      sources: citedBy(said, sourcesOf({ metadata: message })),
      ...thought,
      ...(steps.length === 0 ? {} : { steps }),
    },
  ]
}

export function stepOf(event: Record<string, unknown>): Step {
  return {
    id: textOf(event.id) ?? '',
    thought: textOf(event.thought) ?? '',
    tool: textOf(event.tool) ?? '',
    input: textOf(event.tool_input) ?? '',
    observation: textOf(event.observation) ?? '',
  }
}

/** Adds a step, or replaces the one with its id. */
export function withStep(steps: readonly Step[], step: Step): Step[] {
  const at = steps.findIndex(({ id }) => id === step.id)
  return at === -1 ? [...steps, step] : steps.toSpliced(at, 1, step)
}

/** Usage from the last event of an answer; empty if no model answered. */
export function usageOf({ metadata }: Record<string, unknown>): { usage?: Usage } {
  const usage = isRecord(metadata) ? metadata.usage : undefined
  if (!isRecord(usage) || typeof usage.total_tokens !== 'number' || typeof usage.latency !== 'number') return {}
  return {
    usage: {
      tokens: usage.total_tokens,
      price: String(usage.total_price ?? '0'),
      currency: textOf(usage.currency) ?? '',
      seconds: usage.latency,
    },
  }
}

/** `1,204 tokens · 0.0031 USD · 2.4 s` */
export function usageLine({ tokens, price, currency, seconds }: Usage): string {
  const parts = [`${tokens.toLocaleString('en-US')} token${tokens === 1 ? '' : 's'}`]
  // A model without a price is not free.
  if (Number(price) > 0) parts.push(`${Number(price).toPrecision(2)} ${currency}`.trim())
  parts.push(`${seconds.toFixed(1)} s`)
  return parts.join(' · ')
}
