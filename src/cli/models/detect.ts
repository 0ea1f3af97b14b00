import { apiAddress, askServer, fieldOf, jsonOf, listOf, type Server } from './ask-server.js'

/** What a model is for. */
export type ModelUse = 'chat' | 'embedding' | 'rerank' | 'speech' | 'transcription'

export interface DetectedModel {
  name: string
  use: ModelUse
  /** what it can do beyond that, as its server says it */
  can: string[]
  /** window in tokens, where the server tells it */
  contextTokens?: number
}

export interface DetectedServer {
  provider: string
  baseUrl: string
  models: DetectedModel[]
}

/** A server of this machine answers at once; a busy one gets this long, milliseconds. */
const TIMEOUT_MS = 3000
/** Models that a server is asked about one by one. */
const DESCRIBED = 50

/**
 * Asks servers which models they have. Those that do not answer are left out.
 *
 * @param candidates the provider's name is a guess by the port; what the server says of itself counts more
 */
export async function detectServers(
  candidates: readonly { provider: string; url: string; headers?: Record<string, string> }[],
): Promise<DetectedServer[]> {
  const found = await Promise.all(
    candidates.map(async ({ provider, url, headers = {} }) => {
      const server = { baseUrl: url, headers }
      return (await ollama(server)) ?? (await lmStudio(server)) ?? (await openAi(server, provider))
    }),
  )
  return found.flatMap((server) => (server === undefined ? [] : [server]))
}

async function ollama(server: Server): Promise<DetectedServer | undefined> {
  const tags = await getJson(server, rooted(server, '/api/tags'))
  if (!Array.isArray(fieldOf(tags, 'models'))) return undefined
  const names = namesIn(listOf(tags, 'models'), 'name').slice(0, DESCRIBED)
  const models = await Promise.all(
    names.map(async (name): Promise<DetectedModel> => {
      const shown = await getJson(server, rooted(server, '/api/show'), { model: name })
      const can = listOf(shown, 'capabilities').filter((one) => typeof one === 'string')
      const info = fieldOf(shown, 'model_info')
      const window = Object.entries(typeof info === 'object' && info !== null ? info : {}).find(([key]) =>
        key.endsWith('.context_length'),
      )?.[1]
      const use = can.includes('completion') ? 'chat' : can.includes('embedding') ? 'embedding' : guessUse(name)
      return modelOf(name, use, can, window)
    }),
  )
  return { provider: 'ollama', baseUrl: apiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

async function lmStudio(server: Server): Promise<DetectedServer | undefined> {
  const listed = listOf(await getJson(server, rooted(server, '/api/v0/models')), 'data')
  if (listed.length === 0) return undefined
  const models = listed.flatMap((entry): DetectedModel[] => {
    const [name] = namesIn([entry], 'id')
    if (name === undefined) return []
    const type = fieldOf(entry, 'type')
    const can = [
      ...(type === 'vlm' ? ['vision'] : []),
      ...listOf(entry, 'capabilities').filter((one) => typeof one === 'string'),
    ]
    const use = type === 'embeddings' ? 'embedding' : guessUse(name)
    return [modelOf(name, use, can, fieldOf(entry, 'loaded_context_length') ?? fieldOf(entry, 'max_context_length'))]
  })
  return { provider: 'lmstudio', baseUrl: apiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

/** Any other server: `GET /v1/models`, with what vLLM and llama.cpp add to it. */
async function openAi(server: Server, guess: string): Promise<DetectedServer | undefined> {
  const listed = await getJson(server, apiAddress(server.baseUrl, 'models'))
  if (!Array.isArray(fieldOf(listed, 'data'))) return undefined
  const entries = listOf(listed, 'data')
  const owners = entries.map((entry) => fieldOf(entry, 'owned_by'))
  const props = owners.includes('llamacpp') ? await getJson(server, rooted(server, '/props')) : undefined
  const window = fieldOf(fieldOf(props, 'default_generation_settings'), 'n_ctx')
  const sees = fieldOf(fieldOf(props, 'modalities'), 'vision') === true
  const models = entries.flatMap((entry): DetectedModel[] => {
    const [name] = namesIn([entry], 'id')
    if (name === undefined) return []
    return [modelOf(name, guessUse(name), sees ? ['vision'] : [], fieldOf(entry, 'max_model_len') ?? window)]
  })
  const provider = owners.includes('vllm') ? 'vllm' : owners.includes('llamacpp') ? 'llamacpp' : guess
  return { provider, baseUrl: apiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

async function getJson(server: Server, url: string, json?: unknown): Promise<unknown> {
  try {
    return jsonOf(await askServer(server, url, { timeoutMs: TIMEOUT_MS, ...(json === undefined ? {} : { json }) }))
  } catch {
    return undefined // nobody there, or somebody else
  }
}

function rooted({ baseUrl }: Server, path: string): string {
  return new URL(path, baseUrl).href
}

function namesIn(entries: readonly unknown[], key: string): string[] {
  return entries.flatMap((entry) => {
    const name = fieldOf(entry, key)
    return typeof name === 'string' && name !== '' && name.length <= 200 ? [name] : []
  })
}

function modelOf(name: string, use: ModelUse, can: string[], window: unknown): DetectedModel {
  const isWindow = typeof window === 'number' && Number.isSafeInteger(window) && window > 0
  return { name, use, can, ...(isWindow ? { contextTokens: window } : {}) }
}

/** What servers do not say, names do. */
export function guessUse(name: string): ModelUse {
  if (/rerank/i.test(name)) return 'rerank'
  if (/embed|\bbge\b|bge-|\be5\b|e5-|gte-|minilm/i.test(name)) return 'embedding'
  if (/whisper|transcri/i.test(name)) return 'transcription'
  if (/\btts\b|tts-|-tts/i.test(name)) return 'speech'
  return 'chat'
}
