import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import { BUILTIN_ANSWER, isBuiltin } from '../models/registry.js'
import type { ModelReference } from '../models/types.js'
import type { Admitted } from './admission.js'
import { extractiveAnswer } from './extractive.js'
import type { Retrieved } from './fast.js'
import { type AnswerStyle, citedNumbers, generateAnswer } from './generate.js'
import type { SessionTurn } from './sessions.js'

export type AnswerPart =
  | { type: 'delta'; text: string }
  /** the model failed before its first word; what follows is made of the evidence's own sentences */
  | { type: 'failed-attempt'; metadata: Record<string, unknown>; error: unknown }
  | { type: 'end'; metadata: Record<string, unknown> }

const NOTHING_FOUND = 'No passage in this space answers the question.'

/** Streams an answer: from the space's model where it has one, else of the evidence's own sentences. */
export async function* answerQuery(
  context: EngineContext,
  admitted: Admitted,
  turns: SessionTurn[],
  query: string,
  bundle: EvidenceBundle,
  retrieved: Retrieved,
  signal: AbortSignal,
  style: AnswerStyle = {},
): AsyncGenerator<AnswerPart> {
  const model = admitted.profile.reasoningModel ?? context.options.defaultGenerator
  if (bundle.state === 'not-enough-evidence') {
    yield { type: 'delta', text: NOTHING_FOUND }
    yield { type: 'end', metadata: { generator: 'extractive', synthesis: 'none', cited: [] } }
    return
  }
  if (!isBuiltin(model)) {
    const outcome = yield* modelAnswer(context, admitted, turns, query, bundle, model, signal, style)
    if (outcome === 'answered') return
  }
  yield* extractive(query, bundle, retrieved)
}

/** @returns `failed` when the model failed before its first word, so that another generator can answer */
async function* modelAnswer(
  context: EngineContext,
  admitted: Admitted,
  turns: SessionTurn[],
  query: string,
  bundle: EvidenceBundle,
  model: ModelReference,
  signal: AbortSignal,
  style: AnswerStyle,
): AsyncGenerator<AnswerPart, 'answered' | 'failed'> {
  let answer = ''
  try {
    const generator = context.models.generator(model, account(context, admitted.space))
    for await (const event of generateAnswer(generator, query, bundle.items, turns, signal, style)) {
      if (event.type === 'delta') {
        answer += event.text
        yield { type: 'delta', text: event.text }
        continue
      }
      yield {
        type: 'end',
        metadata: {
          generator: 'model',
          synthesis: 'model',
          reasoningModel: model,
          model: model.model,
          provider: model.provider,
          providerFinishReason: event.finishReason,
          cited: citedNumbers(answer, bundle.items.length),
          ...(event.usage === undefined ? {} : { providerMetadata: { usage: event.usage } }),
        },
      }
    }
    return 'answered'
  } catch (error) {
    if (signal.aborted || answer !== '') throw error
    yield {
      type: 'failed-attempt',
      metadata: {
        synthesis: 'model',
        model: model.model,
        provider: model.provider,
        errorClass: error instanceof KsError ? error.code : 'internal',
      },
      error,
    }
    return 'failed'
  }
}

function* extractive(query: string, bundle: EvidenceBundle, retrieved: Retrieved): Generator<AnswerPart> {
  const evidence = bundle.items.map((item) => ({ text: item.text, title: String(item.metadata.title ?? '') }))
  const { sentences } = extractiveAnswer({ query, evidence, idf: retrieved.idf })
  for (const [index, sentence] of sentences.entries())
    yield { type: 'delta', text: `${index === 0 ? '' : ' '}${sentence.text} [${sentence.evidenceIndex + 1}]` }
  yield {
    type: 'end',
    metadata: {
      generator: BUILTIN_ANSWER.model,
      synthesis: 'extractive',
      cited: [...new Set(sentences.map((sentence) => sentence.evidenceIndex + 1))].sort((a, b) => a - b),
    },
  }
}
