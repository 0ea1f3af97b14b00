import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import type {
  MaterializeCommunitiesBody,
  MaterializedCommunities,
  MaterializedTopic,
  MaterializeTopicBody,
} from '../../contract/gateway/graph.js'
import { LIMITS } from '../../contract/limits.js'
import type { EngineContext } from '../context.js'
import type { Derivations } from '../derived/derivation.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { keptWriting, writeReport } from '../rows/views/reports.js'
import {
  type Build,
  deletionsOf,
  dropDerived,
  lastBuild,
  lastViewKey,
  type Made,
  type NewView,
  recordBuild,
  type ViewKind,
  writeView,
} from '../rows/views/views.js'
import type { Write } from '../storage/program.js'
import { type BuiltViews, buildCommunities, buildTopics } from './build.js'
import { type CoverageOf, OpenDocuments } from './coverage.js'
import { NamedTopics, versionOf } from './named-topics.js'
import { ReportWriter } from './report-writer.js'
import { slugOf } from './slug.js'

/** Maximal wait of a call for documents whose terms and entities were not read yet. */
const CATCH_UP_MILLISECONDS = 30_000
/** Maximal wait of the first listing of a kind for its views; later ones show existing views. */
export const FIRST_MILLISECONDS = 2500
/** Minimal interval between two derivations that readers start, however often the space publishes. */
const REST_MILLISECONDS = 60_000
/** Derivations that deletions may invalidate before the reader gets an error. */
const TRIES = 3

interface Built extends BuiltViews {
  generatedVersion: string
  made: Made
}

/**
 * Topics and communities, derived on request, or when a client lists them after a publication. One derivation per space
 * and kind runs at a time; its grouping runs in a thread.
 */
export class SemanticViews {
  readonly #context: EngineContext
  readonly #derivations: Derivations
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Promise<Built>>()
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
    await Promise.allSettled([...this.#running.values(), this.#named.settled(), this.#writer.settled()])
  }

  /** How much of the current revision a view covers. */
  coverage(spaceKey: number): Promise<CoverageOf> {
    return this.#open.coverage(spaceKey)
  }

  /** Builds a topic of the documents that match its name; without name and slug, all topics of the space. */
  async materializeTopic(space: SpaceRow, body: MaterializeTopicBody): Promise<MaterializedTopic> {
    if (body.topicName === undefined && body.topicSlug === undefined) return this.#allTopics(space, body)
    const { view, made, generatedVersion } = await this.#named.make(space, body)
    return {
      knowledgeSpaceId: space.id,
      topicName: view.name,
      topicSlug: view.slug,
      generatedVersion,
      documentCount: view.documentCount,
      pathCount: pathsOf(view),
      ...(await this.coverage(space.key))(made),
    }
  }

  async materializeCommunities(space: SpaceRow, body: MaterializeCommunitiesBody): Promise<MaterializedCommunities> {
    const { views, documents, generatedVersion, made } = await this.#derive(space, 'community', body.generatedVersion)
    // a model costs money: it writes when a client requests communities, not when a client lists them
    this.#writer.write(space)
    return {
      knowledgeSpaceId: space.id,
      generatedVersion,
      communityCount: views.length,
      entityCount: new Set(views.flatMap(({ entities }) => entities.map(({ key }) => key))).size,
      documentCount: documents,
      pathCount: views.reduce((sum, view) => sum + pathsOf(view), 0),
      ...(await this.coverage(space.key))(made),
    }
  }

  /**
   * Prepares the views of a kind for a listing: the first time it waits for them, within a limit; when the space has
   * published since, or more of its documents were read, they are rebuilt in the background.
   *
   * @param milliseconds maximal wait of the first listing
   */
  async ready(space: SpaceRow, kind: ViewKind, milliseconds: number): Promise<void> {
    const build = await this.#context.db.read(lastBuild(space.key, kind))
    if (build !== undefined && !(await this.#isDue(space, build))) {
      if (kind === 'topic') this.#named.complete(space, REST_MILLISECONDS)
      return
    }
    const derived = this.#derive(space, kind, undefined).then(
      () => undefined,
      (error: unknown) => this.#failed(space, kind, error),
    )
    if (build !== undefined) return
    const waiting = new AbortController()
    await Promise.race([derived, sleep(milliseconds, undefined, { signal: waiting.signal }).catch(() => undefined)])
    waiting.abort()
  }

  async #isDue(space: SpaceRow, build: Build): Promise<boolean> {
    if (Date.now() - build.built_at < REST_MILLISECONDS) return false
    if (build.revision !== space.head_revision) return true
    // documents beyond the maximum are not retried, only those that were not read
    return build.unread > 0 && (await this.#derivations.catchUp(space, 0)) < build.unread
  }

  #failed(space: SpaceRow, kind: ViewKind, error: unknown): void {
    if (this.#stop.signal.aborted) return
    this.#context.log.warn({ space: space.id, kind, error: String(error) }, 'semantic views could not be derived')
  }

  async #allTopics(space: SpaceRow, body: MaterializeTopicBody): Promise<MaterializedTopic> {
    const derived = await this.#derive(space, 'topic', body.generatedVersion, body.limit)
    const { views, documents, generatedVersion, made } = derived
    const largest = views.find(({ terms }) => terms.length > 0) ?? views[0]
    return {
      knowledgeSpaceId: space.id,
      generatedVersion,
      topicName: largest?.name ?? space.name,
      topicSlug: largest?.slug ?? slugOf(space.name, 'topic'),
      documentCount: documents,
      pathCount: views.reduce((sum, view) => sum + pathsOf(view), 0),
      ...(await this.coverage(space.key))(made),
      ...derived.held,
    }
  }

