import type { ProviderSetting } from '../../local/provider-setting.js'

export interface EmbeddingModel {
  name: string
  /** what the vectors must have; absent = whatever the first answer has */
  dimension?: number
  /** texts in one request; the provider's own where absent */
  maxBatch?: number
  /** longer texts are cut here, in UTF-16 units: for models that refuse what exceeds their window */
  maxChars?: number
  /** put before a query or a document, as models of the E5 family were trained with */
  queryPrefix?: string
  documentPrefix?: string
}

export interface GenerationModel {
  name: string
  /** sent only where given: some models refuse the field */
  temperature?: number
}

export interface RerankingModel {
  name: string
  /** `logit` = scores are squashed to 0..1; absent = decided by the first score outside 0..1 */
  scores?: 'probability' | 'logit'
}

/** One provider, as the operator wrote it. */
export interface ProviderConfig extends ProviderSetting {
  /** what it offers, by kind; absent = any model of any kind */
  models?: {
    embedding?: (string | EmbeddingModel)[]
    generation?: (string | GenerationModel)[]
    rerank?: (string | RerankingModel)[]
    speech?: string[]
    transcription?: string[]
  }
}
