import { omitUndefined } from '../../../lib/omit-undefined.js'
import { LlamaFailure, LlamaProcess } from '../../../local/models/llama-process.js'
import {
  getModelPaths,
  LOCAL_PLUGIN,
  LOCAL_PROVIDER,
  listPulledModels,
  type ModelTask,
  type PulledModel,
  readPulledModel,
} from '../../../local/models/pulled.js'
import { getRuntimeEntry, getRuntimeFolder, isRuntimeInstalled } from '../../../local/models/runtime.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ModelProvider, ProviderEvent } from '../provider.js'
import { readProviderConfig } from '../provider-config.js'
import type { ChatMessage, GenerationOptions } from '../types.js'

const KINDS = { embedding: 'embedding', rerank: 'rerank', chat: 'generation' } as const

/** A CPU processes a long prompt for a minute or more before the first token. */
const FIRST_TOKEN_TIMEOUT_MS = 180_000
/** A small batch ends sooner at shutdown. A query waits for one text, whatever the size. */
const MAX_BATCH = 16
/** The process handles one text at a time; a second request waits in it. */
const MAX_CONCURRENCY = 2

/** Settings of the local models: no address, no key. */
export function createLocalSettings() {
  const config = {
    pluginId: LOCAL_PLUGIN,
    provider: LOCAL_PROVIDER,
    timeoutMs: FIRST_TOKEN_TIMEOUT_MS,
    maxBatch: MAX_BATCH,
    maxConcurrency: MAX_CONCURRENCY,
  }
  return readProviderConfig(config, {})
}

/**
 * The models that were pulled to this machine, each in a separate process while it is in use.
 *
 * @param folder models folder, read at each call: a pulled model needs no restart
 */
export function createLocalProvider(folder: string): ModelProvider {
  const processes = new Map<string, LlamaProcess>()

  const getProcess = (id: string, task: ModelTask): { model: PulledModel; process: LlamaProcess } => {
    const model = readPulledModel(folder, id)
    // a model can be pulled again for another task
    const key = `${task} ${id}`
    if (model?.task !== task) {
      processes.get(key)?.end()
      processes.delete(key)
      throw new ProviderFailure('status', 'not pulled', { status: 404, refusal: { kind: 'unknown-model', model: id } })
    }
    if (!isRuntimeInstalled(folder))
      throw new ProviderFailure('unexpected', 'its runtime is not installed; `ks models pull` fetches it')
    const process =
      processes.get(key) ??
      new LlamaProcess({
        entry: getRuntimeEntry(getRuntimeFolder(folder)),
        weights: getModelPaths(folder, id).weights,
        bytes: model.bytes,
        task,
      })
    processes.set(key, process)
    return { model, process }
  }

  return {
    listOffered: (kind) =>
      listPulledModels(folder)
        .filter(({ task }) => KINDS[task] === kind)
        .map(({ id }) => id),
    embedder: ({ name }) => ({
      async embed(texts, purpose, signal, dimension) {
        const { model, process } = getProcess(name, 'embedding')
        const prefix = (purpose === 'query' ? model.queryPrefix : model.documentPrefix) ?? ''
        const urgent = purpose === 'query'
        const request = { op: 'embed' as const, texts: texts.map((text) => prefix + text), urgent }
        const reply = await toProviderCall(process.sendRequest(request, signal))
        const vectors = reply.op === 'embed' ? reply.vectors : []
        const expected = dimension ?? model.dimension ?? vectors[0]?.length
        if (vectors.length !== texts.length || vectors.some(({ length }) => length !== expected))
          throw new ProviderFailure('malformed', `wrong count of vectors, or another dimension than ${expected}`)
        return { vectors, ...(reply.op === 'embed' ? { tokens: reply.tokens } : {}) }
      },
    }),
    reranker: ({ name }) => ({
      async rerank(query, documents, signal) {
        const { process } = getProcess(name, 'rerank')
        const reply = await toProviderCall(process.sendRequest({ op: 'rank', query, documents }, signal))
        const scores = reply.op === 'rank' ? reply.scores : []
        if (scores.length !== documents.length || !scores.every(Number.isFinite))
          throw new ProviderFailure('malformed', `${scores.length} scores for ${documents.length} documents`)
        return scores.map((score) => Math.min(1, Math.max(0, score)))
      },
    }),
    generator: ({ name, temperature }) => ({
      generate: (messages, options, signal) =>
        generate(getProcess(name, 'chat').process, messages, { ...omitUndefined({ temperature }), ...options }, signal),
    }),
    close: async () => {
      for (const process of processes.values()) process.end()
      processes.clear()
    },
  }
}

async function* generate(
  process: LlamaProcess,
  messages: ChatMessage[],
  { tools = [], maxTokens, temperature }: GenerationOptions,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent> {
  if (tools.length > 0) throw new ProviderFailure('status', 'takes no tools', { status: 422 })
  if (messages.some(({ images = [] }) => images.length > 0))
    throw new ProviderFailure('status', 'takes no images', { status: 422 })
  const turns = messages.flatMap(({ role, content }) => (role === 'tool' ? [] : [{ role, content }]))
  const events: ProviderEvent[] = []
  let wake = () => {}
  const push = (event: ProviderEvent) => {
    events.push(event)
    wake()
  }
  let failure: unknown
  const done = toProviderCall(
    process.sendRequest({ op: 'chat', turns, maxTokens, temperature }, signal, (text) => push({ type: 'delta', text })),
  ).then(
    (reply) => {
      const { finishReason, ...usage } = reply.op === 'chat' ? reply : { finishReason: 'unknown' }
      push({ type: 'end', finishReason, usage })
    },
    (error: unknown) => {
      failure = error
      wake()
    },
  )
  for (;;) {
    const event = events.shift()
    if (event !== undefined) {
      yield event
      if (event.type === 'end') break
    } else if (failure !== undefined) throw failure
    else
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  await done
}

/** Converts failures of the runtime into provider failures without their text, which may contain a prompt. */
async function toProviderCall<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply
  } catch (error) {
    if (!(error instanceof LlamaFailure)) throw error
    if (error.fault === 'too-long') throw new ProviderFailure('context-too-long', 'more than its window')
    if (error.fault === 'gone') throw new ProviderFailure('unreachable', 'its process ended')
    if (error.fault === 'unloadable') throw new ProviderFailure('unexpected', 'it cannot be loaded')
    // the texts may be the cause
    throw new ProviderFailure('malformed', 'the runtime returned no usable answer')
  }
}
