import type { IncomingMessage } from 'node:http'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import type { Client } from '../client/client.js'
import { ApiError, ConnectionError, markRemote } from '../client/errors.js'
import { readText, type ServiceTarget, Transport } from '../client/http.js'
import type { UploadBody } from '../client/multipart.js'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
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
  /** address of a service on another machine */
  remoteUrl?: string
  /** finds or starts a daemon and returns its target; called if no server listens at the current one */
  fallback?: ((notify: (text: string) => void) => Promise<ServiceTarget>) | undefined
}

/** Client of the chat service with one application key. */
export class ChatService {
  #transport: Transport
  readonly #options: ChatServiceOptions
  /** prints a message; a view that fills the terminal replaces it, because nothing else may write there */
  notify: (text: string) => void = printNotice
  #serverVersion: string | undefined

  constructor(target: ServiceTarget, options: ChatServiceOptions) {
    this.#transport = new Transport(target)
    this.#options = options
  }

  get user(): string {
    return this.#options.user
  }

  /** The user, encoded for a URL. */
  get encodedUser(): string {
    return encodeURIComponent(this.#options.user)
  }

  /** Calls the service. @returns the JSON of the response, null if it is empty. @throws ApiError, ConnectionError */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.open(method, path, body)
    return JSON.parse((await readText(response)) || 'null')
  }

  /** Calls the service. The caller reads the response. @throws ApiError, ConnectionError */
  async open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return await this.#send({ method, path: `/v1${path}`, ...(body === undefined ? {} : json) })
  }

  /** Sends a form with a file. The caller reads the response. @throws ApiError, ConnectionError */
  async upload(path: string, { contentType, length, body }: UploadBody): Promise<IncomingMessage> {
    const headers = { 'content-type': contentType, ...omitUndefined({ 'content-length': length?.toString() }) }
    return await this.#send({ method: 'POST', path: `/v1${path}`, headers, body })
  }

  close(): void {
    this.#transport.close()
    warnIfVersionsDiffer(this.#serverVersion)
  }

  async #send(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { signal, debug, remoteUrl } = this.#options
    const response = await this.#sendWithFallback({ ...request, signal }).catch((error: unknown) => {
      if (remoteUrl !== undefined) markRemote(error, remoteUrl)
      throw error
    })
    this.#serverVersion = toNonEmptyString(response.headers['x-ks-version'])
    const status = response.statusCode ?? 0
    if (debug === true) {
      const trace = response.headers['x-trace-id'] ?? '-'
      this.notify(`debug: ${request.method} ${request.path} ${status} trace ${trace}`)
    }
    if (status < 400) return response
    const error = await toApiError(response)
    if (remoteUrl !== undefined) markRemote(error, remoteUrl)
    throw error
  }

  /** Sends to the target before it is known to run. Only if no server listens there, a daemon is found or started. */
  async #sendWithFallback(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { fallback } = this.#options
    try {
      return await this.#transport.send(request)
    } catch (error) {
      if (fallback === undefined || !isNotListening(error)) throw error
      this.#options.fallback = undefined
      this.#transport.close()
      this.#transport = new Transport(await fallback(this.notify))
      return await this.#transport.send(request)
    }
  }
}

/** Whether no server listened. Then nothing was sent, so the request can be repeated safely. */
function isNotListening(error: unknown): boolean {
  return error instanceof ConnectionError && (error.errno === 'ECONNREFUSED' || error.errno === 'ENOENT')
}

/**
 * Opens the chat service with the key that is stored or given by `KCHAT_API_KEY`. Starts the local daemon if needed.
 */
export async function openChat(options: KchatOptions): Promise<ChatService> {
  const { service, autostart } = resolveCommandSettings(options)
  const location = service.value
  const { token, description } = selectApiKey(options, { isTrusted: service.origin !== 'project' })
  const serviceOptions: ChatServiceOptions = {
    user: selectUser(options),
    signal: createDeadline(options),
    debug: readOptions(options).debug,
  }
  printService(options, `${description} as ${JSON.stringify(serviceOptions.user)}`)
  if (location.kind === 'remote')
    return new ChatService({ url: location.url, token }, { ...serviceOptions, remoteUrl: location.url })
  const fallback = async (notify: (text: string) => void): Promise<ServiceTarget> => {
    const { connect } = await import('../cli/connect.js')
    const client = await connect(location, { autostart, onSlowStart: () => notifyStart(notify) })
    client.close()
    return { ...client.transport.target, token }
  }
  // The data directory belongs to this user alone, so a listener on a socket in it is the daemon.
  const file = readDaemonFile(resolveDataLayout(location.dataDir).daemonFile)
  const target =
    file?.socket === undefined ? await fallback(printNotice) : { url: file.url, socketPath: file.socket, token }
  return new ChatService(target, { ...serviceOptions, fallback })
}

/** Opens the service for the stored key and runs a command on it. */
export async function withChat<T>(options: KchatOptions, work: (chat: ChatService) => Promise<T>): Promise<T> {
  const chat = await openChat(options)
  try {
    return await work(chat)
  } finally {
    chat.close()
  }
}

function printNotice(text: string): void {
  writeErr(`${tty(text)}\n`)
}

function notifyStart(notify: (text: string) => void): void {
  if (process.stderr.isTTY) notify('Starting the local daemon...')
}

/** Opens the gateway with the token of `ks`, to manage applications. */
export async function openGateway(options: KchatOptions): Promise<Client> {
  const { service, autostart } = resolveCommandSettings(options)
  const { connect } = await import('../cli/connect.js')
  const signal = createDeadline(options)
  printService(options, 'the token of ks')
  return await connect(service.value, {
    autostart,
    onSlowStart: () => notifyStart(printNotice),
    ...omitUndefined({ signal }),
    ...(readOptions(options).debug ? { onExchange: (line) => printNotice(`debug: ${line}`) } : {}),
  })
}

/** Reads a response of status 400 or above into an error with the service's own message. */
async function toApiError(response: IncomingMessage): Promise<ApiError> {
  const status = response.statusCode ?? 0
  const fields = parseRecord(await readText(response).catch(() => '')) ?? {}
  const traceId = toNonEmptyString(response.headers['x-trace-id'])
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN)
  const code = toNonEmptyString(fields.code) ?? `http-${status}`
  const message = toNonEmptyString(fields.message) ?? `the service answered ${status}`
  const hint = toNonEmptyString(fields.hint) ?? findHint(code, message)
  return new ApiError({
    status,
    code,
    message,
    ...omitUndefined({ traceId, hint }),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  })
}

/** Finds the next step for the user after a refusal. */
function findHint(code: string, message: string): string | undefined {
  if (code === 'unauthorized') return '`kchat use` lists the stored keys, `kchat login NAME` stores another'
  if (/\btakes no documents\b/.test(message))
    return '`kchat apps update APP --documents` lets its messages take documents; `ks ingest FILE --space SPACE` adds one to a space that it answers from'
  return undefined
}
