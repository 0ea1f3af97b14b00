import type { IncomingMessage } from 'node:http'
import type { ConfiguredService } from '../cli/contexts.js'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import type { Client } from '../client/client.js'
import { ApiError, ConnectionError } from '../client/errors.js'
import { type BodyWriter, readText, type ServiceTarget, Transport } from '../client/http.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { readDaemonFile } from '../local/daemon-file.js'
import { resolveDataLayout } from '../local/layout.js'
import { selectApiKey } from './key.js'
import type { KchatOptions } from './options.js'
import { createDeadline, printService, readOptions, resolveCommandSettings, selectUser } from './settings.js'
import { warnIfVersionsDiffer } from './version.js'

interface ChatServiceOptions {
  user: string
  signal?: AbortSignal | undefined
  debug?: boolean | undefined
  /** starts a daemon and returns its target, if no server listens at the current one */
  fallback?: ((printSlowStart: () => void) => Promise<ServiceTarget>) | undefined
}

/** A body that is not JSON. */
export interface UploadBody {
  contentType: string
  length: number | undefined
  body: BodyWriter
}

/** Client of the chat service with one application key. */
export class ChatService {
  #transport: Transport
  readonly #options: ChatServiceOptions
  /** prints remarks; a view that fills the terminal replaces it, because nothing else may write there */
  notify: (text: string) => void = (text) => void writeErr(`${tty(text)}\n`)
  #serverVersion: string | undefined

  constructor(target: ServiceTarget, options: ChatServiceOptions) {
    this.#transport = new Transport(target)
    this.#options = options
  }

  get user(): string {
    return this.#options.user
  }

  /** Calls the service. @returns the JSON of the response, null if it is empty. @throws ApiError, ConnectionError */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.open(method, path, body)
    return JSON.parse((await readText(response)) || 'null')
  }

  /** Calls the service. The caller reads the response. */
  async open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return await this.#send({ method, path: `/v1${path}`, ...(body === undefined ? {} : json) })
  }

  /** Sends bytes, such as a form with a file. */
  async upload(path: string, { contentType, length, body }: UploadBody): Promise<IncomingMessage> {
    const headers = { 'content-type': contentType, ...omitUndefined({ 'content-length': length?.toString() }) }
    return await this.#send({ method: 'POST', path: `/v1${path}`, headers, body })
  }

  close(): void {
    this.#transport.close()
    warnIfVersionsDiffer(this.#serverVersion)
  }

  async #send(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { signal, debug } = this.#options
    const response = await this.#sendWithFallback({ ...request, signal })
    this.#serverVersion = toNonEmptyString(response.headers['x-ks-version'])
    const status = response.statusCode ?? 0
    if (debug === true) {
      const trace = response.headers['x-trace-id'] ?? '-'
      this.notify(`debug: ${request.method} ${request.path} ${status} trace ${trace}`)
    }
    if (status < 400) return response
    throw await toApiError(response)
  }

  #notifyStarting(): void {
    if (process.stderr.isTTY) this.notify(STARTING)
  }

  /** Tries the target before it is known to run. Only if no server listens there, a daemon is found or started. */
  async #sendWithFallback(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { fallback } = this.#options
    try {
      return await this.#transport.send(request)
    } catch (error) {
      if (fallback === undefined || !isNotListening(error)) throw error
      this.#options.fallback = undefined
      this.#transport.close()
      this.#transport = new Transport(await fallback(() => this.#notifyStarting()))
      return await this.#transport.send(request)
    }
  }
}

/** Whether no server listened. Then nothing was sent, so the request can be repeated safely. */
function isNotListening(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOENT'
}

/**
 * Opens the chat service with the key that is stored or given by `KCHAT_API_KEY`. Starts the local daemon if needed.
 */
export async function openChat(common: KchatOptions): Promise<ChatService> {
  const { service, autostart } = resolveCommandSettings(common)
  const location = service.value
  const { token, name } = selectApiKey(common, service.origin !== 'project')
  const serviceOptions: ChatServiceOptions = {
    user: selectUser(common),
    signal: createDeadline(common),
    debug: readOptions(common).debug,
  }
  printService(common, `${name} as ${JSON.stringify(serviceOptions.user)}`)
  if (location.kind === 'remote') return new ChatService({ url: location.url, token }, serviceOptions)
  const fallback = async (onSlow: () => void): Promise<ServiceTarget> => ({
    ...(await startLocalTarget(location, autostart, onSlow)),
    token,
  })
  // The data directory belongs to this user alone, so a listener on a socket in it is the daemon.
  const file = readDaemonFile(resolveDataLayout(location.dataDir).daemonFile)
  const target =
    file?.socket === undefined ? await fallback(printSlowStart) : { url: file.url, socketPath: file.socket, token }
  return new ChatService(target, { ...serviceOptions, fallback })
}

async function startLocalTarget(
  location: ConfiguredService,
  autostart: boolean,
  printSlowStart: () => void,
): Promise<ServiceTarget> {
  const { connect } = await import('../cli/connect.js')
  const client = await connect(location, { autostart, onSlowStart: printSlowStart })
  client.close()
  return client.transport.target
}

const STARTING = 'Starting the local daemon...'

function printSlowStart(): void {
  if (process.stderr.isTTY) writeErr(`${STARTING}\n`)
}

/** Opens the gateway with the token of `ks`, to manage applications. */
export async function openGateway(common: KchatOptions): Promise<Client> {
  const { service, autostart } = resolveCommandSettings(common)
  const { connect } = await import('../cli/connect.js')
  const signal = createDeadline(common)
  printService(common, 'the token of ks')
  return await connect(service.value, {
    autostart,
    onSlowStart: printSlowStart,
    ...omitUndefined({ signal }),
    ...(readOptions(common).debug ? { onExchange: (line) => writeErr(`debug: ${tty(line)}\n`) } : {}),
  })
}

async function toApiError(response: IncomingMessage): Promise<ApiError> {
  const status = response.statusCode ?? 0
  let body: unknown
  try {
    body = JSON.parse(await readText(response))
  } catch {
    body = undefined
  }
  const fields = isRecord(body) ? body : {}
  const traceId = toNonEmptyString(response.headers['x-trace-id'])
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN)
  const hint = toNonEmptyString(fields.hint) ?? (status === 401 ? KEYS_HINT : undefined)
  return new ApiError({
    status,
    code: toNonEmptyString(fields.code) ?? `http-${status}`,
    message: toNonEmptyString(fields.message) ?? `the service answered ${status}`,
    ...omitUndefined({ traceId }),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
    ...omitUndefined({ hint }),
  })
}

const KEYS_HINT = '`kchat use` lists the stored keys, `kchat login NAME` stores another'
