import { join } from 'node:path'
import { parseRecord } from '../../lib/json/values.js'
import { listNames } from '../file-system.js'
import { readIfExists } from '../private-file.js'

export const MODEL_TASKS = ['embedding', 'rerank', 'chat'] as const

export type ModelTask = (typeof MODEL_TASKS)[number]

/** The reference of a pulled model is `local/llama/NAME@HASH`. */
export const LOCAL_PLUGIN = 'local'
export const LOCAL_PROVIDER = 'llama'

/** A model of this machine, as its manifest describes it. */
export interface PulledModel {
  /** NAME@HASH: the hash prevents comparisons of vectors from two files */
  id: string
  task: ModelTask
  sha256: string
  bytes: number
  /** URL or path of its origin */
  source: string
  license?: string
  /** tokens of one text, or of a conversation with its answer */
  contextTokens: number
  dimension?: number
  pooling?: string
  /** prefixes of texts that the model was trained with */
  queryPrefix?: string
  documentPrefix?: string
}

/** Paths in the folder of models. A model is one folder: a rename publishes it, another one removes it. */
export function getModelPaths(folder: string, id: string) {
  const path = join(folder, id)
  return { path, weights: join(path, 'model.gguf'), manifest: join(path, 'model.json') }
}

const MODEL_ID = /^[a-z0-9][a-z0-9._-]{0,63}@[0-9a-f]{12}$/

export function isModelId(text: string): boolean {
  return MODEL_ID.test(text)
}

/** Digits of the hash in an id. */
const HASH_DIGITS = 12

export function buildModelId(name: string, sha256: string): string {
  return `${name}@${sha256.slice(0, HASH_DIGITS)}`
}

/** The models of a folder, sorted by id; none where the folder does not exist. */
export function listPulledModels(folder: string): PulledModel[] {
  return listNames(folder)
    .sort()
    .flatMap((id) => readPulledModel(folder, id) ?? [])
}

/** A model by its id; `undefined` where it is not pulled. */
export function readPulledModel(folder: string, id: string): PulledModel | undefined {
  if (!isModelId(id)) return undefined
  const text = readIfExists(getModelPaths(folder, id).manifest)
  const fields = text === undefined ? undefined : parseRecord(text)
  return fields === undefined ? undefined : toPulledModel(id, fields)
}

function toPulledModel(id: string, fields: Record<string, unknown>): PulledModel | undefined {
  const { task, sha256, bytes, source, contextTokens } = fields
  const knownTask = MODEL_TASKS.find((candidate) => candidate === task)
  const isComplete =
    knownTask !== undefined &&
    typeof sha256 === 'string' &&
    typeof bytes === 'number' &&
    typeof source === 'string' &&
    typeof contextTokens === 'number'
  if (!isComplete) return undefined
  const model: PulledModel = { id, task: knownTask, sha256, bytes, source, contextTokens }
  for (const key of ['license', 'pooling', 'queryPrefix', 'documentPrefix'] as const) {
    const value = fields[key]
    if (typeof value === 'string') model[key] = value
  }
  if (typeof fields.dimension === 'number') model.dimension = fields.dimension
  return model
}

/** The reference of a model in settings and commands. */
export function toModelReference(id: string): string {
  return `${LOCAL_PLUGIN}/${LOCAL_PROVIDER}/${id}`
}
