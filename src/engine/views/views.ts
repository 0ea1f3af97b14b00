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
import type { Derivations } from '../query/derivation.js'
import { type SpaceRow, spaceByKey } from '../spaces/store.js'
import { buildCommunities, buildTopics } from './build.js'
import { documentsAbout } from './named-topic.js'
import { slugOf } from './slug.js'
import {
  dropDerived,
  lastBuild,
  lastViewKey,
  type NewView,
  namedCount,
  recordBuild,
  type ViewKind,
  type ViewRow,
  viewNamed,
  viewsOf,
  writeView,
} from './store.js'

/** How long a call waits for documents whose terms and entities were not read yet. */
const CATCH_UP_MILLISECONDS = 30_000
/** How long the first listing of a kind waits for its views; later ones show those that are there. */
const FIRST_MILLISECONDS = 2500
/** Time from the end of a derivation to the next one that a reader starts, however often the space publishes. */
const REST_MILLISECONDS = 60_000
/** Topics that clients named: the newest of them follow the publications. */
const REFRESHED = 100

interface Built {
  views: NewView[]
  generatedVersion: string
}

/**
 * Topics and communities: derived when a client asks for it, or when somebody lists them and the space has published
 * since. One derivation of a space and kind runs at a time, its grouping in a thread.
 */
export class SemanticViews {
  readonly #context: EngineContext
  readonly #derivations: Derivations
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Promise<Built>>()

  constructor(context: EngineContext, derivations: Derivations) {
    this.#context = context
    this.#derivations = derivations
  }

