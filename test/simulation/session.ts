import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'
import type { HttpRequest } from '../../src/client/http.js'
import { buildMultipartBody, type UploadPart } from '../../src/client/multipart.js'
import { type CallInput, type CallResult, type RouteKey, toRequestLine } from '../../src/client/routes.js'
import type { ChatFrame } from '../../src/contract/chat/messages.js'
import { EndUserModel } from './chat-model.js'
import type { Span } from './history.js'
import type { TenantModel } from './model.js'
import type { Step } from './schedule.js'
import type { World } from './world.js'

export interface Done<K extends RouteKey> extends Span {
  kind: 'done'
  value: CallResult<K>
}
export interface Refused extends Span {
  kind: 'refused'
  status: number
  code: string
  message: string
}
/** No response arrived, and the operation is not repeated. */
export interface Lost extends Span {
  kind: 'lost'
}
export type Outcome<K extends RouteKey> = Done<K> | Refused | Lost

/** The result of a chat request; `value` if it succeeded. */
export interface ChatAnswer<T> extends Raw {
  value: T | undefined
}

interface Parts {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  upload?: { field: 'file' | 'files'; files: UploadPart[] }
}

interface Raw extends Span {
  status: number
  code: string
  text: string
}

const WAIT_MS = 50
/** The first request of a stopping process keeps its key until the process has ended. */
const TRIES = 400
/** errors that mean nothing was done and a repetition may help */
const LATER = new Set(['busy', 'rate-limited', 'capacity-exceeded', 'unavailable'])

/** while the disk is full */
const NO_ROOM = new Set(['storage-full', 'upload-failed'])

/** One client: sends requests, repeats them if its step says so, and checks every response. */
export class Session {
  readonly world: World
  readonly tenant: TenantModel
  readonly place: number
  /** end user in the chat application of the tenant; used by this client only */
  readonly endUser: EndUserModel
  readonly #tenantPlace: number

  constructor(world: World, place: number, tenantPlace: number) {
    const tenant = world.tenants[tenantPlace]
    if (tenant === undefined) throw new Error(`there is no tenant ${tenantPlace}`)
    this.world = world
    this.tenant = tenant
    this.place = place
    this.#tenantPlace = tenantPlace
    this.endUser = new EndUserModel(`user-${place}`)
  }

  /** A read: repeated until it is answered. */
  async read<K extends RouteKey>(step: Step, key: K, input: CallInput<K> & object): Promise<Done<K> | Refused> {
    const parts: Parts = input
    for (let tries = 0; ; tries++) {
      const raw = await this.#attempt(step, key, parts, {})
      if (raw === undefined) continue
      if (LATER.has(raw.code) && tries < TRIES) await sleep(WAIT_MS)
      else return this.#outcome(step, key, raw)
    }
  }

