import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../../contract/errors.js'
import type {
  MaterializeCommunitiesBody,
  MaterializedCommunities,
  MaterializedTopic,
  MaterializeTopicBody,
} from '../../../contract/gateway/graph.js'
import { LIMITS } from '../../../contract/limits.js'
import type { EngineContext } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { findWrittenReport, storeReport } from '../../store/rows/views/reports.js'
import {
  countDeletions,
  findLastBuild,
  getLastViewKey,
  type NewView,
  recordBuild,
  removeDerivedViews,
  type ViewBuild,
  type ViewBuildCoverage,
  type ViewKind,
  writeView,
} from '../../store/rows/views/views.js'
import type { Derivations } from '../derived/derivation.js'
import { type BuiltViews, buildCommunities, buildTopics } from './build.js'
import { type CoverageFunction, OpenDocuments } from './coverage.js'
import { NamedTopics, toVersionName } from './named-topics.js'
import { ReportWriter } from './report-writer.js'
import { toSlug } from './slug.js'

/** Maximal wait of a call for documents whose terms and entities were not read yet. */
const MAX_CATCH_UP_MS = 30_000
/** Maximal wait of the first listing of a kind for its views; later ones show existing views. */
export const MAX_FIRST_WAIT_MS = 2500
/** Minimal interval between two derivations that readers start, however often the space publishes. */
const MIN_INTERVAL_MS = 60_000
/** Derivations that deletions may invalidate before the reader gets an error. */
const MAX_ATTEMPTS = 3

interface BuiltRevision extends BuiltViews {
  generatedVersion: string
  coverage: ViewBuildCoverage
}

/**
 * Topics and communities, derived on request, or when a client lists them after a publication. One derivation per space
 * and kind runs at a time; its grouping runs in a thread.
 */
export class SemanticViews {
  readonly #context: EngineContext
  readonly #derivations: Derivations
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Promise<BuiltRevision>>()
  readonly #open: OpenDocuments
  readonly #named: NamedTopics
  readonly #writer: ReportWriter

  constructor(context: EngineContext, derivations: Derivations) {
    this.#context = context
    this.#derivations = derivations
    this.#open = new OpenDocuments(context.db)
    this.#named = new NamedTopics(context, this.#open, this.#stop.signal)
    this.#writer = new ReportWriter(context, this.#stop.signal)
  }

