import type { IncomingMessage } from 'node:http'
import { userInfo } from 'node:os'
import { CliError } from '../cli/cli-error.js'
import { type Place, resolveSettings } from '../cli/contexts.js'
import { isObject, textOf } from '../cli/json-file.js'
import type { Client } from '../client/client.js'
import { ApiError, ConnectionError } from '../client/errors.js'
import { type BodyWriter, readText, type Target, Transport } from '../client/http.js'
import { EXIT } from '../contract/errors.js'
import { readDaemonFile } from '../local/daemon-file.js'
import { type LocalDirs, localDirs } from '../local/dirs.js'
import { dataLayout } from '../local/layout.js'
import { storedKey } from './keys.js'
import type { Common } from './options.js'

interface ServiceOptions {
  user: string
  signal?: AbortSignal | undefined
  debug?: boolean | undefined
  /** where to go when nobody listens at the target: a daemon that has to be started */
  fallback?: (() => Promise<Target>) | undefined
}

/** A body that is not JSON. */
export interface RawBody {
  contentType: string
  length: number | undefined
  body: BodyWriter
}

/** The chat service as one application's key reaches it. */
export class ChatService {
  #transport: Transport
  readonly #options: ServiceOptions

  constructor(target: Target, options: ServiceOptions) {
    this.#transport = new Transport(target)
    this.#options = options
  }

  get user(): string {
    return this.#options.user
  }

  /** One call. @returns the JSON of the answer, null for an empty one. @throws ApiError, ConnectionError */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.open(method, path, body)
    return JSON.parse((await readText(response)) || 'null')
  }

  /** One call whose answer is still to be read. */
  async open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return await this.#send({ method, path: `/v1${path}`, ...(body === undefined ? {} : json) })
  }

  /** Sends bytes, such as a form with a file. */
  async upload(path: string, { contentType, length, body }: RawBody): Promise<IncomingMessage> {
    const headers = {
      'content-type': contentType,
      ...(length === undefined ? {} : { 'content-length': String(length) }),
    }
    return await this.#send({ method: 'POST', path: `/v1${path}`, headers, body })
  }

  close(): void {
    this.#transport.close()
  }

  async #send(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { signal, debug } = this.#options
    const response = await this.#reach({ ...request, signal })
    const status = response.statusCode ?? 0
    if (debug === true) {
      const trace = response.headers['x-trace-id'] ?? '-'
      process.stderr.write(`debug: ${request.method} ${request.path} ${status} trace ${trace}\n`)
    }
    if (status < 400) return response
    throw await chatApiError(response)
  }

  /** The daemon is asked before it is known to run: only when nobody listens is it looked for, and started. */
  async #reach(request: Parameters<Transport['send']>[0]): Promise<IncomingMessage> {
    const { fallback } = this.#options
    try {
      return await this.#transport.send(request)
    } catch (error) {
      if (fallback === undefined || !nobodyListens(error)) throw error
      this.#options.fallback = undefined
      this.#transport.close()
      this.#transport = new Transport(await fallback())
      return await this.#transport.send(request)
    }
  }
}

/** Nothing was sent: the request may be made again without being made twice. */
function nobodyListens(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOENT'
}

/** The service whose key is stored or given by `KCHAT_API_KEY`; the local daemon is started when none answers. */
export async function openChat(common: Common): Promise<ChatService> {
  const dirs = localDirs()
  const place = placeOf(common, dirs)
  const service = serviceName(place)
  const token = process.env.KCHAT_API_KEY || process.env.KCHAT_KEY || keyFor(dirs, common.app, service)
  const options: ServiceOptions = { user: userOf(common), signal: await deadlineOf(common), debug: common.debug }
  if (place.kind === 'remote') return new ChatService({ url: place.url, token }, options)
  const fallback = async (): Promise<Target> => ({ ...(await localTarget(place, common)), token })
  // whoever listens on a socket in the data directory, which is this user's alone, is the daemon
  const file = readDaemonFile(dataLayout(place.dataDir).daemonFile)
  const target = file?.socket === undefined ? await fallback() : { url: file.url, socketPath: file.socket, token }
  return new ChatService(target, { ...options, fallback })
}

async function localTarget(place: Place, common: Common): Promise<Target> {
  const { connect } = await import('../cli/connect.js')
  const client = await connect(place, { autostart: mayStart(common) })
  client.close()
  return client.transport.target
}

/** The gateway, with the token of `ks`: applications are managed through it. */
export async function openGateway(common: Common): Promise<{ client: Client; service: string; dirs: LocalDirs }> {
  const dirs = localDirs()
  const place = placeOf(common, dirs)
  const { connect } = await import('../cli/connect.js')
  const signal = await deadlineOf(common)
  const client = await connect(place, {
    autostart: mayStart(common),
    ...(signal === undefined ? {} : { signal }),
    ...(common.debug === true ? { onExchange: (line) => process.stderr.write(`debug: ${line}\n`) } : {}),
  })
  return { client, service: serviceName(place), dirs }
}

/** What keys are kept for: an origin, or the data directory of a local daemon. */
export function serviceOf(common: Common): { service: string; dirs: LocalDirs } {
  const dirs = localDirs()
  return { service: serviceName(placeOf(common, dirs)), dirs }
}

function mayStart({ autostart }: Common): boolean {
  return autostart !== false && !/^(0|false)$/i.test(process.env.KS_AUTOSTART ?? '')
}

async function deadlineOf({ timeout }: Common): Promise<AbortSignal | undefined> {
  if (timeout === undefined) return undefined
  const { parseSpan } = await import('../cli/units.js')
  const ms = parseSpan(timeout, '--timeout')
  const controller = new AbortController()
  const late = new ConnectionError('timeout', `the command took longer than ${ms} ms (--timeout)`)
  setTimeout(() => controller.abort(late), ms).unref()
  return controller.signal
}

function keyFor(dirs: LocalDirs, app: string | undefined, service: string): string {
  const stored = storedKey(dirs.config, app ?? (process.env.KCHAT_APP || undefined))
  if (stored.service === service) return stored.key
  throw new CliError(`the stored key is for ${stored.service}, not for ${service}`, {
    code: 'unauthenticated',
    exit: EXIT.notAllowed,
    hint: '`kchat use` lists the names, `--url` says where',
  })
}

function placeOf({ url, context }: Common, dirs: LocalDirs): Place {
  const where = { url: url ?? (context === undefined ? process.env.KCHAT_URL || undefined : undefined), context }
  return resolveSettings({ flags: where, env: process.env, cwd: process.cwd(), dirs }).place.value
}

function serviceName(place: Place): string {
  return place.kind === 'remote' ? place.url : `local:${place.dataDir}`
}

function userOf({ user }: Common): string {
  return user || process.env.KCHAT_USER || userInfo().username
}

async function chatApiError(response: IncomingMessage): Promise<ApiError> {
  const status = response.statusCode ?? 0
  let body: unknown
  try {
    body = JSON.parse(await readText(response))
  } catch {
    body = undefined
  }
  const fields = isObject(body) ? body : {}
  const traceId = textOf(response.headers['x-trace-id'])
  return new ApiError({
    status,
    code: textOf(fields.code) ?? `http-${status}`,
    message: textOf(fields.message) ?? `the service answered ${status}`,
    ...(traceId === undefined ? {} : { traceId }),
  })
}
