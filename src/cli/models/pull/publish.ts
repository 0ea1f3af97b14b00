import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { EXIT } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { syncPath } from '../../../local/file-system.js'
import { GgufError, type GgufFacts, readGguf } from '../../../local/models/gguf.js'
import { LlamaFailure, LlamaProcess, type LoadedModel } from '../../../local/models/llama-process.js'
import {
  buildModelId,
  getModelPaths,
  type ModelTask,
  type PulledModel,
  readPulledModel,
} from '../../../local/models/pulled.js'
import { getRuntimeEntry, getRuntimeFolder, RUNTIME } from '../../../local/models/runtime.js'
import { writePrivateFile } from '../../../local/private-file.js'
import { CliError } from '../../cli-error.js'
import { getNotePath } from './download.js'
import type { ModelOrigin } from './origin.js'

/** Suffix of the folder of an unpublished model. */
const PART_SUFFIX = '.part'
/** Suffix of a folder that is being removed. */
const REMOVED_SUFFIX = '.gone'
/** Context window in tokens of a model whose header does not state one. */
const DEFAULT_CONTEXT_TOKENS = 512
/** Above this cosine of two unlike texts, the conversion of the model is broken. */
const MAX_COSINE = 0.999
/** Timeout of the trial request, which has a few words. */
const TRIAL_TIMEOUT_MS = 120_000

/** The folder of a model that is being pulled; a rename publishes it. */
export interface ModelStage {
  path: string
  /** Path of the file with the weights. */
  weights: string
}

/**
 * Locks the folder of models against other commands.
 *
 * @throws CliError exit 7 while another command changes the folder
 */
export async function lockModels(models: string): Promise<{ release(): void }> {
  mkdirSync(models, { recursive: true, mode: 0o700 })
  const { acquireLock } = await import('../../../local/lock.js')
  const lock = acquireLock(join(models, 'lock'))
  if (lock === undefined)
    throw new CliError('another command is pulling or removing a model', { code: 'busy', exit: EXIT.overLimit })
  return lock
}

