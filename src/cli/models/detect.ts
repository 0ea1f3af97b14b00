import { defined } from '../../lib/defined.js'
import { apiAddress, askServer, fieldOf, jsonOf, listOf, type Server } from './ask-server.js'

/** Purpose of a model. */
export type ModelUse = 'chat' | 'embedding' | 'rerank' | 'speech' | 'transcription' | 'other'

export interface DetectedModel {
  name: string
  use: ModelUse
  /** Further capabilities reported by the server. */
  can: string[]
  /** Context window of the server in tokens, if reported. */
  contextTokens?: number
  /** Maximum window that the model supports, if larger. */
  mostContextTokens?: number
}

export interface DetectedServer {
  provider: string
  baseUrl: string
  models: DetectedModel[]
}

/** Timeout in milliseconds; a local server replies at once unless it is busy. */
const TIMEOUT_MS = 3000
/** Maximum number of models that are queried one by one. */
const DESCRIBED = 50
/**
 * Default window of Ollama and LM Studio. They silently truncate longer input, so this window is assumed for models
 * that are not loaded.
 */
const USUALLY_LOADED = 4096

/**
 * Lists the models of servers; omits servers that do not respond.
 *
 * @param candidates the provider's name is guessed from the port; the server's own name takes precedence
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
  const running = listOf(await getJson(server, rooted(server, '/api/ps')), 'models')
  const models = await Promise.all(
    names.map(async (name): Promise<DetectedModel> => {
      const shown = await getJson(server, rooted(server, '/api/show'), { model: name })
      const can = listOf(shown, 'capabilities').filter((one) => typeof one === 'string')
      const info = fieldOf(shown, 'model_info')
      const most = Object.entries(typeof info === 'object' && info !== null ? info : {}).find(([key]) =>
        key.endsWith('.context_length'),
      )?.[1]
      const loaded = running.find((entry) => fieldOf(entry, 'name') === name || fieldOf(entry, 'model') === name)
      const use = can.includes('completion') ? 'chat' : can.includes('embedding') ? 'embedding' : guessUse(name)
      const window = tokensIn(fieldOf(loaded, 'context_length')) ?? contextOf(fieldOf(shown, 'parameters'))
      return modelOf(name, use, can, window ?? USUALLY_LOADED, most)
    }),
  )
  return { provider: 'ollama', baseUrl: apiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

/** Parses the window from the parameters of an Ollama model, one a line: `num_ctx 8192`. */
function contextOf(parameters: unknown): number | undefined {
  const told = typeof parameters === 'string' ? /^\s*num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1] : undefined
  return told === undefined ? undefined : tokensIn(Number(told))
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
    const window = tokensIn(fieldOf(entry, 'loaded_context_length')) ?? USUALLY_LOADED
    return [modelOf(name, use, can, window, fieldOf(entry, 'max_context_length'))]
  })
  return { provider: 'lmstudio', baseUrl: apiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

/** Detects any other server: `GET /v1/models`, with the extensions of vLLM and llama.cpp. */
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
    const most = fieldOf(fieldOf(entry, 'meta'), 'n_ctx_train')
    const served = tokensIn(fieldOf(entry, 'max_model_len')) ?? tokensIn(window)
    return [modelOf(name, guessUse(name), sees ? ['vision'] : [], served, most)]
  })
  const provider = owners.includes('vllm') ? 'vllm' : owners.includes('llamacpp') ? 'llamacpp' : guess
  return { provider, baseUrl: apiAddress(server.baseUrl, '').replace(/\/$/, ''), models }
}

async function getJson(server: Server, url: string, json?: unknown): Promise<unknown> {
  try {
    return jsonOf(await askServer(server, url, { timeoutMs: TIMEOUT_MS, ...defined({ json }) }))
  } catch {
    return undefined // No server, or not a model server.
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

/** @param window configured window; `most` is the window of the trained weights, an upper bound */
function modelOf(name: string, use: ModelUse, can: string[], window: number | undefined, most: unknown): DetectedModel {
  const largest = tokensIn(most)
  const served = window === undefined || largest === undefined ? window : Math.min(window, largest)
  return {
    name,
    use,
    can,
    ...defined({ contextTokens: served }),
    ...(largest === undefined || served === undefined || largest <= served ? {} : { mostContextTokens: largest }),
  }
}

function tokensIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** Guesses the purpose from the name, if the server does not report it. */
export function guessUse(name: string): ModelUse {
  if (/rerank/i.test(name)) return 'rerank'
  if (/embed|\bbge\b|bge-|\be5\b|e5-|gte-|minilm/i.test(name)) return 'embedding'
  if (/whisper|transcri/i.test(name)) return 'transcription'
  if (/\btts\b|tts-|-tts/i.test(name)) return 'speech'
  if (/moderation|dall-e|[-_]image|imagen|\bsora|\bveo|stable-diffusion|flux\b/i.test(name)) return 'other'
  return 'chat'
}
