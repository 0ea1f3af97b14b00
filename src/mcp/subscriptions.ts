import { createHash } from 'node:crypto'
import { ApiError } from '../client/errors.js'
import type { Api } from './api.js'
import { followSpaces } from './change-feed.js'
import { type Target, targetOf } from './documents.js'
import { ToolError } from './failure.js'
import type { Spaces } from './spaces.js'

/**
 * The service tells which spaces change, and what is subscribed to in them is looked at then. What no publication changes is
 * looked at by the clock, as is everything of a service that tells nothing: this often after something happened, and less
 * and less often while nothing does.
 */
export const LOOKS = {
  soonestMs: 2000,
  latestMs: 30_000,
  slower: 1.25,
  /** between a change that was told and the look at it: what comes together is looked at once */
  promptMs: 100,
  /** where every change is told, in case one was not */
  followedMs: 5 * 60_000,
}
const MOST = 100
/** a space is asked for its revision where that is in place of looking at this many resources */
const WORTH_ASKING = 2

interface Options {
  /** what to ask with now */
  api(): Api
  spaces(api: Api): Spaces
  /** told of each resource that changed */
  changed(uri: string): Promise<void>
  looks?: typeof LOOKS
}

interface Watched {
  target: Target
  /** a text that changes with the resource */
  state: string
}

