import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'
import type { Listing } from '../../contract/gateway/fs.js'
import type { Caller } from '../base/caller.js'
import { Clock } from '../base/clock.js'
import { brokenCursor, decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import { deniedSources } from '../rows/permissions.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { openJobCount, publicationById, publicationOf } from '../rows/vfs/publications.js'
import { lastChange } from '../rows/workspaces.js'
import { policiesOf } from '../spaces/manifest.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { type After, integerAt } from './namespace.js'

export type ConsistencyClass = NonNullable<Listing['consistencyClass']>

/** What one request sees: a space at a revision. */
export interface View {
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
  clock: Clock
  /** deadline of waits for views and graph, by `performance.now()`; each wait has its own limit, too */
  waitsUntil: number
  /** why the reply may be incomplete */
  lacks: Set<string>
}

/** Total wait of a reply for views below the requested path; the requested path itself has a longer limit. */
const PASSING_MILLISECONDS = 100

/** A view for nodes below the requested path, which hardly waits for views that are still being built. */
export function passing<V extends View>(view: V): V {
  return { ...view, waitsUntil: Math.min(view.waitsUntil, performance.now() + PASSING_MILLISECONDS) }
}

/** A view with the additional data of a paged reply. */
export interface PagedView extends View {
  /** where the page starts; undefined for the first */
  after: After | undefined
  /** makes the cursor of the next page */
  cursorAt(after: After): string
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
const REMEMBERED_SPACES = 10_000

/** Opens views, and caches the heads of spaces that cache-consistent reads share for a while. */
export class Views {
  readonly #db: Driver
  readonly #heads = new LRUCache<number, { revision: number; at: number }>({ max: REMEMBERED_SPACES })

  constructor(db: Driver) {
    this.#db = db
  }

  /** A view of the published head. @throws KsError `not-found` */
  async head(caller: Caller, spaceId: string): Promise<View> {
    return this.#viewOf(caller, await this.#db.read(headOf(caller, spaceId)))
  }

  #viewOf(caller: Caller, head: Head): View {
    const waitsUntil = Number.POSITIVE_INFINITY
    return { db: this.#db, caller, ...head, preview: false, clock: new Clock(), waitsUntil, lacks: new Set<string>() }
  }

  /** @throws KsError `not-found`, `invalid-cursor` also for an expired snapshot */
  async paged(caller: Caller, spaceId: string, request: PagedRequest): Promise<PagedView> {
    const { head, policy, kind, filter, state, pendingDocuments, pin } = await this.#db.read(
      pageOf(caller, spaceId, request),
    )
    const view = this.#viewOf(caller, head)
    const base = { ...view, clock: new Clock(request.milliseconds), preview: kind === 'eventual-preview' }
    const consistency = consistencyOf(base, request.consistencyClass, pendingDocuments)
    if (pin !== undefined) {
      return {
        ...base,
        revision: pin.revision,
        change: pin.change,
        after: state?.after.slice(2),
        cursorAt: (after) =>
          encodeCursor({ after: [pin.at, pin.change, ...after], publication: pin.publication }, filter),
        consistency,
      }
    }
    const revision =
      kind === 'cache-consistent' ? this.#rememberedHead(view.space, policy.cacheTtlSeconds ?? 0) : view.revision
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
  #rememberedHead(space: SpaceRow, ttlSeconds: number): number {
    const known = this.#heads.get(space.key)
    if (known !== undefined && Date.now() - known.at < ttlSeconds * 1000) return known.revision
    this.#heads.set(space.key, { revision: space.head_revision, at: Date.now() })
    return space.head_revision
  }
}

/** The data of a view. */
type Head = Pick<View, 'space' | 'revision' | 'change' | 'denied'>

function* headOf(caller: Caller, spaceId: string): Read<Head> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const change = yield* lastChange(space.key)
  return { space, revision: space.head_revision, change, denied: yield* deniedSources(space.key, caller) }
}

/** The state of a page; `pin` only for snapshots. */
function* pageOf(caller: Caller, spaceId: string, request: PagedRequest) {
  const head = yield* headOf(caller, spaceId)
  const { space } = head
  const policy = policiesOf(space).consistencyPolicy
  const kind = request.consistencyClass ?? policy.defaultClass
  const filter = filterHash(
    `fs.${request.operation}`,
    caller.tenant,
    caller.subject,
    space.id,
    request.path,
    kind,
    ...request.filters,
  )
  const state = request.cursor === undefined ? undefined : decodeCursor(request.cursor, filter)
  const pendingDocuments = kind === 'eventual-preview' ? yield* openJobCount(space.key) : 0
  let pin: Pin | undefined
  if (kind === 'snapshot-consistent')
    pin = state === undefined ? newPin(head) : yield* pinned(space, state, policy.snapshotTtlSeconds)
  return { head, policy, kind, filter, state, pendingDocuments, pin }
}

function consistencyOf(
  { preview, space }: View,
  named: ConsistencyClass | undefined,
  pendingDocuments: number,
): PagedView['consistency'] {
  const echo = named === undefined ? {} : { consistencyClass: named }
  if (!preview) return echo
  const asOf = new Date(space.published_at).toISOString()
  return { ...echo, preview: { stale: pendingDocuments > 0, asOf, pendingDocuments } }
}

function* pinned(space: SpaceRow, state: { after: After; publication?: string }, ttlSeconds: number): Read<Pin> {
  if (state.publication === undefined) throw brokenCursor()
  const at = integerAt(state.after, 0)
  const change = integerAt(state.after, 1)
  const oldest = Date.now() - ttlSeconds * 1000
  if (at < oldest) throw expired(ttlSeconds)
  if (state.publication === space.publication_id)
    return { publication: space.publication_id, revision: space.head_revision, change, at }
  const row = yield* publicationById(space.key, state.publication)
  if (row === undefined) throw expired(ttlSeconds)
  // a publication ends when the next one starts
  const next = yield* publicationOf(space.key, row.revision + 1)
  if (next === undefined || next.created_at < oldest) throw expired(ttlSeconds)
  return { publication: state.publication, revision: row.revision, change, at }
}

interface Pin {
  publication: string
  revision: number
  change: number
  /** when the first page was read, in milliseconds since the epoch */
  at: number
}

function newPin({ space, change }: Head): Pin {
  return { publication: space.publication_id, revision: space.head_revision, change, at: Date.now() }
}

function expired(ttlSeconds: number): KsError {
  return new KsError(
    'invalid-cursor',
    `cursor belongs to a snapshot older than ${ttlSeconds} seconds, which expired: start the listing again`,
  )
}
