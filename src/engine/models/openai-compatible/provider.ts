import { createModelEgress } from '../egress-fetch.js'
import type { ModelProvider } from '../provider.js'
import { createOpenAiSpeaker, createOpenAiTranscriber } from './audio.js'
import { createOpenAiGenerator } from './chat.js'
import { createOpenAiEmbedder } from './embeddings.js'
import { createOpenAiEndpoint, type OpenAiSettings } from './endpoint.js'
import { createOpenAiReranker } from './rerank.js'

/**
 * Any server with the OpenAI API: embeddings, chat completions, speech, transcriptions, and rerank in the format of
 * Cohere and Jina.
 */
export function createOpenAiProvider(settings: OpenAiSettings): ModelProvider {
  const egress = createModelEgress()
  const endpoint = createOpenAiEndpoint(egress, settings)
  return {
    embedder: (model) => createOpenAiEmbedder(endpoint, model),
    generator: (model) => createOpenAiGenerator(endpoint, model),
    reranker: (model) => createOpenAiReranker(endpoint, model),
    speaker: (model) => createOpenAiSpeaker(endpoint, model),
    transcriber: (model) => createOpenAiTranscriber(endpoint, model),
    close: () => egress.close(),
  }
}