  /** number of running derivations and report writers */
  get running(): number {
    return this.#running.size + this.#writer.running
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the engine is closing'))
    await Promise.allSettled([...this.#running.values(), this.#named.waitUntilIdle(), this.#writer.waitUntilIdle()])
  }

  /** How much of the current revision a view covers. */
  coverage(spaceKey: number): Promise<CoverageFunction> {
    return this.#open.coverage(spaceKey)
  }

  /** Builds a topic of the documents that match its name; without name and slug, all topics of the space. */
  async materializeTopic(space: SpaceRow, body: MaterializeTopicBody): Promise<MaterializedTopic> {
    if (body.topicName === undefined && body.topicSlug === undefined) return this.#allTopics(space, body)
    const { view, coverage, generatedVersion } = await this.#named.create(space, body)
    return {
      knowledgeSpaceId: space.id,
      topicName: view.name,
      topicSlug: view.slug,
      generatedVersion,
      documentCount: view.documentCount,
      pathCount: countPaths(view),
      ...(await this.coverage(space.key))(coverage),
    }
  }

  async materializeCommunities(space: SpaceRow, body: MaterializeCommunitiesBody): Promise<MaterializedCommunities> {
    const { views, documents, generatedVersion, coverage } = await this.#derive(
      space,
      'community',
      body.generatedVersion,
    )
    // a model costs money: it writes when a client requests communities, not when a client lists them
    this.#writer.write(space)
    return {
      knowledgeSpaceId: space.id,
      generatedVersion,
      communityCount: views.length,
      entityCount: new Set(views.flatMap(({ entities }) => entities.map(({ key }) => key))).size,
      documentCount: documents,
      pathCount: views.reduce((sum, view) => sum + countPaths(view), 0),
      ...(await this.coverage(space.key))(coverage),
    }
  }

  /**
   * Prepares the views of a kind for a listing: the first time it waits for them, within a limit; when the space has
   * published since, or more of its documents were read, they are rebuilt in the background.
   *
   * @param milliseconds maximal wait of the first listing
   */
  async ready(space: SpaceRow, kind: ViewKind, milliseconds: number): Promise<void> {
    const build = await this.#context.db.read(findLastBuild(space.key, kind))
    if (build !== undefined && !(await this.#isDue(space, build))) {
      if (kind === 'topic') this.#named.rebuildIncomplete(space, MIN_INTERVAL_MS)
      return
    }
    const derived = this.#derive(space, kind, undefined).then(
      () => undefined,
      (error: unknown) => this.#logFailure(space, kind, error),
    )
    if (build !== undefined) return
    const waiting = new AbortController()
    await Promise.race([derived, sleep(milliseconds, undefined, { signal: waiting.signal }).catch(() => undefined)])
    waiting.abort()
  }

  async #isDue(space: SpaceRow, build: ViewBuild): Promise<boolean> {
    if (this.#context.now() - build.built_at < MIN_INTERVAL_MS) return false
    if (build.revision !== space.head_revision) return true
    // documents beyond the maximum are not retried, only those that were not read
    return build.unread > 0 && (await this.#derivations.catchUp(space, 0)) < build.unread
  }

  #logFailure(space: SpaceRow, kind: ViewKind, error: unknown): void {
    if (this.#stop.signal.aborted) return
    this.#context.log.warn({ space: space.id, kind, error: String(error) }, 'semantic views could not be derived')
  }

  async #allTopics(space: SpaceRow, body: MaterializeTopicBody): Promise<MaterializedTopic> {
    const derived = await this.#derive(space, 'topic', body.generatedVersion, body.limit)
    const { views, documents, generatedVersion, coverage } = derived
    const largest = views.find(({ terms }) => terms.length > 0) ?? views[0]
    return {
      knowledgeSpaceId: space.id,
      generatedVersion,
      topicName: largest?.name ?? space.name,
      topicSlug: largest?.slug ?? toSlug(space.name, 'topic'),
      documentCount: documents,
      pathCount: views.reduce((sum, view) => sum + countPaths(view), 0),
      ...(await this.coverage(space.key))(coverage),
      ...derived.topicCounts,
    }
  }

  /** Runs one derivation per space and kind; a call with its own parameters waits for the running one first. */
  async #derive(space: SpaceRow, kind: ViewKind, version: string | undefined, limit?: number): Promise<BuiltRevision> {
    const id = `${space.key}/${kind}`
    const running = this.#running.get(id)
    if (running !== undefined) {
      if (version === undefined && limit === undefined) return running
      await Promise.allSettled([running])
    }
    const work = this.#build(space.key, kind, version, limit ?? LIMITS.viewItems.default).finally(() => {
      if (this.#running.get(id) === work) this.#running.delete(id)
    })
    this.#running.set(id, work)
    return work
  }

  async #build(spaceKey: number, kind: ViewKind, version: string | undefined, limit: number): Promise<BuiltRevision> {
    for (let attemptsLeft = MAX_ATTEMPTS; attemptsLeft > 0; attemptsLeft--) {
      const built = await this.#tryBuild(spaceKey, kind, version, limit)
      if (built !== undefined) return built
    }
    throw new KsError('unavailable', 'documents are being deleted continuously: retry when the deletions have ended')
  }

  /** @returns undefined when a document was deleted meanwhile, as nothing built from it may be shown */
  async #tryBuild(
    spaceKey: number,
    kind: ViewKind,
    version: string | undefined,
    limit: number,
  ): Promise<BuiltRevision | undefined> {
    const { db } = this.#context
    const { signal } = this.#stop
    const space = await db.read(findSpaceByKey(spaceKey))
    if (space === undefined) throw new Error('the space was deleted')
    await this.#derivations.catchUp(space, MAX_CATCH_UP_MS)
    const now = await this.#loadCurrent(spaceKey)
    const deletions = await db.read(countDeletions(spaceKey))
    const unlessDeleted = (work: () => Write<unknown>) =>
      db.write(function* () {
        const isUnchanged = (yield* countDeletions(spaceKey)) === deletions
        if (isUnchanged) yield* work()
        return isUnchanged
      })
    const built =
      kind === 'topic' ? await buildTopics(db, now.space, limit, signal) : await buildCommunities(db, now.space, signal)
    const named = kind === 'topic' ? await this.#named.rebuild(now.space) : []
    const { total } = now
    const coverage = { revision: now.space.head_revision, covered: Math.min(built.covered, total), total }
    const generatedVersion = version ?? toVersionName(coverage)
    const build = { spaceKey, kind, generatedVersion, coverage }
    // one transaction per view, so that the event loop is blocked for milliseconds only; after a crash, earlier and new
    // ones coexist
    const before = await db.read(getLastViewKey())
    for (const view of built.views) if (!(await unlessDeleted(() => storeView(build, view)))) return undefined
    for (const topic of named) await this.#named.store(spaceKey, topic)
    const ended = await unlessDeleted(function* () {
      yield* removeDerivedViews({ spaceKey, kind, upTo: before })
      yield* recordBuild(spaceKey, kind, { ...coverage, generated_version: generatedVersion, unread: now.unread })
    })
    return ended ? { ...built, generatedVersion, coverage } : undefined
  }

  /** The current revision, its open documents, and the number of documents that were not read yet. */
  async #loadCurrent(spaceKey: number): Promise<{ space: SpaceRow; total: number; unread: number }> {
    const before = await this.#context.db.read(findSpaceByKey(spaceKey))
    const counted = before === undefined ? 0 : await this.#derivations.countUnread(before)
    const space = await this.#context.db.read(findSpaceByKey(spaceKey))
    if (space === undefined) throw new Error('the space was deleted')
    // the count of another revision is not valid for this one
    const unread = space.head_revision === before?.head_revision ? counted : Number.MAX_SAFE_INTEGER
    return { space, total: await this.#open.total(spaceKey), unread }
  }
}

function* storeView(build: Parameters<typeof writeView>[0], view: NewView): Write<void> {
  const { spaceKey } = build
  const existing = view.evidence === undefined ? undefined : yield* findWrittenReport(spaceKey, view.evidence)
  const viewKey = yield* writeView(build, view)
  if (view.evidence !== undefined && existing !== undefined)
    yield* storeReport({ spaceKey, viewKey }, view.evidence, existing)
}

/**
 * Number of paths of a view: its folder and files, and for a community its report and the folders of its two kinds of
 * members.
 */
function countPaths({ documents, entities }: NewView): number {
  return 1 + documents.length + entities.length + (entities.length > 0 ? 3 : 0)
}
