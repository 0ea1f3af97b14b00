import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { defined } from '../../../lib/defined.js'
import { syncPath } from '../../../local/file-system.js'
import { GgufError, type GgufFacts, readGguf } from '../../../local/models/gguf.js'
import { LlamaFailure, LlamaProcess, type LoadedModel } from '../../../local/models/llama-process.js'
import { type ModelTask, modelId, modelPaths, type PulledModel } from '../../../local/models/pulled.js'
import { RUNTIME, runtimeEntry, runtimeFolder } from '../../../local/models/runtime.js'
import { writePrivateFile } from '../../../local/private-file.js'
import { CliError } from '../../cli-error.js'
import type { Origin } from './origin.js'

/** In the folder of models: what is not published yet, by name, and what is being removed. */
const PART = '.part'
const GONE = '.gone'
/** Windows of models that state none. */
const USUAL_CONTEXT_TOKENS = 512
/** Vectors of unlike texts that are nearer than this are of a conversion that does not work. */
const MAX_COSINE = 0.999

/** The folder of a model that is being pulled. A rename makes it the model. */
export interface Stage {
  path: string
  weights: string
}

export function openStage(models: string, name: string): Stage {
  const path = join(models, `${name}${PART}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return { path, weights: modelPaths(models, `${name}${PART}`).weights }
}

/** Copies a file of this machine into the stage. */
export async function copyInto({ weights }: Stage, path: string, onProgress: (bytes: number) => void): Promise<void> {
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
 * The hash of the staged weights.
 *
 * @throws CliError exit 1 where it is another one than expected; the weights are removed
 */
export async function verify({ path, weights }: Stage, expected: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(weights, { highWaterMark: 1024 * 1024 }), hash)
  const sha256 = hash.digest('hex')
  if (expected === undefined || sha256 === expected) return sha256
  await rm(path, { recursive: true, force: true })
  throw new CliError(`the file has SHA-256 ${sha256}, expected ${expected}`, {
    code: 'data-damaged',
    hint: 'nothing of it was kept; pull it again',
  })
}

/** What is known of a model before it is tried. */
export type Described = Omit<PulledModel, 'dimension' | 'id'>

/**
 * Describes the staged model by its own header and the catalogue.
 *
 * @throws CliError exit 1 for a file that is no model
 */
export async function describe(
  stage: Stage,
  { from, entry, task }: Origin,
  sha256: string,
  bytes: number,
): Promise<Described> {
  const facts = await factsOf(stage)
  const { contextTokens = USUAL_CONTEXT_TOKENS, pooling } = facts
  return {
    task: task ?? taskOf(facts),
    sha256,
    bytes,
    source: 'url' in from ? from.url : from.path,
    contextTokens,
    ...defined({ pooling, license: entry?.license ?? facts.license }),
    ...defined({ queryPrefix: entry?.queryPrefix, documentPrefix: entry?.documentPrefix }),
  }
}

async function factsOf({ path, weights }: Stage): Promise<GgufFacts> {
  try {
    return readGguf(weights)
  } catch (error) {
    if (!(error instanceof GgufError)) throw error
    await rm(path, { recursive: true, force: true })
    throw new CliError(`the file is no model: it ${error.message}`, { code: 'data-damaged', cause: error })
  }
}

/** What a model is for, by its header. */
export function taskOf({ pooling, isBidirectional }: GgufFacts): ModelTask {
  if (pooling === 'rank') return 'rerank'
  return isBidirectional || (pooling !== undefined && pooling !== 'none') ? 'embedding' : 'chat'
}

/**
 * Loads the staged model in the runtime and has it do its work once.
 *
 * @returns what the runtime reports of it
 * @throws CliError exit 1 when it cannot be used
 */
export async function tryModel(models: string, { weights }: Stage, { task, bytes }: Described): Promise<LoadedModel> {
  const llama = new LlamaProcess({ entry: runtimeEntry(runtimeFolder(models)), weights, bytes, task })
  const unusable = (reason: string) =>
    new CliError(`${RUNTIME.name} ${RUNTIME.version} cannot use the model: ${reason}`, {
      code: 'unusable-model',
      hint: '`ks models remove` removes what was fetched; `--task` names another task',
    })
  try {
    const loaded = await llama.load()
    if (task === 'embedding') {
      const reply = await llama.ask({
        op: 'embed',
        texts: ['a bird sings in a tree', 'invoice 17 is overdue'],
        urgent: true,
      })
      const [one, other] = reply.op === 'embed' ? reply.vectors : []
      if (one === undefined || other === undefined) throw unusable('it gave no vectors')
      if (one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0) > MAX_COSINE)
        throw unusable('it gives nearly the same vector for every text')
    } else if (task === 'rerank') {
      const reply = await llama.ask({ op: 'rank', query: 'birds', documents: ['a bird sings in a tree'] })
      if (reply.op !== 'rank' || !reply.scores.every(Number.isFinite)) throw unusable('it gave no scores')
    } else await llama.ask({ op: 'chat', turns: [{ role: 'user', content: 'Hello' }], maxTokens: 1 })
    return loaded
  } catch (error) {
    throw error instanceof LlamaFailure ? unusable(error.message) : error
  } finally {
    llama.end()
  }
}

/** Makes the staged model one of the folder's. @returns its id */
export async function publish(
  models: string,
  name: string,
  stage: Stage,
  model: Omit<PulledModel, 'id'>,
): Promise<string> {
  const id = modelId(name, model.sha256)
  const { path } = modelPaths(models, id)
  if (existsSync(path)) await rm(stage.path, { recursive: true })
  else {
    await rm(`${stage.weights}.json`, { force: true })
    writePrivateFile(join(stage.path, 'model.json'), `${JSON.stringify(model, null, 2)}\n`)
    await rename(stage.path, path)
    await syncPath(models)
  }
  return id
}

/** Removes a folder of models' own, a model or a stage; what a crash left of an earlier removal goes too. */
export async function discard(models: string, folder: string): Promise<void> {
  const gone = join(models, `${folder}${GONE}`)
  await rename(join(models, folder), gone)
  for (const name of readdirSync(models).filter((one) => one.endsWith(GONE)))
    await rm(join(models, name), { recursive: true, force: true })
}

/** Stages of a name that were not finished. */
export function unfinished(models: string): string[] {
  if (!existsSync(models)) return []
  return readdirSync(models)
    .filter((name) => name.endsWith(PART))
    .map((name) => name.slice(0, -PART.length))
}
