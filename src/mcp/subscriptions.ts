import { createHash } from 'node:crypto'
import { ApiError } from '../client/errors.js'
import type { Api } from './api.js'
import { targetOf } from './documents.js'
import { ToolError } from './failure.js'
import type { Spaces } from './spaces.js'

/** The service tells nobody of changes by itself, so what is subscribed to is looked at this often. */
const LOOK_MS = 2000
const MOST = 100

interface Options {
  /** what to ask with now */
  api(): Api
  spaces(api: Api): Spaces
  /** told of each resource that changed */
  changed(uri: string): Promise<void>
}

/** What one session wants to be told of. It asks for nothing while there is nothing. */
export class Subscriptions {
  readonly #options: Options
  readonly #states = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** @throws ToolError, ApiError for what is not there */
  async add(uri: string, api: Api): Promise<void> {
    if (this.#states.size >= MOST && !this.#states.has(uri))
      throw new ToolError('capacity-exceeded', `a session may subscribe to ${MOST} resources`, 'Unsubscribe from one.')
    this.#states.set(uri, await stateOf(api, this.#options.spaces(api), uri))
    this.#next()
  }

  remove(uri: string): void {
    this.#states.delete(uri)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#states.clear()
  }

  #next(): void {
    clearTimeout(this.#timer)
    if (this.#states.size === 0) return
    this.#timer = setTimeout(() => void this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    try {
      const api = this.#options.api()
      const spaces = this.#options.spaces(api)
      for (const [uri, before] of [...this.#states]) {
        const now = await stateOf(api, spaces, uri).catch(stateOfLack)
        if (now === undefined || now === before || !this.#states.has(uri)) continue
        this.#states.set(uri, now)
        await this.#options.changed(uri)
      }
    } catch {
      // a service that is away, or a client that is gone: the next look or the end of the session tells
    }
    this.#next()
  }
}

const GONE = 'gone'

/** @returns undefined where nobody knows: the service is away */
function stateOfLack(error: unknown): string | undefined {
  const isGone =
    (error instanceof ApiError && error.status === 404) || (error instanceof ToolError && error.code === 'not-found')
  return isGone ? GONE : undefined
}

/** A text that changes with the resource. */
async function stateOf(api: Api, spaces: Spaces, uri: string): Promise<string> {
  const { space, path, documentId } = await targetOf(spaces, api, uri)
  const at = { id: space.id }
  if (documentId !== undefined) {
    const asset = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { ...at, documentId },
    })
    return digest([asset.version, asset.sha256, asset.parserStatus, asset.updatedAt])
  }
  try {
    const query = { path: path ?? '/', maxBytes: MAX_COMPARED }
    const file = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: at, query })
    return digest([file.targetId, file.totalChars, file.metadata, file.content])
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error
    const query = { path: path ?? '/', limit: 1000 }
    return digest((await api.request('GET /knowledge-spaces/{id}/fs/ls', { path: at, query })).items)
  }
}

/** of a text; longer ones have a time in their metadata, too */
const MAX_COMPARED = 64 * 1024

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}
