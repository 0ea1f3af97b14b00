import { createHash } from 'node:crypto'
import { ApiError } from '../client/errors.js'
import type { GatewayApi } from './api.js'
import { subscribeToSpaceChanges } from './change-feed.js'
import { type FileTarget, resolveTarget } from './documents.js'
import { ToolError } from './failure.js'
import type { SpaceDirectory } from './spaces.js'

/**
 * The service streams which spaces change, and subscribed resources in them are checked then. Resources that no
 * publication changes are polled, as are all if the service has no such stream. The interval starts short after an
 * event and grows while nothing happens.
 */
export const CHECK_TIMING = {
  soonestMs: 2000,
  latestMs: 30_000,
  slower: 1.25,
  /** Delay between a reported change and the check, so that simultaneous changes are checked once. */
  promptMs: 100,
  /** Interval while every change is reported, in case one was missed. */
  followedMs: 5 * 60_000,
}
const MAX_SUBSCRIPTIONS = 100
/** With at least this many resources, one request for the revision of their space replaces checking each. */
const MIN_RESOURCES_PER_REVISION_CHECK = 2

interface SubscriptionsOptions {
  /** The API with the current token. */
  api(): GatewayApi
  spaces(api: GatewayApi): SpaceDirectory
  /** Called for each resource that changed. */
  changed(uri: string): Promise<void>
  looks?: typeof CHECK_TIMING
}

interface WatchedResource {
  target: FileTarget
  /** A text that changes with the resource. */
  state: string
}

