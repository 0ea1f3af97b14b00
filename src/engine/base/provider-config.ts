import type { ProviderSetting } from '../../local/provider-setting.js'

export interface EmbeddingModel {
  name: string
  /** required dimension of the vectors; if absent, that of the first response */
  dimension?: number
  /** number of texts in one request; the provider's default if absent */
  maxBatch?: number
  /** longer texts are truncated here, in UTF-16 units: for models that reject texts above their context window */
  maxChars?: number
  /** prefix of a query or a document, as models of the E5 family were trained with */
  queryPrefix?: string
  documentPrefix?: string
}

export interface GenerationModel {
  name: string
  /** sent only if given: some models reject the field */
  temperature?: number
}

export interface RerankingModel {
  name: string
  /** `logit`: scores are mapped to 0..1; if absent, decided by the first score outside 0..1 */
  scores?: 'probability' | 'logit'
}

/** One provider, as configured by the operator. */
export interface ProviderConfig extends ProviderSetting {
  /** offered models by kind; if absent, any model of any kind */
  models?: {
    embedding?: (string | EmbeddingModel)[]
    generation?: (string | GenerationModel)[]
    rerank?: (string | RerankingModel)[]
    speech?: string[]
    transcription?: string[]
  }
}
