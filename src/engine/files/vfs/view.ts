import { LRUCache } from 'lru-cache'
import { KsError } from '../../../contract/errors.js'
import type { Listing } from '../../../contract/gateway/fs.js'
import type { Caller } from '../../base/caller.js'
import { ReadClock } from '../../base/clock.js'
import { createInvalidCursorError, decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import { readClock } from '../../base/statements.js'
import { parsePolicies } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { listDeniedSources } from '../../store/rows/permissions.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { getLastWorkspaceChange } from '../../store/rows/workspaces.js'
import { countOpenJobsOfSpace, findPublicationById, findPublicationByRevision } from '../rows/vfs/publications.js'
import { type CursorPosition, getCursorInteger } from './namespace.js'

export type ConsistencyClass = NonNullable<Listing['consistencyClass']>

/** What one request sees: a space at a revision. */
export interface VfsView {
  db: Driver
  caller: Caller
  space: SpaceRow
  /** versions that are visible at this revision are read */
  revision: number
  /** files of workspaces are read as of this change */
  change: number
  /** whether documents without a visible version are included */
  preview: boolean
  /** ids of sources whose documents the caller may not read */
  denied: readonly string[]
  clock: ReadClock
  /** deadline of waits for views and graph, by `performance.now()`; each wait has its own limit, too */
  waitDeadline: number
  /** why the reply may be incomplete */
  degradedReasons: Set<string>
}

/** Total wait of a reply for views below the requested path; the requested path itself has a longer limit. */
const MAX_CHILD_WAIT_MILLISECONDS = 100

/** A view for nodes below the requested path, which hardly waits for views that are still being built. */
export function toChildView<V extends VfsView>(view: V): V {
  return { ...view, waitDeadline: Math.min(view.waitDeadline, performance.now() + MAX_CHILD_WAIT_MILLISECONDS) }
}

/** A view with the additional data of a paged reply. */
export interface PagedView extends VfsView {
  /** where the page starts; undefined for the first */
  after: CursorPosition | undefined
  /** makes the cursor of the next page */
  cursorAt(after: CursorPosition): string
  /** members of a listing about consistency */
  consistency: Pick<Listing, 'consistencyClass' | 'preview'>
}

export interface PagedRequest {
  operation: string
  path: string
  /** the other members of the request that select the listed entries */
  filters: (string | number | undefined)[]
  cursor: string | undefined
  consistencyClass: ConsistencyClass | undefined
  milliseconds?: number
}

/** a cached head costs two numbers */
const MAX_CACHED_HEADS = 10_000

/** Opens views, and caches the heads of spaces that cache-consistent reads share for a while. */
export class Views {
  readonly #db: Driver
  readonly #heads = new LRUCache<number, { revision: number; cachedAt: number }>({ max: MAX_CACHED_HEADS })

  constructor(db: Driver) {
    this.#db = db
  }

  /** A view of the published head. @throws KsError `not-found` */
  async head(caller: Caller, spaceId: string): Promise<VfsView> {
    return this.#makeView(caller, await this.#db.read(readHead(caller, spaceId)))
  }

  #makeView(caller: Caller, head: ViewHead): VfsView {
    const waitDeadline = Number.POSITIVE_INFINITY
    return {
      db: this.#db,
      caller,
      ...head,
      preview: false,
      clock: new ReadClock(),
      waitDeadline,
      degradedReasons: new Set<string>(),
    }
  }

  /** @throws KsError `not-found`, `invalid-cursor` also for an expired snapshot */
  async paged(caller: Caller, spaceId: string, request: PagedRequest): Promise<PagedView> {
    const { head, policy, kind, filter, state, pendingDocuments, pin } = await this.#db.read(
      readPageState(caller, spaceId, request),
    )
    const view = this.#makeView(caller, head)
    const base = { ...view, clock: new ReadClock(request.milliseconds), preview: kind === 'eventual-preview' }
    const consistency = toConsistency(base, request.consistencyClass, pendingDocuments)
    if (pin !== undefined) {
      return {
        ...base,
        revision: pin.revision,
        change: pin.change,
        after: state?.after.slice(2),
        cursorAt: (after) =>
          encodeCursor({ after: [pin.createdAt, pin.change, ...after], publication: pin.publication }, filter),
        consistency,
      }
    }
    const revision =
      kind === 'cache-consistent' ? this.#getCachedHead(view.space, policy.cacheTtlSeconds ?? 0) : view.revision
    return {
      ...base,
      revision,
      after: state?.after,
      cursorAt: (after) => encodeCursor({ after }, filter),
      consistency,
    }
  }

  /**
   * Caches only the revision, never a reply: readers share one publication for the time of the policy, but see a
   * deletion at once.
   */
  #getCachedHead(space: SpaceRow, ttlSeconds: number): number {
    const cached = this.#heads.get(space.key)
    if (cached !== undefined && performance.now() - cached.cachedAt < ttlSeconds * 1000) return cached.revision
    this.#heads.set(space.key, { revision: space.head_revision, cachedAt: performance.now() })
    return space.head_revision
  }
}