/** Creates the stage of a model, or opens that of an interrupted pull. @param models folder of models */
export function openStage(models: string, name: string): ModelStage {
  const path = join(models, `${name}${PART_SUFFIX}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return { path, weights: getModelPaths(models, `${name}${PART_SUFFIX}`).weights }
}

export async function copyToStage(
  { weights }: ModelStage,
  path: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  // An existing part of a download is replaced.
  await rm(getNotePath(weights), { force: true })
  let size = 0
  const source = createReadStream(path)
  source.on('data', (chunk) => {
    size += chunk.length
    onProgress(size)
  })
  await pipeline(source, createWriteStream(weights, { mode: 0o600 }))
  await syncPath(weights)
}

/**
 * Computes the hash of the staged weights.
 *
 * @throws CliError exit 1 if it differs from the expected hash; the stage is removed
 */
export async function verifyHash({ path, weights }: ModelStage, expected: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(weights, { highWaterMark: 1024 * 1024 }), hash)
  const sha256 = hash.digest('hex')
  if (expected === undefined || sha256 === expected) return sha256
  await rm(path, { recursive: true, force: true })
  throw new CliError(`the file has SHA-256 ${sha256}, expected ${expected}`, {
    code: 'data-damaged',
    hint: 'it was removed; pull it again',
  })
}

/** A model before its trial in the runtime. */
export type ModelDescription = Omit<PulledModel, 'dimension' | 'id'>

/**
 * Describes the staged model from its header and the catalogue.
 *
 * @throws CliError exit 1 if the file is not a model; the stage is removed
 */
export async function describeModel(
  stage: ModelStage,
  { from, entry, task }: ModelOrigin,
  sha256: string,
  bytes: number,
): Promise<ModelDescription> {
  const facts = await readFacts(stage)
  const { contextTokens = DEFAULT_CONTEXT_TOKENS, pooling } = facts
  return {
    task: task ?? inferTask(facts),
    sha256,
    bytes,
    source: formatSource(from),
    contextTokens,
    ...omitUndefined({ pooling, license: entry?.license ?? facts.license }),
    ...omitUndefined({ queryPrefix: entry?.queryPrefix, documentPrefix: entry?.documentPrefix }),
  }
}

async function readFacts({ path, weights }: ModelStage): Promise<GgufFacts> {
  try {
    return readGguf(weights)
  } catch (error) {
    if (!(error instanceof GgufError)) throw error
    await rm(path, { recursive: true, force: true })
    throw new CliError(`the file is not a model: it ${error.message}`, { code: 'data-damaged', cause: error })
  }
}

/** The address without its query, which may contain a key, or the path. */
export function formatSource(from: ModelOrigin['from']): string {
  if ('path' in from) return from.path
  const { origin, pathname } = new URL(from.url)
  return origin + pathname
}

export function inferTask({ pooling, isBidirectional }: GgufFacts): ModelTask {
  if (pooling === 'rank') return 'rerank'
  return isBidirectional || (pooling !== undefined && pooling !== 'none') ? 'embedding' : 'chat'
}

/**
 * Loads the staged model in the runtime and sends it one request of its task.
 *
 * @returns context window and dimension reported by the runtime
 * @throws CliError exit 1 if it cannot be used
 */
export async function tryModel(
  models: string,
  { weights }: ModelStage,
  { task, bytes }: ModelDescription,
): Promise<LoadedModel> {
  const llama = new LlamaProcess({ entry: getRuntimeEntry(getRuntimeFolder(models)), weights, bytes, task })
  const toUnusableError = (reason: string) =>
    new CliError(`${RUNTIME.name} ${RUNTIME.version} cannot use the model: ${reason}`, {
      code: 'unusable-model',
      hint: '`ks models remove` removes the download; `--task` sets another task',
    })
  try {
    const loaded = await llama.load()
    const signal = AbortSignal.timeout(TRIAL_TIMEOUT_MS)
    if (task === 'embedding') {
      const texts = ['a bird sings in a tree', 'invoice 17 is overdue']
      const reply = await llama.sendRequest({ op: 'embed', texts, urgent: true }, signal)
      const [first, second] = reply.op === 'embed' ? reply.vectors : []
      if (first === undefined || second === undefined) throw toUnusableError('it returned no vectors')
      if (first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0) > MAX_COSINE)
        throw toUnusableError('it returns almost the same vector for every text')
    } else if (task === 'rerank') {
      const reply = await llama.sendRequest(
        { op: 'rank', query: 'birds', documents: ['a bird sings in a tree'] },
        signal,
      )
      if (reply.op !== 'rank' || !reply.scores.every(Number.isFinite)) throw toUnusableError('it returned no scores')
    } else await llama.sendRequest({ op: 'chat', turns: [{ role: 'user', content: 'Hello' }], maxTokens: 1 }, signal)
    return loaded
  } catch (error) {
    if (error instanceof LlamaFailure) throw toUnusableError(error.message)
    throw error instanceof Error && error.name === 'TimeoutError'
      ? toUnusableError('no reply within the timeout')
      : error
  } finally {
    llama.end()
  }
}

/** Publishes the staged model; updates the description if it is already published. @returns its id */
export async function publishModel(
  models: string,
  name: string,
  stage: ModelStage,
  model: Omit<PulledModel, 'id'>,
): Promise<string> {
  const id = buildModelId(name, model.sha256)
  const { path, manifest } = getModelPaths(models, id)
  const description = `${JSON.stringify(model, null, 2)}\n`
  if (readPulledModel(models, id) !== undefined) {
    writePrivateFile(manifest, description)
    await rm(stage.path, { recursive: true })
  } else {
    await rm(path, { recursive: true, force: true })
    await rm(getNotePath(stage.weights), { force: true })
    writePrivateFile(join(stage.path, basename(manifest)), description)
    await rename(stage.path, path)
    await syncPath(models)
  }
  return id
}

/** Removes a model or a stage, and leftovers of interrupted removals. */
export async function removeModelFolder(models: string, folder: string): Promise<void> {
  // First, because a rename onto a leftover of the same name fails.
  for (const name of readdirSync(models).filter((entry) => entry.endsWith(REMOVED_SUFFIX)))
    await rm(join(models, name), { recursive: true, force: true })
  const removed = join(models, `${folder}${REMOVED_SUFFIX}`)
  await rename(join(models, folder), removed)
  await rm(removed, { recursive: true, force: true })
}

/** Names of models whose pull is not finished. */
export function listUnfinished(models: string): string[] {
  if (!existsSync(models)) return []
  return readdirSync(models)
    .filter((name) => name.endsWith(PART_SUFFIX))
    .map((name) => name.slice(0, -PART_SUFFIX.length))
}
