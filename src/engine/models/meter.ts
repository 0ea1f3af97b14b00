import type { ModelReference } from '../base/model-reference.js'
import { estimateTokens } from './budget.js'

/** One call of a model, as far as it has come. */
export interface MeteredCall {
  /** The request goes out: from now on it costs something. */
  begin(): void
  said(text: string): void
  /** the provider's own count, where it gives one */
  counted(usage: GenerationUsage | undefined): void
  /** It cost nothing after all: the provider was not reached, or said no. */
  forgive(): void
}

/**
 * Tokens that calls of models have cost, at any time: as the provider counts them, and by estimate until it does, since
 * most count at the end of an answer only, which a stopped one has not.
 */
export class TokenMeter {
  readonly #calls: { model: ModelReference; begun: boolean; asked: number; said: string; usage: GenerationUsage }[] = []

  /** @param asked tokens of the request, by estimate */
  call(model: ModelReference, asked: number): MeteredCall {
    const call = { model, begun: false, asked, said: '', usage: {} }
    this.#calls.push(call)
    return {
      begin: () => {
        call.begun = true
      },
      said: (text) => {
        call.said += text
      },
      counted: (usage = {}) => {
        call.usage = usage
      },
      forgive: () => {
        call.begun = false
      },
    }
  }

  /** The model that was called last; undefined where none was. */
  model(): ModelReference | undefined {
    return this.#calls.findLast(({ begun }) => begun)?.model
  }

  /** 0 where no model was called. */
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