/** The subscriptions of one session. No requests are sent while there are none. */
export class ResourceSubscriptions {
  readonly #options: SubscriptionsOptions
  readonly #timing: typeof CHECK_TIMING
  readonly #resources = new Map<string, WatchedResource>()
  /** Revisions of spaces at the last check. */
  #revisions = new Map<string, number>()
  /** Timer of the poll. */
  #timer: NodeJS.Timeout | undefined
  #pauseMs: number
  /** Timer of the check of reported spaces. */
  #promptTimer: NodeJS.Timeout | undefined
  readonly #reportedSpaceIds = new Set<string>()
  #checkedAt = Number.NEGATIVE_INFINITY
  /** Checks run one after the other: concurrent ones would report a change twice. */
  #checking: Promise<void> = Promise.resolve()
  #feed: 'none' | 'opening' | 'open' | 'absent' = 'none'
  #closeFeed = () => {}
  #isClosed = false

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    this.#timing = options.looks ?? CHECK_TIMING
    this.#pauseMs = this.#timing.soonestMs
  }

  /** @throws ToolError, ApiError if the resource does not exist */
  async add(uri: string, api: GatewayApi): Promise<void> {
    const { spaces } = this.#options
    this.#assertCapacity(uri)
    const target = await resolveTarget(spaces(api), api, uri)
    const state = await readState(api, target)
    // Other calls may have added subscriptions meanwhile.
    this.#assertCapacity(uri)
    if (this.#isClosed) return
    this.#resources.set(uri, { target, state })
    // It is unknown whether it changed since the last check.
    this.#revisions.delete(target.space.id)
    this.#openFeed()
    this.soon()
  }

  remove(uri: string): void {
    this.#resources.delete(uri)
    if (this.#resources.size === 0) this.#stopPolling()
  }

  /** Polls soon: a watched resource may have changed. */
  soon(): void {
    this.#pauseMs = this.#timing.soonestMs
    this.#scheduleNext()
  }

  close(): void {
    this.#isClosed = true
    this.#resources.clear()
    this.#stopPolling()
  }

  #stopPolling(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#promptTimer)
    this.#promptTimer = undefined
    this.#reportedSpaceIds.clear()
    if (this.#feed !== 'absent') this.#feed = 'none'
    this.#closeFeed()
  }

  #assertCapacity(uri: string): void {
    if (this.#resources.size < MAX_SUBSCRIPTIONS || this.#resources.has(uri)) return
    throw new ToolError(
      'capacity-exceeded',
      `a session may subscribe to ${MAX_SUBSCRIPTIONS} resources`,
      'Unsubscribe from one.',
    )
  }

  #openFeed(): void {
    if (this.#feed !== 'none') return
    this.#feed = 'opening'
    this.#closeFeed = subscribeToSpaceChanges(this.#options.api(), {
      open: () => {
        this.#feed = 'open'
        // Changes before the stream opened were not reported.
        this.soon()
      },
      changed: (id) => this.#onSpaceChanged(id),
      ended: (isAbsent) => {
        this.#feed = isAbsent ? 'absent' : 'none'
        this.soon()
      },
    })
  }

  #onSpaceChanged(spaceId: string): void {
    if (![...this.#resources.values()].some(({ target }) => target.space.id === spaceId)) return
    this.#reportedSpaceIds.add(spaceId)
    const { promptMs, soonestMs } = this.#timing
    // A space that is being filled changes all the time.
    const pause = Math.max(promptMs, this.#checkedAt + soonestMs - performance.now())
    this.#promptTimer ??= setTimeout(() => {
      this.#promptTimer = undefined
      this.#checkedAt = performance.now()
      const spaceIds = new Set(this.#reportedSpaceIds)
      this.#reportedSpaceIds.clear()
      void this.#runExclusive((api) => this.#check(api, ({ space }) => spaceIds.has(space.id)))
    }, pause)
    this.#promptTimer.unref()
  }

  #scheduleNext(): void {
    clearTimeout(this.#timer)
    if (this.#resources.size === 0 || this.#isClosed) return
    this.#timer = setTimeout(() => void this.#poll(), this.#pauseMs)
    this.#timer.unref()
  }

  /** One poll. */
  async #poll(): Promise<void> {
    this.#openFeed()
    const hasChanged = await this.#runExclusive(async (api) => {
      const unchanged = await this.#unchangedSpaces(api)
      return this.#check(api, (target) => !(changesWithRevision(target) && unchanged.has(target.space.id)))
    })
    const { soonestMs, latestMs, slower, followedMs } = this.#timing
    const isReported =
      this.#feed === 'open' && [...this.#resources.values()].every(({ target }) => changesWithRevision(target))
    if (isReported) this.#pauseMs = followedMs
    else this.#pauseMs = hasChanged ? soonestMs : Math.min(latestMs, this.#pauseMs * slower)
    this.#scheduleNext()
  }

  async #runExclusive(look: (api: GatewayApi) => Promise<boolean>): Promise<boolean> {
    const before = this.#checking
    let release = () => {}
    this.#checking = new Promise((resolve) => {
      release = resolve
    })
    await before
    try {
      return await look(this.#options.api())
    } catch {
      // The service is unreachable or the client disconnected: the next check, of all resources, or the end of the
      // session follows.
      this.#revisions.clear()
      return false
    } finally {
      release()
    }
  }

  /** @returns whether something changed */
  async #check(api: GatewayApi, isMeant: (target: FileTarget) => boolean): Promise<boolean> {
    let hasChanged = false
    for (const [uri, watched] of [...this.#resources]) {
      if (!isMeant(watched.target)) continue
      const state = await readState(api, watched.target).catch(toMissingState)
      // Checks it again next time, whatever its space published since.
      if (state === undefined) this.#revisions.delete(watched.target.space.id)
      if (state === undefined || state === watched.state || this.#resources.get(uri) !== watched) continue
      watched.state = state
      hasChanged = true
      await this.#options.changed(uri)
    }
    return hasChanged
  }

  /** Spaces of several resources that published nothing since the last check. */
  async #unchangedSpaces(api: GatewayApi): Promise<Set<string>> {
    const counts = new Map<string, number>()
    for (const { target } of this.#resources.values())
      if (changesWithRevision(target)) counts.set(target.space.id, (counts.get(target.space.id) ?? 0) + 1)
    const before = this.#revisions
    this.#revisions = new Map()
    const unchanged = new Set<string>()
    for (const [id, count] of counts) {
      if (count < MIN_RESOURCES_PER_REVISION_CHECK) continue
      const { projections } = await api.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} })
      // Read before the resources: the next check sees publications in between.
      this.#revisions.set(id, projections.projectionVersion)
      if (before.get(id) === projections.projectionVersion) unchanged.add(id)
    }
    return unchanged
  }
}

/** Whether it changes only with a revision of its space: files of agents and data derived in the background do not. */
function changesWithRevision({ path, documentId }: FileTarget): boolean {
  return documentId !== undefined || path?.startsWith('/sources/') === true
}

const DELETED_STATE = 'gone'

/** @returns undefined if the state is unknown because the service is unreachable */
function toMissingState(error: unknown): string | undefined {
  const isGone =
    (error instanceof ApiError && error.status === 404) || (error instanceof ToolError && error.code === 'not-found')
  return isGone ? DELETED_STATE : undefined
}

async function readState(api: GatewayApi, { space, path, documentId }: FileTarget): Promise<string> {
  const at = { id: space.id }
  if (documentId !== undefined) {
    const asset = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { ...at, documentId },
    })
    return digestState([asset.version, asset.sha256, asset.parserStatus, asset.updatedAt])
  }
  try {
    const query = { path: path ?? '/', maxBytes: MAX_COMPARED_BYTES }
    const file = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: at, query })
    return digestState([file.targetId, file.totalChars, file.metadata, file.content])
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error
    const query = { path: path ?? '/', limit: 1000 }
    return digestState((await api.request('GET /knowledge-spaces/{id}/fs/ls', { path: at, query })).items)
  }
}

/** Longer texts have a time in their metadata, too. */
const MAX_COMPARED_BYTES = 64 * 1024

function digestState(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}
