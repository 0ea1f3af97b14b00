import { KsError } from '../../contract/errors.js'
import { linkAbort } from '../../lib/abort.js'
import type { ModelReference } from '../base/model-reference.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { type Budget, estimateTokens } from './budget.js'
import type { Guard } from './guard.js'
import type {
  ProviderEmbedder,
  ProviderEvent,
  ProviderGenerator,
  ProviderReranker,
  ProviderSpeaker,
  ProviderTranscriber,
} from './provider.js'
import type { Embedder, Generator, RerankModel, Speaker, Transcriber } from './types.js'
import { begun, counted, type ModelRecord } from './use.js'

/** Estimated tokens of an answer in progress, where the caller set no limit. */
const USUAL_ANSWER_TOKENS = 1024
/** Bytes of a recording that are transcribed within the timeout of a background call: minutes of speech. */
const BYTES_IN_TIME = 8 * 1024 * 1024
/** Estimated tokens of an image until the provider has counted. */
export const IMAGE_TOKENS = 1000

/** A model with its guard and the account that pays. */
export interface Guarded<T> {
  reference: ModelReference
  raw: T
  guard: Guard
  use: ModelRecord
  budget: Budget
}

/**
 * An embedder for any number of texts, which splits them into requests of at most `maxBatch`.
 *
 * @param dimension of existing vectors that the new ones are compared with, if there are any
 */
export function guardedEmbedder(model: Guarded<ProviderEmbedder>, maxBatch: number, dimension?: number): Embedder {
  const embedBatch = async (texts: string[], purpose: 'query' | 'document', signal: AbortSignal) => {
    const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    const reserved = await model.budget.reserve('embeddingTokens', estimate)
    try {
      const call = (inner: AbortSignal) => model.raw.embed(texts, purpose, inner, dimension)
      const { vectors, tokens } = await counted(model.use, signal, () =>
        model.guard.run(call, { signal, urgent: purpose === 'query' }),
      )
      model.use.inputTokens += tokens ?? estimate
      reserved.settle(tokens ?? estimate)
      return vectors
    } catch (error) {
      if (wasRefused(error)) reserved.settle(0)
      throw error
    }
  }

  return {
    reference: model.reference,
    maxBatch,
    async embed(texts, purpose, signal) {
      const batches: string[][] = []
      for (let at = 0; at < texts.length; at += maxBatch) batches.push(texts.slice(at, at + maxBatch))
      const scope = linkAbort(signal)
      try {
        return (await Promise.all(batches.map((batch) => embedBatch(batch, purpose, scope.signal)))).flat()
      } finally {
        scope.dispose()
        // after a failed batch the others would cost money without use
        scope.abort()
      }
    },
  }
}

/**
 * A generator that keeps its slot of the provider until the stream ends or its consumer stops.
 *
 * @param contextTokens the model's context window
 */
export function guardedGenerator(model: Guarded<ProviderGenerator>, contextTokens: number): Generator {
  return {
    reference: model.reference,
    contextTokens,
    async *generate(messages, { signal, meter, urgent = true, ...options }) {
      const asked = messages.reduce(
        (sum, { content, images = [] }) => sum + estimateTokens(content) + images.length * IMAGE_TOKENS,
        0,
      )
      const reserved = await model.budget.reserve('llmTokens', asked + (options.maxTokens ?? USUAL_ANSWER_TOKENS))
      const metered = meter?.call(model.reference, asked)
      let answered = 0
      const ended = begun(model.use)
      try {
        const open = (inner: AbortSignal) => {
          metered?.begin()
          return model.raw.generate(messages, options, inner)
        }
        for await (const event of model.guard.stream(open, meaningOf, { signal, urgent })) {
          if (event.type === 'alive') continue
          if (event.type === 'delta') {
            answered += estimateTokens(event.text)
            metered?.said(event.text)
          } else {
            const { inputTokens = asked, outputTokens = answered } = event.usage ?? {}
            model.use.inputTokens += inputTokens
            model.use.outputTokens += outputTokens
            reserved.settle(inputTokens + outputTokens)
            metered?.counted(event.usage)
            ended()
          }
          yield event
        }
      } catch (error) {
        if (signal?.aborted !== true) ended(error)
        if (answered === 0 && wasRefused(error)) {
          reserved.settle(0)
          metered?.forgive()
        }
        throw error
      } finally {
        // no effect if the stream ended with a count
        reserved.settle(asked + answered)
      }
    },
  }
}

export function guardedReranker(model: Guarded<ProviderReranker>): RerankModel {
  return {
    reference: model.reference,
    async rerank(query, documents, signal) {
      if (documents.length === 0) return []
      const reserved = await model.budget.reserve('rerankRequests', 1)
      try {
        const call = (inner: AbortSignal) => model.raw.rerank(query, documents, inner)
        return await counted(model.use, signal, () => model.guard.run(call, { signal, urgent: true }))
      } catch (error) {
        if (wasRefused(error)) reserved.settle(0)
        throw error
      }
    },
  }
}

/** Wraps a speech model. No budget counts audio: providers bill it in various units. */
export function guardedSpeaker({ reference, raw, guard, use }: Omit<Guarded<ProviderSpeaker>, 'budget'>): Speaker {
  return {
    reference,
    speak: (what, signal) =>
      counted(use, signal, () => guard.run((inner) => raw.speak(what, inner), { signal, urgent: true })),
  }
}

export function guardedTranscriber({
  reference,
  raw,
  guard,
  use,
}: Omit<Guarded<ProviderTranscriber>, 'budget'>): Transcriber {
  return {
    reference,
    transcribe: (audio, signal) =>
      counted(use, signal, () => guard.run((inner) => raw.transcribe(audio, inner), { signal, urgent: true })),
    listen: (recording, signal) => {
      const times = Math.max(1, Math.ceil(recording.bytes.length / BYTES_IN_TIME))
      const listen = (inner: AbortSignal) => raw.listen(recording, inner)
      return counted(use, signal, () => guard.run(listen, { signal, urgent: false, times }))
    },
  }
}

function meaningOf({ type }: ProviderEvent): 'alive' | 'part' | 'last' {
  if (type === 'alive') return 'alive'
  return type === 'end' ? 'last' : 'part'
}

/**
 * Whether a failed call cost nothing: the provider was not reached, or rejected it. Any other call may have been
 * billed.
 */
function wasRefused(error: unknown): boolean {
  if (!(error instanceof KsError) || !(error.cause instanceof ProviderFailure)) return false
  return ['status', 'unreachable', 'circuit-open', 'context-too-long'].includes(error.cause.kind)
}