  /** Runs one derivation per space and kind; a call with its own parameters waits for the running one first. */
  async #derive(space: SpaceRow, kind: ViewKind, version: string | undefined, limit?: number): Promise<Built> {
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

  async #build(spaceKey: number, kind: ViewKind, version: string | undefined, limit: number): Promise<Built> {
    for (let tries = TRIES; tries > 0; tries--) {
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
  ): Promise<Built | undefined> {
    const { db } = this.#context
    const { signal } = this.#stop
    const space = await db.read(spaceByKey(spaceKey))
    if (space === undefined) throw new Error('the space was deleted')
    await this.#derivations.catchUp(space, CATCH_UP_MILLISECONDS)
    const now = await this.#now(spaceKey)
    const deletions = await db.read(deletionsOf(spaceKey))
    const unlessDeleted = (work: () => Write<unknown>) =>
      db.write(function* () {
        const stands = (yield* deletionsOf(spaceKey)) === deletions
        if (stands) yield* work()
        return stands
      })
    const built =
      kind === 'topic' ? await buildTopics(db, now.space, limit, signal) : await buildCommunities(db, now.space, signal)
    const named = kind === 'topic' ? await this.#named.again(now.space) : []
    const made = { revision: now.space.head_revision, covered: Math.min(built.covered, now.total), total: now.total }
    const generatedVersion = version ?? versionOf(made)
    const of = { spaceKey, kind, generatedVersion, made }
    // one transaction per view, so that the event loop is blocked for milliseconds only; after a crash, earlier and new
    // ones coexist
    const before = await db.read(lastViewKey())
    for (const view of built.views) if (!(await unlessDeleted(() => storeView(of, view)))) return undefined
    for (const one of named) await this.#named.store(spaceKey, one)
    const ended = await unlessDeleted(function* () {
      yield* dropDerived({ spaceKey, kind, upTo: before })
      yield* recordBuild(spaceKey, kind, { ...made, generated_version: generatedVersion, unread: now.unread })
    })
    return ended ? { ...built, generatedVersion, made } : undefined
  }

  /** The current revision, its open documents, and the number of documents that were not read yet. */
  async #now(spaceKey: number): Promise<{ space: SpaceRow; total: number; unread: number }> {
    const before = await this.#context.db.read(spaceByKey(spaceKey))
    const counted = before === undefined ? 0 : await this.#derivations.unread(before)
    const space = await this.#context.db.read(spaceByKey(spaceKey))
    if (space === undefined) throw new Error('the space was deleted')
    // the count of another revision is not valid for this one
    const unread = space.head_revision === before?.head_revision ? counted : Number.MAX_SAFE_INTEGER
    return { space, total: await this.#open.total(spaceKey), unread }
  }
}

function* storeView(of: Parameters<typeof writeView>[0], view: NewView): Write<void> {
  const { spaceKey } = of
  const kept = view.evidence === undefined ? undefined : yield* keptWriting(spaceKey, view.evidence)
  const viewKey = yield* writeView(of, view)
  if (view.evidence !== undefined && kept !== undefined) yield* writeReport({ spaceKey, viewKey }, view.evidence, kept)
}

/**
 * Number of paths of a view: its folder and files, and for a community its report and the folders of its two kinds of
 * members.
 */
function pathsOf({ documents, entities }: NewView): number {
  return 1 + documents.length + entities.length + (entities.length > 0 ? 3 : 0)
}
