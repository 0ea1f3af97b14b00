import { omitUndefined } from '../../lib/omit-undefined.js'
import type { DetectedModel, ModelPurpose } from '../json-output/models.js'
import { getField, getList, type ModelServer, parseReplyJson, requestServer, toApiAddress } from './server-request.js'

export interface DetectedServer {
  provider: string
  baseUrl: string
  models: DetectedModel[]
}

/** A local server replies at once unless it is busy. */
const DETECTION_TIMEOUT_MS = 3000
/** Maximum number of models that are queried one by one. */
const MAX_DESCRIBED_MODELS = 50
/**
 * Default window of Ollama and LM Studio. They silently truncate longer input, so this window is assumed for models
 * that are not loaded.
 */
const DEFAULT_CONTEXT_TOKENS = 4096

/**
 * Lists the models of servers; omits servers that do not respond.
 *
 * @param candidates the provider's name is guessed from the port; the server's own name takes precedence
 */
export async function detectServers(
  candidates: readonly { provider: string; url: string; headers?: Record<string, string> }[],
): Promise<DetectedServer[]> {
  const detected = await Promise.all(
    candidates.map(async ({ provider, url, headers = {} }) => {
      const server = { baseUrl: url, headers }
      return (await detectOllama(server)) ?? (await detectLmStudio(server)) ?? (await detectOpenAi(server, provider))
    }),
  )
  return detected.flatMap((server) => (server === undefined ? [] : [server]))
}

async function detectOllama(server: ModelServer): Promise<DetectedServer | undefined> {
  const tags = await getJson(server, toRootAddress(server, '/api/tags'))
  if (!Array.isArray(getField(tags, 'models'))) return undefined
  const names = getNames(getList(tags, 'models'), 'name').slice(0, MAX_DESCRIBED_MODELS)
  const running = getList(await getJson(server, toRootAddress(server, '/api/ps')), 'models')
  const models = await Promise.all(
    names.map(async (name): Promise<DetectedModel> => {
      const details = await getJson(server, toRootAddress(server, '/api/show'), { model: name })
      const capabilities = getList(details, 'capabilities').filter((capability) => typeof capability === 'string')
      const info = getField(details, 'model_info')
      const maxTokens = Object.entries(typeof info === 'object' && info !== null ? info : {}).find(([key]) =>
        key.endsWith('.context_length'),
      )?.[1]
      const loaded = running.find((entry) => getField(entry, 'name') === name || getField(entry, 'model') === name)
      const use = capabilities.includes('completion')
        ? 'chat'
        : capabilities.includes('embedding')
          ? 'embedding'
          : guessPurpose(name)
      const window =
        asTokenCount(getField(loaded, 'context_length')) ?? parseContextTokens(getField(details, 'parameters'))
      return toDetectedModel({ name, use, can: capabilities }, window ?? DEFAULT_CONTEXT_TOKENS, maxTokens)
    }),
  )
  return { provider: 'ollama', baseUrl: toApiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

/** Parses the window from the parameters of an Ollama model, one a line: `num_ctx 8192`. */
function parseContextTokens(parameters: unknown): number | undefined {
  const digits = typeof parameters === 'string' ? /^\s*num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1] : undefined
  return digits === undefined ? undefined : asTokenCount(Number(digits))
}

async function detectLmStudio(server: ModelServer): Promise<DetectedServer | undefined> {
  const listed = getList(await getJson(server, toRootAddress(server, '/api/v0/models')), 'data')
  if (listed.length === 0) return undefined
  const models = listed.flatMap((entry): DetectedModel[] => {
    const [name] = getNames([entry], 'id')
    if (name === undefined) return []
    const type = getField(entry, 'type')
    const can = [
      ...(type === 'vlm' ? ['vision'] : []),
      ...getList(entry, 'capabilities').filter((capability) => typeof capability === 'string'),
    ]
    const use = type === 'embeddings' ? 'embedding' : guessPurpose(name)
    const window = asTokenCount(getField(entry, 'loaded_context_length')) ?? DEFAULT_CONTEXT_TOKENS
    return [toDetectedModel({ name, use, can }, window, getField(entry, 'max_context_length'))]
  })
  return { provider: 'lmstudio', baseUrl: toApiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

/** Detects any other server: `GET /v1/models`, with the extensions of vLLM and llama.cpp. */
async function detectOpenAi(server: ModelServer, fallbackName: string): Promise<DetectedServer | undefined> {
  const listed = await getJson(server, toApiAddress(server.baseUrl, 'models'))
  if (!Array.isArray(getField(listed, 'data'))) return undefined
  const entries = getList(listed, 'data')
  const owners = entries.map((entry) => getField(entry, 'owned_by'))
  const props = owners.includes('llamacpp') ? await getJson(server, toRootAddress(server, '/props')) : undefined
  const window = getField(getField(props, 'default_generation_settings'), 'n_ctx')
  const hasVision = getField(getField(props, 'modalities'), 'vision') === true
  const models = entries.flatMap((entry): DetectedModel[] => {
    const [name] = getNames([entry], 'id')
    if (name === undefined) return []
    const maxTokens = getField(getField(entry, 'meta'), 'n_ctx_train')
    const configured = asTokenCount(getField(entry, 'max_model_len')) ?? asTokenCount(window)
    return [toDetectedModel({ name, use: guessPurpose(name), can: hasVision ? ['vision'] : [] }, configured, maxTokens)]
  })
  const provider = owners.includes('vllm') ? 'vllm' : owners.includes('llamacpp') ? 'llamacpp' : fallbackName
  return { provider, baseUrl: toApiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

async function getJson(server: ModelServer, url: string, json?: unknown): Promise<unknown> {
  try {
    return parseReplyJson(
      await requestServer(server, url, { timeoutMs: DETECTION_TIMEOUT_MS, ...omitUndefined({ json }) }),
    )
  } catch {
    return undefined // No server, or not a model server.
  }
}

function toRootAddress({ baseUrl }: ModelServer, path: string): string {
  return new URL(path, baseUrl).href
}

function getNames(entries: readonly unknown[], key: string): string[] {
  return entries.flatMap((entry) => {
    const name = getField(entry, key)
    return typeof name === 'string' && name !== '' && name.length <= 200 ? [name] : []
  })
}

/** @param window configured window in tokens @param maxTokens window of the trained weights, an upper bound */
function toDetectedModel(
  model: Pick<DetectedModel, 'name' | 'use' | 'can'>,
  window: number | undefined,
  maxTokens: unknown,
): DetectedModel {
  const maxWindow = asTokenCount(maxTokens)
  const contextTokens = window === undefined || maxWindow === undefined ? window : Math.min(window, maxWindow)
  const isLarger = maxWindow !== undefined && contextTokens !== undefined && maxWindow > contextTokens
  return {
    ...model,
    ...omitUndefined({ contextTokens, mostContextTokens: isLarger ? maxWindow : undefined }),
  }
}

function asTokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** Guesses the purpose from the name, if the server does not report it. */
export function guessPurpose(name: string): ModelPurpose {
  if (/rerank/i.test(name)) return 'rerank'
  if (/embed|\bbge\b|bge-|\be5\b|e5-|gte-|minilm/i.test(name)) return 'embedding'
  if (/whisper|transcri/i.test(name)) return 'transcription'
  if (/\btts\b|tts-|-tts/i.test(name)) return 'speech'
  if (/moderation|dall-e|[-_]image|imagen|\bsora|\bveo|stable-diffusion|flux\b/i.test(name)) return 'other'
  return 'chat'
}