/** What one session wants to be told of. It asks for nothing while there is nothing. */
export class Subscriptions {
  readonly #options: Options
  readonly #looks: typeof LOOKS
  readonly #watched = new Map<string, Watched>()
  /** of spaces, as of the last look */
  #revisions = new Map<string, number>()
  /** by the clock */
  #timer: NodeJS.Timeout | undefined
  #pauseMs: number
  /** at spaces that were told of */
  #prompt: NodeJS.Timeout | undefined
  readonly #toldOf = new Set<string>()
  #lookedAt = Number.NEGATIVE_INFINITY
  /** one look after the other: two at once would tell of a change twice */
  #looking: Promise<void> = Promise.resolve()
  #feed: 'none' | 'opening' | 'open' | 'absent' = 'none'
  #leaveFeed = () => {}
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
    this.#looks = options.looks ?? LOOKS
    this.#pauseMs = this.#looks.soonestMs
  }

  /** @throws ToolError, ApiError for what is not there */
  async add(uri: string, api: Api): Promise<void> {
    const { spaces } = this.#options
    this.#checkRoom(uri)
    const target = await targetOf(spaces(api), api, uri)
    const state = await stateOf(api, target)
    // others may have come while this one was looked at
    this.#checkRoom(uri)
    if (this.#isClosed) return
    this.#watched.set(uri, { target, state })
    // whether it changed since the last look is not known of it
    this.#revisions.delete(target.space.id)
    this.#follow()
    this.soon()
  }

  remove(uri: string): void {
    this.#watched.delete(uri)
    if (this.#watched.size === 0) this.#rest()
  }

  /** Something happened that may have changed what is watched. */
  soon(): void {
    this.#pauseMs = this.#looks.soonestMs
    this.#next()
  }

  close(): void {
    this.#isClosed = true
    this.#watched.clear()
    this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#prompt)
    this.#prompt = undefined
    this.#toldOf.clear()
    if (this.#feed !== 'absent') this.#feed = 'none'
    this.#leaveFeed()
  }

  #checkRoom(uri: string): void {
    if (this.#watched.size < MOST || this.#watched.has(uri)) return
    throw new ToolError('capacity-exceeded', `a session may subscribe to ${MOST} resources`, 'Unsubscribe from one.')
  }

  #follow(): void {
    if (this.#feed !== 'none') return
    this.#feed = 'opening'
    this.#leaveFeed = followSpaces(this.#options.api(), {
      open: () => {
        this.#feed = 'open'
        // what changed before it opened was not told
        this.soon()
      },
      changed: (id) => this.#told(id),
      ended: (isAbsent) => {
        this.#feed = isAbsent ? 'absent' : 'none'
        this.soon()
      },
    })
  }

  #told(spaceId: string): void {
    if (![...this.#watched.values()].some(({ target }) => target.space.id === spaceId)) return
    this.#toldOf.add(spaceId)
    const { promptMs, soonestMs } = this.#looks
    // a space that is being filled changes all the time
    const pause = Math.max(promptMs, this.#lookedAt + soonestMs - performance.now())
    this.#prompt ??= setTimeout(() => {
      this.#prompt = undefined
      this.#lookedAt = performance.now()
      const told = new Set(this.#toldOf)
      this.#toldOf.clear()
      void this.#inTurn((api) => this.#lookAt(api, ({ space }) => told.has(space.id)))
    }, pause)
    this.#prompt.unref()
  }

  #next(): void {
    clearTimeout(this.#timer)
    if (this.#watched.size === 0 || this.#isClosed) return
    this.#timer = setTimeout(() => void this.#look(), this.#pauseMs)
    this.#timer.unref()
  }

  /** The look by the clock. */
  async #look(): Promise<void> {
    this.#follow()
    const hasChanged = await this.#inTurn(async (api) => {
      const still = await this.#unchangedSpaces(api)
      return this.#lookAt(api, (target) => !(isPublished(target) && still.has(target.space.id)))
    })
    const { soonestMs, latestMs, slower, followedMs } = this.#looks
    const isTold = this.#feed === 'open' && [...this.#watched.values()].every(({ target }) => isPublished(target))
    if (isTold) this.#pauseMs = followedMs
    else this.#pauseMs = hasChanged ? soonestMs : Math.min(latestMs, this.#pauseMs * slower)
    this.#next()
  }

  async #inTurn(look: (api: Api) => Promise<boolean>): Promise<boolean> {
    const before = this.#looking
    let over = () => {}
    this.#looking = new Promise((resolve) => {
      over = resolve
    })
    await before
    try {
      return await look(this.#options.api())
    } catch {
      // a service that is away, or a client that is gone: the next look, at all of them, or the end of the session tells
      this.#revisions.clear()
      return false
    } finally {
      over()
    }
  }

  /** @returns whether something changed */
  async #lookAt(api: Api, isMeant: (target: Target) => boolean): Promise<boolean> {
    let hasChanged = false
    for (const [uri, watched] of [...this.#watched]) {
      if (!isMeant(watched.target)) continue
      const state = await stateOf(api, watched.target).catch(stateOfLack)
      // whether it changed is asked again, whatever its space published since
      if (state === undefined) this.#revisions.delete(watched.target.space.id)
      if (state === undefined || state === watched.state || this.#watched.get(uri) !== watched) continue
      watched.state = state
      hasChanged = true
      await this.#options.changed(uri)
    }
    return hasChanged
  }

  /** Spaces of several resources that published nothing since the last look. */
  async #unchangedSpaces(api: Api): Promise<Set<string>> {
    const counts = new Map<string, number>()
    for (const { target } of this.#watched.values())
      if (isPublished(target)) counts.set(target.space.id, (counts.get(target.space.id) ?? 0) + 1)
    const before = this.#revisions
    this.#revisions = new Map()
    const unchanged = new Set<string>()
    for (const [id, count] of counts) {
      if (count < WORTH_ASKING) continue
      const { projections } = await api.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} })
      // asked before its resources: what is published in between is seen by the next look
      this.#revisions.set(id, projections.projectionVersion)
      if (before.get(id) === projections.projectionVersion) unchanged.add(id)
    }
    return unchanged
  }
}

/** Changes with a revision of its space alone: what agents write and what is derived behind a publication does not. */
function isPublished({ path, documentId }: Target): boolean {
  return documentId !== undefined || path?.startsWith('/sources/') === true
}

const GONE = 'gone'

/** @returns undefined where nobody knows: the service is away */
function stateOfLack(error: unknown): string | undefined {
  const isGone =
    (error instanceof ApiError && error.status === 404) || (error instanceof ToolError && error.code === 'not-found')
  return isGone ? GONE : undefined
}

async function stateOf(api: Api, { space, path, documentId }: Target): Promise<string> {
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