  /** derivations that run now */
  get running(): number {
    return this.#running.size
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the engine is closing'))
    await Promise.allSettled(this.#running.values())
  }

  /** Makes a topic of the documents that its name stands for; without name and slug, all topics of the space. */
  async materializeTopic(space: SpaceRow, body: MaterializeTopicBody): Promise<MaterializedTopic> {
    const { topicName, topicSlug } = body
    if (topicName === undefined && topicSlug === undefined) return this.#allTopics(space, body)
    const slug = topicSlug ?? slugOf(topicName ?? '', 'topic')
    const known = viewNamed(this.#context.db, space.key, 'topic', slug)
    const name = topicName ?? known?.name ?? slug.replaceAll('-', ' ')
    if (known?.named !== 1 && namedCount(this.#context.db, space.key) >= LIMITS.namedTopicsPerSpace)
      throw new KsError(
        'capacity-exceeded',
        `topicName must be one of the ${LIMITS.namedTopicsPerSpace} topics that this space has, which are all it may have`,
      )
    const generatedVersion = body.generatedVersion ?? versionOf(space)
    const view = await this.#named(space, { slug, name, limit: body.limit })
    await this.#context.db.write(() =>
      writeView(
        this.#context.db,
        { spaceKey: space.key, kind: 'topic', generatedVersion, revision: space.head_revision },
        view,
      ),
    )
    return {
      ...{ knowledgeSpaceId: space.id, topicName: name, topicSlug: slug, generatedVersion },
      documentCount: view.documents.length,
      pathCount: pathsOf(view),
    }
  }

  async materializeCommunities(space: SpaceRow, body: MaterializeCommunitiesBody): Promise<MaterializedCommunities> {
    const { views, generatedVersion } = await this.#derive(space, 'community', body.generatedVersion)
    return {
      knowledgeSpaceId: space.id,
      generatedVersion,
      communityCount: views.length,
      entityCount: distinct(views.flatMap(({ entities }) => entities)),
      documentCount: distinct(views.flatMap(({ documents }) => documents)),
      pathCount: views.reduce((sum, view) => sum + pathsOf(view), 0),
    }
  }

  /**
   * Makes the views of a kind ready to be listed: the first time it waits for them, within a bound; when the space has
   * published since, they are derived anew behind the reader.
   *
   * @returns whether what is there is of an earlier publication
   */
  async ready(space: SpaceRow, kind: ViewKind): Promise<boolean> {
    const build = lastBuild(this.#context.db, space.key, kind)
    if (build?.revision === space.head_revision) return false
    if (build !== undefined && Date.now() - build.built_at < REST_MILLISECONDS) return true
    const derived = this.#derive(space, kind, undefined).then(
      () => undefined,
      (error: unknown) => this.#failed(space, kind, error),
    )
    if (build !== undefined) return true
    const waiting = new AbortController()
    await Promise.race([
      derived,
      sleep(FIRST_MILLISECONDS, undefined, { signal: waiting.signal }).catch(() => undefined),
    ])
    waiting.abort()
    return lastBuild(this.#context.db, space.key, kind)?.revision !== space.head_revision
  }

  #failed(space: SpaceRow, kind: ViewKind, error: unknown): void {
    if (this.#stop.signal.aborted) return
    this.#context.log.warn({ space: space.id, kind, error: String(error) }, 'semantic views could not be derived')
  }

  async #allTopics(space: SpaceRow, body: MaterializeTopicBody): Promise<MaterializedTopic> {
    const { views, generatedVersion } = await this.#derive(space, 'topic', body.generatedVersion, body.limit)
    const largest = views.find(({ terms }) => terms.length > 0) ?? views[0]
    return {
      ...{ knowledgeSpaceId: space.id, generatedVersion },
      topicName: largest?.name ?? space.name,
      topicSlug: largest?.slug ?? slugOf(space.name, 'topic'),
      documentCount: distinct(views.flatMap(({ documents }) => documents)),
      pathCount: views.reduce((sum, view) => sum + pathsOf(view), 0),
    }
  }

  /** One at a time for a space and kind; a call with wishes of its own waits for the one that runs. */
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
    const { db } = this.#context
    const { signal } = this.#stop
    const space = spaceByKey(db, spaceKey)
    if (space === undefined) throw new Error('the space was deleted')
    await this.#derivations.catchUp(space, CATCH_UP_MILLISECONDS)
    const views =
      kind === 'topic' ? await buildTopics(db, space, limit, signal) : await buildCommunities(db, space, signal)
    const named = kind === 'topic' ? await this.#namedAgain(space) : []
    const generatedVersion = version ?? versionOf(space)
    const of = { spaceKey, kind, generatedVersion, revision: space.head_revision }
    // view by view, so that the event loop is held for milliseconds; cut short, earlier and new ones stand side by side
    const before = lastViewKey(db)
    for (const view of views) await db.write(() => writeView(db, of, view))
    for (const { row, view } of named)
      await db.write(() => writeView(db, { ...of, generatedVersion: row.generated_version }, view))
    await db.write(() => {
      dropDerived(db, { spaceKey, kind, upTo: before })
      recordBuild(db, spaceKey, kind, { revision: space.head_revision, generated_version: generatedVersion })
    })
    return { views, generatedVersion }
  }

  /** Topics that clients named, with the documents of today. */
  async #namedAgain(space: SpaceRow): Promise<{ row: ViewRow; view: NewView }[]> {
    const rows = viewsOf(this.#context.db, space.key, 'topic').filter(({ named }) => named === 1)
    rows.sort((a, b) => b.key - a.key)
    const found: { row: ViewRow; view: NewView }[] = []
    for (const row of rows.slice(0, REFRESHED))
      found.push({ row, view: await this.#named(space, { slug: row.slug, name: row.name, limit: row.member_limit }) })
    return found
  }

  async #named(space: SpaceRow, of: { slug: string; name: string; limit: number }): Promise<NewView> {
    const documents = await documentsAbout(this.#context, space, of.name, of.limit, this.#stop.signal)
    return { slug: of.slug, name: of.name, terms: [], named: true, memberLimit: of.limit, documents, entities: [] }
  }
}

function versionOf(space: SpaceRow): string {
  return `publication-${space.head_revision}`
}

/** The folder of a view, its files, and the folders of a community's two kinds of members. */
function pathsOf({ documents, entities }: NewView): number {
  return 1 + documents.length + entities.length + (entities.length > 0 ? 2 : 0)
}

function distinct(members: readonly { key: number }[]): number {
  return new Set(members.map(({ key }) => key)).size
}
