import { createHash } from 'node:crypto'
import { ApiError } from '../client/errors.js'
import type { GatewayApi } from './api.js'
import { subscribeToSpaceChanges } from './change-feed.js'
import { type FileTarget, resolveTarget } from './documents.js'
import { ToolError } from './failure.js'
import type { SessionAccess } from './spaces.js'

/**
 * The service streams which spaces change, and subscribed resources in them are checked then. Resources that no
 * publication changes are polled, as are all if the service has no such stream. The interval starts short after an
 * event and grows while nothing happens.
 */
export const CHECK_TIMING = {
  minPauseMs: 2000,
  maxPauseMs: 30_000,
  /** Factor by which the interval grows after a check without a change. */
  growthFactor: 1.25,
  /** Delay between a reported change and its check, so that simultaneous changes are checked once. */
  changeDelayMs: 100,
  /** Interval while every change is reported, in case one was missed. */
  openFeedPauseMs: 5 * 60_000,
}
const MAX_SUBSCRIPTIONS = 100
/** With at least this many resources, one request for the revision of their space replaces checking each. */
const MIN_RESOURCES_PER_REVISION_CHECK = 2

interface SubscriptionsOptions {
  /** The API with the current token. */
  getApi(): GatewayApi
  /** Called for each resource that changed. */
  onChange(uri: string): Promise<void>
  timing?: typeof CHECK_TIMING
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
  #changeTimer: NodeJS.Timeout | undefined
  readonly #reportedSpaceIds = new Set<string>()
  #checkedAtMs = Number.NEGATIVE_INFINITY
  /** Checks run one after the other: concurrent ones would report a change twice. */
  #checking: Promise<void> = Promise.resolve()
  #feed: 'none' | 'opening' | 'open' | 'absent' = 'none'
  #closeFeed = () => {}
  #isClosed = false

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    this.#timing = options.timing ?? CHECK_TIMING
    this.#pauseMs = this.#timing.minPauseMs
  }

  /** @throws ToolError, ApiError if the resource does not exist */
  async add(uri: string, access: SessionAccess): Promise<void> {
    this.#assertCapacity(uri)
    const target = await resolveTarget(access, uri)
    const state = await readState(access.api, target)
    // Other calls may have added subscriptions meanwhile.
    this.#assertCapacity(uri)
    if (this.#isClosed) return
    this.#resources.set(uri, { target, state })
    // It is unknown whether the space has changed since the last check.
    this.#revisions.delete(target.space.id)
    this.#openFeed()
    this.pollSoon()
  }

  remove(uri: string): void {
    this.#resources.delete(uri)
    if (this.#resources.size === 0) this.#stopPolling()
  }

  /** Polls soon: a watched resource may have changed. */
  pollSoon(): void {
    this.#pauseMs = this.#timing.minPauseMs
    this.#scheduleNext()
  }

  close(): void {
    this.#isClosed = true
    this.#resources.clear()
    this.#stopPolling()
  }

  #stopPolling(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#changeTimer)
    this.#changeTimer = undefined
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
    this.#closeFeed = subscribeToSpaceChanges(this.#options.getApi(), {
      onOpen: () => {
        this.#feed = 'open'
        // Changes before the stream opened were not reported.
        this.pollSoon()
      },
      onChange: (id) => this.#onSpaceChanged(id),
      onEnd: ({ isSupported }) => {
        this.#feed = isSupported ? 'none' : 'absent'
        this.pollSoon()
      },
    })
  }

  #onSpaceChanged(spaceId: string): void {
    if (![...this.#resources.values()].some(({ target }) => target.space.id === spaceId)) return
    this.#reportedSpaceIds.add(spaceId)
    const { changeDelayMs, minPauseMs } = this.#timing
    // A space that is being filled changes all the time.
    const pauseMs = Math.max(changeDelayMs, this.#checkedAtMs + minPauseMs - performance.now())
    this.#changeTimer ??= setTimeout(() => {
      this.#changeTimer = undefined
      this.#checkedAtMs = performance.now()
      const spaceIds = new Set(this.#reportedSpaceIds)
      this.#reportedSpaceIds.clear()
      void this.#runExclusive((api) => this.#check(api, ({ space }) => spaceIds.has(space.id)))
    }, pauseMs)
    this.#changeTimer.unref()
  }

  #scheduleNext(): void {
    clearTimeout(this.#timer)
    if (this.#resources.size === 0 || this.#isClosed) return
    this.#timer = setTimeout(() => void this.#poll(), this.#pauseMs)
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    this.#openFeed()
    const hasChanged = await this.#runExclusive(async (api) => {
      const unchanged = await this.#findUnchangedSpaces(api)
      return this.#check(api, (target) => !(changesWithRevision(target) && unchanged.has(target.space.id)))
    })
    const { minPauseMs, maxPauseMs, growthFactor, openFeedPauseMs } = this.#timing
    const isReported =
      this.#feed === 'open' && [...this.#resources.values()].every(({ target }) => changesWithRevision(target))
    if (isReported) this.#pauseMs = openFeedPauseMs
    else this.#pauseMs = hasChanged ? minPauseMs : Math.min(maxPauseMs, this.#pauseMs * growthFactor)
    this.#scheduleNext()
  }

  async #runExclusive(check: (api: GatewayApi) => Promise<boolean>): Promise<boolean> {
    const previous = this.#checking
    let release = () => {}
    this.#checking = new Promise((resolve) => {
      release = resolve
    })
    await previous
    try {
      return await check(this.#options.getApi())
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
  async #check(api: GatewayApi, isSelected: (target: FileTarget) => boolean): Promise<boolean> {
    let hasChanged = false
    for (const [uri, watched] of [...this.#resources]) {
      if (!isSelected(watched.target)) continue
      const state = await readState(api, watched.target).catch(toMissingState)
      // The next check includes it, even if its space publishes nothing.
      if (state === undefined) this.#revisions.delete(watched.target.space.id)
      if (state === undefined || state === watched.state || this.#resources.get(uri) !== watched) continue
      watched.state = state
      hasChanged = true
      await this.#options.onChange(uri)
    }
    return hasChanged
  }

  /** Finds spaces with several resources that published nothing since the last check. */
  async #findUnchangedSpaces(api: GatewayApi): Promise<Set<string>> {
    const counts = new Map<string, number>()
    for (const { target } of this.#resources.values())
      if (changesWithRevision(target)) counts.set(target.space.id, (counts.get(target.space.id) ?? 0) + 1)
    const previous = this.#revisions
    this.#revisions = new Map()
    const unchanged = new Set<string>()
    for (const [id, count] of counts) {
      if (count < MIN_RESOURCES_PER_REVISION_CHECK) continue
      const { projections } = await api.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} })
      // Read before the resources: the next check sees publications in between.
      this.#revisions.set(id, projections.projectionVersion)
      if (previous.get(id) === projections.projectionVersion) unchanged.add(id)
    }
    return unchanged
  }
}

