import { KsError } from '../../contract/errors.js'
import { linkAbort } from '../../lib/abort.js'
import type { ModelReference } from '../base/model-reference.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { estimateTokens, type ModelBudget } from './budget.js'
import type { ModelGuard } from './guard.js'
import type {
  ProviderEmbedder,
  ProviderEvent,
  ProviderGenerator,
  ProviderReranker,
  ProviderSpeaker,
  ProviderTranscriber,
} from './provider.js'
import type { Embedder, Generator, RerankModel, Speaker, Transcriber } from './types.js'
import { countCall, type ModelRecord, startCall } from './usage.js'

/** Estimated tokens of an answer in progress, where the caller set no limit. */
const ESTIMATED_ANSWER_TOKENS = 1024
/** Bytes of a recording that are transcribed within the timeout of a background call: minutes of speech. */
const MAX_TRANSCRIBED_BYTES = 8 * 1024 * 1024
/** Estimated tokens of an image until the provider has counted. */
export const ESTIMATED_IMAGE_TOKENS = 1000

/** A model with its guard and the account that pays. */
export interface GuardedModel<T> {
  reference: ModelReference
  raw: T
  guard: ModelGuard
  use: ModelRecord
  budget: ModelBudget
}

/**
 * An embedder for any number of texts, which splits them into requests of at most `maxBatch`.
 *
 * @param dimension of existing vectors that the new ones are compared with, if there are any
 */
export function createGuardedEmbedder(
  model: GuardedModel<ProviderEmbedder>,
  maxBatch: number,
  dimension?: number,
): Embedder {
  const embedBatch = async (texts: string[], purpose: 'query' | 'document', signal: AbortSignal) => {
    const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    const reservation = await model.budget.reserve('embeddingTokens', estimate)
    try {
      const call = (inner: AbortSignal) => model.raw.embed(texts, purpose, inner, dimension)
      const { vectors, tokens } = await countCall(model.use, signal, () =>
        model.guard.run(call, { signal, urgent: purpose === 'query' }),
      )
      model.use.inputTokens += tokens ?? estimate
      reservation.settle(tokens ?? estimate)
      return vectors
    } catch (error) {
      if (wasFree(error)) reservation.settle(0)
      throw error
    }
  }

  return {
    reference: model.reference,
    maxBatch,
    async embed(texts, purpose, signal) {
      const batches: string[][] = []
      for (let start = 0; start < texts.length; start += maxBatch) batches.push(texts.slice(start, start + maxBatch))
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
export function createGuardedGenerator(model: GuardedModel<ProviderGenerator>, contextTokens: number): Generator {
  return {
    reference: model.reference,
    contextTokens,
    async *generate(messages, { signal, meter, urgent = true, ...options }) {
      const requestTokens = messages.reduce(
        (sum, { content, images = [] }) => sum + estimateTokens(content) + images.length * ESTIMATED_IMAGE_TOKENS,
        0,
      )
      const reservation = await model.budget.reserve(
        'llmTokens',
        requestTokens + (options.maxTokens ?? ESTIMATED_ANSWER_TOKENS),
      )
      const metered = meter?.startCall(model.reference, requestTokens)
      let answerTokens = 0
      const endCall = startCall(model.use)
      try {
        const open = (inner: AbortSignal) => {
          metered?.begin()
          return model.raw.generate(messages, options, inner)
        }
        for await (const event of model.guard.stream(open, toEventMeaning, { signal, urgent })) {
          if (event.type === 'alive') continue
          if (event.type === 'delta') {
            answerTokens += estimateTokens(event.text)
            metered?.addText(event.text)
          } else {
            const { inputTokens = requestTokens, outputTokens = answerTokens } = event.usage ?? {}
            model.use.inputTokens += inputTokens
            model.use.outputTokens += outputTokens
            reservation.settle(inputTokens + outputTokens)
            metered?.setUsage(event.usage)
            endCall()
          }
          yield event
        }
      } catch (error) {
        if (signal?.aborted !== true) endCall(error)
        if (answerTokens === 0 && wasFree(error)) {
          reservation.settle(0)
          metered?.cancel()
        }
        throw error
      } finally {
        // no effect if the stream ended with a count
        reservation.settle(requestTokens + answerTokens)
      }
    },
  }
}

export function createGuardedReranker(model: GuardedModel<ProviderReranker>): RerankModel {
  return {
    reference: model.reference,
    async rerank(query, documents, signal) {
      if (documents.length === 0) return []
      const reservation = await model.budget.reserve('rerankRequests', 1)
      try {
        const call = (inner: AbortSignal) => model.raw.rerank(query, documents, inner)
        return await countCall(model.use, signal, () => model.guard.run(call, { signal, urgent: true }))
      } catch (error) {
        if (wasFree(error)) reservation.settle(0)
        throw error
      }
    },
  }
}

/** Wraps a speech model. No budget counts audio: providers bill it in various units. */
export function createGuardedSpeaker({
  reference,
  raw,
  guard,
  use,
}: Omit<GuardedModel<ProviderSpeaker>, 'budget'>): Speaker {
  return {
    reference,
    speak: (request, signal) =>
      countCall(use, signal, () => guard.run((inner) => raw.speak(request, inner), { signal, urgent: true })),
  }
}

export function createGuardedTranscriber({
  reference,
  raw,
  guard,
  use,
}: Omit<GuardedModel<ProviderTranscriber>, 'budget'>): Transcriber {
  return {
    reference,
    transcribe: (audio, signal) =>
      countCall(use, signal, () => guard.run((inner) => raw.transcribe(audio, inner), { signal, urgent: true })),
    listen: (recording, signal) => {
      const timeoutFactor = Math.max(1, Math.ceil(recording.bytes.length / MAX_TRANSCRIBED_BYTES))
      const listen = (inner: AbortSignal) => raw.listen(recording, inner)
      return countCall(use, signal, () => guard.run(listen, { signal, urgent: false, timeoutFactor }))
    },
  }
}

function toEventMeaning({ type }: ProviderEvent): 'alive' | 'part' | 'last' {
  if (type === 'alive') return 'alive'
  return type === 'end' ? 'last' : 'part'
}

/**
 * Whether a failed call cost nothing: the provider was not reached, or rejected it. Any other call may have been
 * billed.
 */
function wasFree(error: unknown): boolean {
  if (!(error instanceof KsError) || !(error.cause instanceof ProviderFailure)) return false
  return ['status', 'unreachable', 'circuit-open', 'context-too-long'].includes(error.cause.kind)
}