  /** A write: sent once, or until it is answered if its step has a key and repeats. */
  async write<K extends RouteKey>(
    step: Step,
    key: K,
    input: CallInput<K> & object & { upload?: Parts['upload'] },
    options: { always?: boolean } = {},
  ): Promise<Outcome<K>> {
    const parts: Parts = input
    const idempotencyKey = step.key ?? (options.always === true ? `own-${step.number}-${step.picks[0]}` : undefined)
    let { leavesAfterMs } = step
    const from = this.world.moments.next()
    for (let tries = 0; ; tries++) {
      const left = leavesAfterMs
      leavesAfterMs = undefined
      const raw = await this.#attempt(step, key, parts, { idempotencyKey, leavesAfterMs: left })
      const asksAgain = idempotencyKey !== undefined && (step.retries || options.always === true || left !== undefined)
      if (raw === undefined) {
        if (asksAgain) continue
        return { kind: 'lost', from, to: this.world.moments.next() }
      }
      const waits = raw.code === 'idempotency-conflict' || LATER.has(raw.code) || NO_ROOM.has(raw.code)
      if (!waits || tries >= TRIES) return { ...this.#outcome(step, key, raw), from }
      await sleep(WAIT_MS)
    }
  }

  /** A request to the chat service, which has no keys: sent once. @returns undefined without a response */
  async chat<T>(step: Step, method: string, path: string, body?: object): Promise<ChatAnswer<T> | undefined> {
    const raw = await this.#send(step, `${method} ${path}`, await this.world.chatClient(this.#tenantPlace), {
      method,
      path,
      ...bodyOf(body === undefined ? {} : { body }, {}),
    })
    if (raw === undefined) return undefined
    if (raw.status >= 400) return { ...raw, value: undefined }
    this.#count(step)
    return { ...raw, value: JSON.parse(raw.text || 'null') }
  }

  /** A read of the chat service: repeated until it is answered. */
  async chatRead<T>(step: Step, path: string): Promise<ChatAnswer<T>> {
    for (let tries = 0; ; tries++) {
      const answer = await this.chat<T>(step, 'GET', path)
      if (answer === undefined) continue
      if (![429, 503].includes(answer.status) || tries >= TRIES) return answer
      await sleep(WAIT_MS)
    }
  }

  /** A chat answer in frames, read to its end; `begun` gets the task id. */
  async chatStream(
    step: Step,
    path: string,
    body: object,
    begun: (task: string) => Promise<unknown>,
  ): Promise<(Raw & { frames: ChatFrame[] }) | undefined> {
    let stopping: Promise<unknown> | undefined
    const client = await this.world.chatClient(this.#tenantPlace)
    const raw = await this.#send(
      step,
      `POST ${path}`,
      client,
      { method: 'POST', path, ...bodyOf({ body }, {}) },
      (text) => {
        const task = /"task_id":"([^"]+)"/.exec(text)?.[1]
        if (task !== undefined) stopping ??= begun(task)
      },
    )
    await stopping
    if (raw === undefined) return undefined
    if (raw.status < 400) this.#count(step)
    const frames = raw.text.split('\n\n').filter((block) => block.startsWith('data: '))
    return { ...raw, frames: raw.status < 400 ? frames.map((block): ChatFrame => JSON.parse(block.slice(6))) : [] }
  }

  #count({ kind }: Step): void {
    this.world.answered.set(kind, (this.world.answered.get(kind) ?? 0) + 1)
  }

  /** A stream of events, read to its end; undefined if it was interrupted. */
  async events(step: Step, body: object): Promise<({ text: string } & Span) | undefined> {
    const raw = await this.#attempt(step, 'POST /queries', { body }, {})
    return raw === undefined || raw.status !== 200 ? undefined : raw
  }

  /** @returns undefined without a complete response; a daemon runs again by then */
  async #attempt(
    step: Step,
    key: RouteKey,
    parts: Parts,
    how: { idempotencyKey?: string | undefined; leavesAfterMs?: number | undefined },
  ): Promise<Raw | undefined> {
    const client = await this.world.client(this.#tenantPlace)
    const headers: Record<string, string> = {}
    if (how.idempotencyKey !== undefined) headers['idempotency-key'] = how.idempotencyKey
    const signal = how.leavesAfterMs === undefined ? undefined : AbortSignal.timeout(how.leavesAfterMs)
    return await this.#send(step, key, client, { ...toRequestLine(key, parts), signal, ...bodyOf(parts, headers) })
  }

  async #send(
    step: Step,
    key: string,
    client: Client,
    request: HttpRequest,
    told: (text: string) => void = () => undefined,
  ): Promise<Raw | undefined> {
    const from = this.world.moments.next()
    try {
      const response = await client.sendRaw(request)
      let text = ''
      response.body.setEncoding('utf8')
      for await (const piece of response.body) {
        text += piece
        told(text)
      }
      const code = response.headers['x-error-code']
      const raw = { status: response.status, code: typeof code === 'string' ? code : '', text }
      this.#lookFor(step, key, text, JSON.stringify(response.headers))
      return { ...raw, from, to: this.world.moments.next() }
    } catch {
      await this.world.recover()
      return undefined
    }
  }

  #outcome<K extends RouteKey>(step: Step, key: K, raw: Raw): Done<K> | Refused {
    const { status, code, from, to, text } = raw
    const name = `${step.number} ${step.kind}`
    if (status < 400) {
      this.#count(step)
      // The daemon checks its responses against the contract.
      return { kind: 'done', value: JSON.parse(text || 'null'), from, to }
    }
    if (code === 'internal') this.world.diverge(name, `${key} answered without a defect`, `${status} ${code}: ${text}`)
    return { kind: 'refused', status, code, message: text, from, to }
  }

  /** No data of one tenant may be in a response to another. */
  #lookFor(step: Step, key: string, ...texts: string[]): void {
    for (const other of this.world.tenants) {
      if (other === this.tenant || !texts.some((text) => text.includes(other.marker))) continue
      const found = texts.find((text) => text.includes(other.marker)) ?? ''
      this.world.diverge(
        `${step.number} ${step.kind}`,
        `${key} tells ${this.tenant.name} nothing of ${other.name}`,
        found,
      )
    }
  }
}

function bodyOf(parts: Parts, headers: Record<string, string>): Pick<HttpRequest, 'headers' | 'body'> {
  if (parts.upload !== undefined) {
    const { contentType, length, body } = buildMultipartBody(parts.upload.field, parts.upload.files)
    if (length !== undefined) headers['content-length'] = String(length)
    return { headers: { ...headers, 'content-type': contentType }, body }
  }
  if (parts.body === undefined) return { headers }
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(parts.body) }
}
