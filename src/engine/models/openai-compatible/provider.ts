import { createEgress } from '../egress-fetch.js'
import type { Provider } from '../provider.js'
import { openAiSpeaker, openAiTranscriber } from './audio.js'
import { openAiGenerator } from './chat.js'
import { openAiEmbedder } from './embeddings.js'
import { createEndpoint, type OpenAiSettings } from './endpoint.js'
import { openAiReranker } from './rerank.js'

/**
 * Any server with the OpenAI API: embeddings, chat completions, speech, transcriptions, and rerank in the format of
 * Cohere and Jina.
 */
export function openAiCompatible(settings: OpenAiSettings): Provider {
  const egress = createEgress()
  const endpoint = createEndpoint(egress, settings)
  return {
    embedder: (model) => openAiEmbedder(endpoint, model),
    generator: (model) => openAiGenerator(endpoint, model),
    reranker: (model) => openAiReranker(endpoint, model),
    speaker: (model) => openAiSpeaker(endpoint, model),
    transcriber: (model) => openAiTranscriber(endpoint, model),
    close: () => egress.close(),
  }
}
