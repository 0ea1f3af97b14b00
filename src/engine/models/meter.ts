import type { ModelReference } from '../base/model-reference.js'
import { estimateTokens } from './budget.js'

/** The token count of one running call. */
export interface MeteredCall {
  /** The request is sent: from now on the call counts. */
  begin(): void
  addText(text: string): void
  /** the provider's own count, if it sent one */
  setUsage(usage: GenerationUsage | undefined): void
  /** The call cost nothing: the provider was not reached, or rejected it. */
  cancel(): void
}

/**
 * Tokens consumed by calls of models, available at any time: an estimate until the provider's own count arrives. Most
 * providers count only at the end of an answer, and an aborted answer has none.
 */
export class TokenMeter {
  readonly #calls: { model: ModelReference; begun: boolean; asked: number; said: string; usage: GenerationUsage }[] = []

  /** @param asked estimated tokens of the request */
  startCall(model: ModelReference, asked: number): MeteredCall {
    const call = { model, begun: false, asked, said: '', usage: {} }
    this.#calls.push(call)
    return {
      begin: () => {
        call.begun = true
      },
      addText: (text) => {
        call.said += text
      },
      setUsage: (usage = {}) => {
        call.usage = usage
      },
      cancel: () => {
        call.begun = false
      },
    }
  }

  /** The model of the most recent call; undefined without a call. */
  model(): ModelReference | undefined {
    return this.#calls.findLast(({ begun }) => begun)?.model
  }

  /** Total over all calls; 0 without a call. */
  total(): Required<GenerationUsage> {
    const total = { inputTokens: 0, outputTokens: 0 }
    for (const { begun, asked, said, usage } of this.#calls) {
      if (!begun) continue
      total.inputTokens += usage.inputTokens ?? asked
      total.outputTokens += usage.outputTokens ?? estimateTokens(said)
    }
    return total
  }
}

export interface GenerationUsage {
  inputTokens?: number
  outputTokens?: number
}
