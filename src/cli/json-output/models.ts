import { z } from 'zod'
import { count, positive } from '../../contract/primitives.js'

/** A model of a server, as the server reports it. */
export const DetectedModel = z.strictObject({
  name: z.string(),
  use: z.enum(['chat', 'embedding', 'rerank', 'speech', 'transcription', 'other']),
  can: z.array(z.string()).describe('further capabilities'),
  contextTokens: positive.exactOptional().describe('context window of the server in tokens'),
  mostContextTokens: positive.exactOptional().describe('maximum window that the model supports, if larger'),
})
export type DetectedModel = z.output<typeof DetectedModel>
export type ModelPurpose = DetectedModel['use']

export const DetectedModelRow = z.strictObject({
  provider: z.string(),
  baseUrl: z.string(),
  ...DetectedModel.shape,
  can: z.string().describe('further capabilities, separated by commas'),
})
export type DetectedModelRow = z.output<typeof DetectedModelRow>

export const AddedProvider = z.strictObject({
  provider: z.string(),
  baseUrl: z.string(),
  apiKeyEnv: z.string().exactOptional().describe('environment variable with the key'),
  generator: z.string().exactOptional().describe('new default model for answers'),
})
export type AddedProvider = z.output<typeof AddedProvider>

/** The result of testing one ability of a model. */
export const ProbeResult = z.strictObject({
  ability: z.enum(['chat', 'answers', 'stream', 'tools', 'json', 'vision', 'embeddings', 'rerank', 'audio']),
  result: z.enum(['works', "doesn't", 'not asked']),
  latencyMs: count.exactOptional(),
  note: z.string().exactOptional().describe('why it failed; never text of the server'),
})
export type ProbeResult = z.output<typeof ProbeResult>
export type Ability = ProbeResult['ability']

export const ModelTestRow = z.strictObject({
  provider: z.string(),
  model: z.string(),
  ...ProbeResult.shape,
  ability: ProbeResult.shape.ability.exactOptional(),
})
export type ModelTestRow = z.output<typeof ModelTestRow>

const task = z.enum(['embedding', 'rerank', 'chat'])

/** A model of this machine. */
export const PulledModelOutput = z.strictObject({
  model: z.string().describe('reference of the model in settings and commands'),
  task,
  sha256: z.string(),
  bytes: count,
  source: z.string().describe('URL or path of its origin'),
  license: z.string().exactOptional(),
  contextTokens: positive,
  dimension: positive.exactOptional(),
  pooling: z.string().exactOptional(),
  queryPrefix: z.string().exactOptional(),
  documentPrefix: z.string().exactOptional(),
})
export type PulledModelOutput = z.output<typeof PulledModelOutput>

/** A model of the catalogue, or one that was pulled from elsewhere. */
export const CatalogueRow = z.strictObject({
  name: z.string(),
  task,
  languages: z.string(),
  license: z.string(),
  bytes: count,
  isTested: z.boolean(),
  model: z.string().describe('references of its versions on this machine, separated by commas'),
})
export type CatalogueRow = z.output<typeof CatalogueRow>

export const RemovedModels = z.strictObject({ removed: z.array(z.string()) })
export type RemovedModels = z.output<typeof RemovedModels>
