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

/** What an answer is taken to cost while it is being written, where the caller set no length. */
const USUAL_ANSWER_TOKENS = 1024
/** So much of a recording is written down within the time that a call has which nobody waits for: minutes of speech. */
const BYTES_IN_TIME = 8 * 1024 * 1024
/** what an image is taken to cost until the provider has counted */
export const IMAGE_TOKENS = 1000

/** A model together with what stands guard over it and who pays. */
export interface Guarded<T> {
  reference: ModelReference
  raw: T
  guard: Guard
  use: ModelRecord
  budget: Budget
}

/**
 * An embedder that takes any number of texts and splits them into requests of at most `maxBatch`.
 *
 * @param dimension of the vectors that these are to be compared with, where there are some
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
        // after a failed batch the others would be paid for in vain
        scope.abort()
      }
    },
  }
}

/**
 * A generator that holds its place in the provider's queue until the stream ends or its consumer leaves.
 *
 * @param contextTokens the model's window
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
        // without effect where the end came with a count
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

/** No budget counts audio: providers bill it by units of their own. */
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

/** Whether a failed call cost nothing: the provider was not asked, or said no. Anything else may have been billed. */
function wasRefused(error: unknown): boolean {
  if (!(error instanceof KsError) || !(error.cause instanceof ProviderFailure)) return false
  return ['status', 'unreachable', 'circuit-open', 'context-too-long'].includes(error.cause.kind)
}
