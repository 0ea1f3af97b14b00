import type { IncomingMessage } from 'node:http'
import { userInfo } from 'node:os'
import { CliError } from '../cli/cli-error.js'
import { connect } from '../cli/connect.js'
import { type Place, resolveSettings } from '../cli/contexts.js'
import { isObject, textOf } from '../cli/json-file.js'
import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { readText, Transport } from '../client/http.js'
import { EXIT } from '../contract/errors.js'
import { type LocalDirs, localDirs } from '../local/dirs.js'
import { storedKey } from './keys.js'

/** Options that every command takes. */
export interface Common {
  url?: string
  context?: string
  app?: string
  user?: string
  json?: boolean
}

/** The chat service as one application's key reaches it. */
export class ChatService {
  readonly #transport: Transport
  readonly user: string

  constructor(transport: Transport, user: string) {
    this.#transport = transport
    this.user = user
  }

  /** One call. @returns the JSON of the answer, null for an empty one. @throws ApiError, ConnectionError */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.open(method, path, body)
    return JSON.parse((await readText(response)) || 'null')
  }

  /** One call whose answer is still to be read. */
  async open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const response = await this.#transport.send({
      method,
      path: `/v1${path}`,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    if ((response.statusCode ?? 0) < 400) return response
    throw await chatApiError(response)
  }

  close(): void {
    this.#transport.close()
  }
}

/** The service whose key is stored or given by `KCHAT_KEY`; the local daemon is started when none answers. */
export async function openChat(common: Common): Promise<ChatService> {
  const dirs = localDirs()
  const place = placeOf(common, dirs)
  const service = serviceName(place)
  const key = process.env.KCHAT_KEY || keyFor(dirs, common.app, service)
  if (place.kind === 'remote') return new ChatService(new Transport({ url: place.url, token: key }), userOf(common))
  const client = await connect(place, { autostart: true })
  client.close()
  return new ChatService(new Transport({ ...client.transport.target, token: key }), userOf(common))
}

/** The gateway, with the token of `ks`: applications are managed through it. */
export async function openGateway(common: Common): Promise<{ client: Client; service: string; dirs: LocalDirs }> {
  const dirs = localDirs()
  const place = placeOf(common, dirs)
  return { client: await connect(place, { autostart: true }), service: serviceName(place), dirs }
}

/** What keys are kept for: an origin, or the data directory of a local daemon. */
export function serviceOf(common: Common): { service: string; dirs: LocalDirs } {
  const dirs = localDirs()
  return { service: serviceName(placeOf(common, dirs)), dirs }
}

function keyFor(dirs: LocalDirs, app: string | undefined, service: string): string {
  const stored = storedKey(dirs.config, app)
  if (stored.service === service) return stored.key
  throw new CliError(`the stored key is for ${stored.service}, not for ${service}`, {
    code: 'unauthenticated',
    exit: EXIT.notAllowed,
    hint: '`kchat use` lists the names, `--url` says where',
  })
}

function placeOf({ url, context }: Common, dirs: LocalDirs): Place {
  return resolveSettings({ flags: { url, context }, env: process.env, cwd: process.cwd(), dirs }).place.value
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
