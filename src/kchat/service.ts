import type { IncomingMessage } from 'node:http'
import type { Place } from '../cli/contexts.js'
import { tty } from '../cli/terminal.js'
import { writeErr } from '../cli/terminal-writer.js'
import type { Client } from '../client/client.js'
import { ApiError, ConnectionError } from '../client/errors.js'
import { type BodyWriter, readText, type Target, Transport } from '../client/http.js'
import { defined } from '../lib/defined.js'
import { isRecord, textOf } from '../lib/json/values.js'
import { readDaemonFile } from '../local/daemon-file.js'
import { dataLayout } from '../local/layout.js'
import { keyFor } from './key.js'
import type { Common } from './options.js'
import { deadlineOf, isDebug, printService, settingsOf, userOf } from './settings.js'
import { compareVersions } from './version.js'

interface ServiceOptions {
  user: string
  signal?: AbortSignal | undefined
  debug?: boolean | undefined
  /** starts a daemon and returns its target, if no server listens at the current one */
  fallback?: ((onSlowStart: () => void) => Promise<Target>) | undefined
}

/** A body that is not JSON. */
export interface RawBody {
  contentType: string
  length: number | undefined
  body: BodyWriter
}

/** Client of the chat service with one application key. */
export class ChatService {
  #transport: Transport
  readonly #options: ServiceOptions
  /** prints remarks; a view that fills the terminal replaces it, because nothing else may write there */
  say: (remark: string) => void = (remark) => void writeErr(`${tty(remark)}\n`)
  #serverVersion: string | undefined

  constructor(target: Target, options: ServiceOptions) {
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
  async upload(path: string, { contentType, length, body }: RawBody): Promise<IncomingMessage> {
    const headers = { 'content-type': contentType, ...defined({ 'content-length': length?.toString() }) }
    return await this.#send({ method: 'POST', path: `/v1${path}`, headers, body })
  }

  close(): void {
    this.#transport.close()
    compareVersions(this.#serverVersion)
  }

  async #send(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { signal, debug } = this.#options
    const response = await this.#reach({ ...request, signal })
    this.#serverVersion = textOf(response.headers['x-ks-version'])
    const status = response.statusCode ?? 0
    if (debug === true) {
      const trace = response.headers['x-trace-id'] ?? '-'
      this.say(`debug: ${request.method} ${request.path} ${status} trace ${trace}`)
    }
    if (status < 400) return response
    throw await chatApiError(response)
  }

  #sayStarting(): void {
    if (process.stderr.isTTY) this.say(STARTING)
  }

  /** Tries the target before it is known to run. Only if no server listens there, a daemon is found or started. */
  async #reach(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { fallback } = this.#options
    try {
      return await this.#transport.send(request)
    } catch (error) {
      if (fallback === undefined || !nobodyListens(error)) throw error
      this.#options.fallback = undefined
      this.#transport.close()
      this.#transport = new Transport(await fallback(() => this.#sayStarting()))
      return await this.#transport.send(request)
    }
  }
}

/** Whether no server listened. Then nothing was sent, so the request can be repeated safely. */
function nobodyListens(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOENT'
}

/**
 * Opens the chat service with the key that is stored or given by `KCHAT_API_KEY`. Starts the local daemon if needed.
 */
export async function openChat(common: Common): Promise<ChatService> {
  const { place: chosen, autostart } = settingsOf(common)
  const place = chosen.value
  const { token, name } = keyFor(common, chosen.origin !== 'project')
  const options: ServiceOptions = { user: userOf(common), signal: await deadlineOf(common), debug: isDebug(common) }
  printService(common, `${name} as ${JSON.stringify(options.user)}`)
  if (place.kind === 'remote') return new ChatService({ url: place.url, token }, options)
  const fallback = async (onStart: () => void): Promise<Target> => ({
    ...(await localTarget(place, autostart, onStart)),
    token,
  })
  // The data directory belongs to this user alone, so a listener on a socket in it is the daemon.
  const file = readDaemonFile(dataLayout(place.dataDir).daemonFile)
  const target =
    file?.socket === undefined ? await fallback(onSlowStart) : { url: file.url, socketPath: file.socket, token }
  return new ChatService(target, { ...options, fallback })
}

async function localTarget(place: Place, autostart: boolean, onSlowStart: () => void): Promise<Target> {
  const { connect } = await import('../cli/connect.js')
  const client = await connect(place, { autostart, onSlowStart })
  client.close()
  return client.transport.target
}

const STARTING = 'Starting the local daemon...'

function onSlowStart(): void {
  if (process.stderr.isTTY) writeErr(`${STARTING}\n`)
}

/** Opens the gateway with the token of `ks`, to manage applications. */
export async function openGateway(common: Common): Promise<Client> {
  const { place, autostart } = settingsOf(common)
  const { connect } = await import('../cli/connect.js')
  const signal = await deadlineOf(common)
  printService(common, 'the token of ks')
  return await connect(place.value, {
    autostart,
    onSlowStart,
    ...defined({ signal }),
    ...(isDebug(common) ? { onExchange: (line) => writeErr(`debug: ${tty(line)}\n`) } : {}),
  })
}

async function chatApiError(response: IncomingMessage): Promise<ApiError> {
  const status = response.statusCode ?? 0
  let body: unknown
  try {
    body = JSON.parse(await readText(response))
  } catch {
    body = undefined
  }
  const fields = isRecord(body) ? body : {}
  const traceId = textOf(response.headers['x-trace-id'])
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN)
  const hint = textOf(fields.hint) ?? (status === 401 ? KEY_HINT : undefined)
  return new ApiError({
    status,
    code: textOf(fields.code) ?? `http-${status}`,
    message: textOf(fields.message) ?? `the service answered ${status}`,
    ...defined({ traceId }),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
    ...defined({ hint }),
  })
}

const KEY_HINT = '`kchat use` lists the stored keys, `kchat login NAME` stores another'