/** Whether a target changes only with the revision of its space. Agents' files and derived data change without it. */
function changesWithRevision({ path, documentId }: FileTarget): boolean {
  return documentId !== undefined || path?.startsWith('/sources/') === true
}

const DELETED_STATE = 'gone'

/** @returns the state of a resource that cannot be read; undefined if it is unknown, as the service is unreachable */
function toMissingState(error: unknown): string | undefined {
  const isDeleted =
    (error instanceof ApiError && error.status === 404) || (error instanceof ToolError && error.code === 'not-found')
  return isDeleted ? DELETED_STATE : undefined
}

/** Reads a text that changes with a document, a file, or the entries of a folder. */
async function readState(api: GatewayApi, { space, path, documentId }: FileTarget): Promise<string> {
  const spacePath = { id: space.id }
  if (documentId !== undefined) {
    const document = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { ...spacePath, documentId },
    })
    return digestState([document.version, document.sha256, document.parserStatus, document.updatedAt])
  }
  try {
    const query = { path: path ?? '/', maxBytes: MAX_COMPARED_BYTES }
    const file = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: spacePath, query })
    // An accepted edit changes these fields before its text is published.
    const { updatedAt, sizeBytes, mimeType, ...metadata } = file.metadata
    return digestState([file.targetId, file.totalChars, metadata, file.content, file.truncated && updatedAt])
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error
    const query = { path: path ?? '/', limit: 1000 }
    return digestState((await api.request('GET /knowledge-spaces/{id}/fs/ls', { path: spacePath, query })).items)
  }
}

/** Of a longer text, the beginning and the time of the last change are compared. */
const MAX_COMPARED_BYTES = 64 * 1024

function digestState(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}
