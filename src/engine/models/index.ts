/** Providers of models (chat, embeddings, reranking, speech), built-in models, and requests that leave the machine. */

export {
  type BudgetAccount,
  type BudgetStore,
  estimateTokens,
  type ModelCounter,
  secondsUntilMidnight,
  type UsageAccount,
} from './budget.js'
export { LSA_MAX_DOCUMENTS, LSA_MIN_DOCUMENTS } from './builtin/lsa-corpus.js'
export { LsaEmbedder } from './builtin/lsa-embedder.js'
export { isOfThisAnalyzer, parseModel } from './builtin/lsa-file.js'
export { trainLsa } from './builtin/lsa-trainer.js'
export { type AddressRule, createAddressRule } from './egress/addresses.js'
export { EgressFailure } from './egress/failure.js'
export {
  createSafeFetch,
  type FetchedResource,
  type OpenedResource,
  type SafeFetch,
  USER_AGENT,
} from './egress/safe-fetch.js'
export { confirmsState, extractValidators, toConditionHeaders, type Validators } from './egress/validators.js'
export { ESTIMATED_IMAGE_TOKENS } from './guarded.js'
export { type GenerationUsage, TokenMeter } from './meter.js'
export { findConfiguredPrice } from './prices.js'
export { isContentRejection, mayBeCausedByTexts, toProviderProblem } from './provider-problem.js'
export {
  BUILTIN_ANSWER,
  BUILTIN_EMBEDDING,
  createModelRegistry,
  isBuiltin,
  isBuiltinAnswer,
  isSameModel,
  type ModelRegistry,
  type UsedModel,
} from './registry.js'
export { readReply, requestText } from './reply.js'
export { buildRepairMessages, parseJsonReply, requestJson } from './structured.js'
export { estimateMaxTokens } from './tokens.js'
export type {
  ChatImage,
  ChatMessage,
  Embedder,
  GenerationEvent,
  Generator,
  Speaker,
  Speech,
  ToolCall,
  ToolSpec,
  Transcript,
} from './types.js'
export { describePicture, toDescriptionKey } from './vision.js'
export {
  fitTexts,
  retryWithinWindow,
  splitWindow,
  streamWithinWindow,
  truncateEnd,
  truncateStart,
  truncateToSentences,
} from './window.js'
