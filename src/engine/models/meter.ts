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
  readonly #calls: {
    model: ModelReference
    isSent: boolean
    requestTokens: number
    text: string
    usage: GenerationUsage
  }[] = []

  /** @param requestTokens estimated */
  startCall(model: ModelReference, requestTokens: number): MeteredCall {
    const call = { model, isSent: false, requestTokens, text: '', usage: {} }
    this.#calls.push(call)
    return {
      begin: () => {
        call.isSent = true
      },
      addText: (text) => {
        call.text += text
      },
      setUsage: (usage = {}) => {
        call.usage = usage
      },
      cancel: () => {
        call.isSent = false
      },
    }
  }

  /** The model of the most recent call; undefined without a call. */
  model(): ModelReference | undefined {
    return this.#calls.findLast(({ isSent }) => isSent)?.model
  }

  /** Total over all calls; 0 without a call. */
  total(): Required<GenerationUsage> {
    const total = { inputTokens: 0, outputTokens: 0 }
    for (const { isSent, requestTokens, text, usage } of this.#calls) {
      if (!isSent) continue
      total.inputTokens += usage.inputTokens ?? requestTokens
      total.outputTokens += usage.outputTokens ?? estimateTokens(text)
    }
    return total
  }
}

export interface GenerationUsage {
  inputTokens?: number
  outputTokens?: number
}