/** The data of a view. */
type ViewHead = Pick<VfsView, 'space' | 'revision' | 'change' | 'denied'>

function* readHead(caller: Caller, spaceId: string): Read<ViewHead> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const change = yield* getLastWorkspaceChange(space.key)
  return { space, revision: space.head_revision, change, denied: yield* listDeniedSources(space.key, caller) }
}

/** The state of a page; `pin` only for snapshots. */
function* readPageState(caller: Caller, spaceId: string, request: PagedRequest) {
  const head = yield* readHead(caller, spaceId)
  const { space } = head
  const policy = parsePolicies(space).consistencyPolicy
  const kind = request.consistencyClass ?? policy.defaultClass
  const filter = hashFilter(
    `fs.${request.operation}`,
    caller.tenant,
    caller.subject,
    space.id,
    request.path,
    kind,
    ...request.filters,
  )
  const state = request.cursor === undefined ? undefined : decodeCursor(request.cursor, filter)
  const pendingDocuments = kind === 'eventual-preview' ? yield* countOpenJobsOfSpace(space.key) : 0
  let pin: SnapshotPin | undefined
  if (kind === 'snapshot-consistent')
    pin =
      state === undefined
        ? createPin(head, yield* readClock())
        : yield* resolvePin(space, state, policy.snapshotTtlSeconds)
  return { head, policy, kind, filter, state, pendingDocuments, pin }
}

function toConsistency(
  { preview, space }: VfsView,
  named: ConsistencyClass | undefined,
  pendingDocuments: number,
): PagedView['consistency'] {
  const echo = named === undefined ? {} : { consistencyClass: named }
  if (!preview) return echo
  const asOf = new Date(space.published_at).toISOString()
  return { ...echo, preview: { stale: pendingDocuments > 0, asOf, pendingDocuments } }
}

function* resolvePin(
  space: SpaceRow,
  state: { after: CursorPosition; publication?: string },
  ttlSeconds: number,
): Read<SnapshotPin> {
  if (state.publication === undefined) throw createInvalidCursorError()
  const createdAt = getCursorInteger(state.after, 0)
  const change = getCursorInteger(state.after, 1)
  const oldest = (yield* readClock()) - ttlSeconds * 1000
  if (createdAt < oldest) throw createSnapshotExpiredError(ttlSeconds)
  if (state.publication === space.publication_id)
    return { publication: space.publication_id, revision: space.head_revision, change, createdAt }
  const row = yield* findPublicationById(space.key, state.publication)
  if (row === undefined) throw createSnapshotExpiredError(ttlSeconds)
  // a publication ends when the next one starts
  const next = yield* findPublicationByRevision(space.key, row.revision + 1)
  if (next === undefined || next.created_at < oldest) throw createSnapshotExpiredError(ttlSeconds)
  return { publication: state.publication, revision: row.revision, change, createdAt }
}

interface SnapshotPin {
  publication: string
  revision: number
  change: number
  /** when the first page was read, in milliseconds since the epoch */
  createdAt: number
}

function createPin({ space, change }: ViewHead, createdAt: number): SnapshotPin {
  return { publication: space.publication_id, revision: space.head_revision, change, createdAt }
}

function createSnapshotExpiredError(ttlSeconds: number): KsError {
  return new KsError(
    'invalid-cursor',
    `cursor belongs to a snapshot older than ${ttlSeconds} seconds, which expired: start the listing again`,
  )
}
