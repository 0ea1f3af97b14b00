import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../../contract/errors.js'
import type { MaterializeTopicBody } from '../../../contract/gateway/graph.js'
import { LIMITS } from '../../../contract/limits.js'
import type { EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import {
  countNamedTopics,
  findView,
  listViews,
  type NewView,
  type ViewBuildCoverage,
  type ViewRow,
  writeView,
} from '../../store/rows/views/views.js'
import type { OpenDocuments } from './coverage.js'
import { findNamedDocuments } from './find-named-documents.js'
import { toSlug } from './slug.js'

/** Number of newest topics that are refreshed after publications. */
const MAX_REFRESHED_TOPICS = 100
/** Maximal wait of a call for an incomplete text index. */
const MAX_INDEX_WAIT_MS = 30_000

interface BuiltTopic {
  view: NewView
  coverage: ViewBuildCoverage
}

interface RebuiltTopic extends BuiltTopic {
  row: ViewRow
}

/** Topics that clients named: each contains the documents that the text index finds for its name. */
export class NamedTopics {
  readonly #context: EngineContext
  readonly #open: OpenDocuments
  readonly #signal: AbortSignal
  /** by space */
  readonly #completing = new Map<number, Promise<void>>()

  constructor(context: EngineContext, open: OpenDocuments, signal: AbortSignal) {
    this.#context = context
    this.#open = open
    this.#signal = signal
  }

  async waitUntilIdle(): Promise<void> {
    await Promise.allSettled(this.#completing.values())
  }

  /**
   * Builds a topic and stores it.
   *
   * @throws KsError `capacity-exceeded` when the space has the maximal number of named topics
   */
  async create(space: SpaceRow, body: MaterializeTopicBody): Promise<BuiltTopic & { generatedVersion: string }> {
    const { db } = this.#context
    const slug = body.topicSlug ?? toSlug(body.topicName ?? '', 'topic')
    const { known, count } = await db.read(loadNamedTopic(space.key, slug))
    const name = body.topicName ?? known?.name ?? slug.replaceAll('-', ' ')
    if (known?.named !== 1 && count >= LIMITS.namedTopicsPerSpace)
      throw new KsError(
        'capacity-exceeded',
        `topicName must be one of the existing topics: this space has the maximum of ${LIMITS.namedTopicsPerSpace} named topics`,
      )
    const topic = await this.#find(space.key, { slug, name, limit: body.limit }, MAX_INDEX_WAIT_MS)
    const generatedVersion = body.generatedVersion ?? toVersionName(topic.coverage)
    const build = { spaceKey: space.key, kind: 'topic', generatedVersion, coverage: topic.coverage } as const
    await db.write(() => writeView(build, topic.view))
    return { ...topic, generatedVersion }
  }

  /** Rebuilds the newest topics of a space, or the given ones, with the current documents; does not store them. */
  async rebuild(space: SpaceRow, rows?: readonly ViewRow[]): Promise<RebuiltTopic[]> {
    const found: RebuiltTopic[] = []
    for (const row of rows ?? (await this.#newest(space))) {
      const { slug, name, member_limit: limit } = row
      found.push({ row, ...(await this.#find(space.key, { slug, name, limit }, 0)) })
    }
    return found
  }

  async store(spaceKey: number, { row, view, coverage }: RebuiltTopic): Promise<void> {
    const { db } = this.#context
    const build = { spaceKey, kind: 'topic', generatedVersion: row.generated_version, coverage } as const
    await db.write(function* () {
      // a client may have rebuilt it meanwhile
      if ((yield* findView(spaceKey, 'topic', row.slug))?.key === row.key) yield* writeView(build, view)
    })
  }

  /**
   * Rebuilds, in the background, topics that do not cover the current revision because the text index was incomplete.
   *
   * @param minAgeMs minimal age of a topic
   */
  rebuildIncomplete(space: SpaceRow, minAgeMs: number): void {
    if (this.#completing.has(space.key)) return
    const work = this.#complete(space, this.#context.now() - minAgeMs)
      .catch((error: unknown) => {
        if (!this.#signal.aborted)
          this.#context.log.warn({ space: space.id, error: String(error) }, 'named topics could not be rebuilt')
      })
      .finally(() => this.#completing.delete(space.key))
    this.#completing.set(space.key, work)
  }

  async #complete(space: SpaceRow, before: number): Promise<void> {
    const incomplete = (await this.#newest(space)).filter(
      (row) => row.created_at < before && (row.covered < row.total || row.revision !== space.head_revision),
    )
    for (const topic of await this.rebuild(space, incomplete)) await this.store(space.key, topic)
  }

  async #newest({ key }: SpaceRow): Promise<ViewRow[]> {
    const rows = (await this.#context.db.read(listViews(key, 'topic'))).filter(({ named }) => named === 1)
    return rows.sort((a, b) => b.key - a.key).slice(0, MAX_REFRESHED_TOPICS)
  }

  /**
   * The text index has all documents of the revision unless it reports missing ones: then only the documents that it
   * found are certainly covered.
   *
   * @param maxWaitMs maximal wait for an incomplete index
   */
  async #find(
    spaceKey: number,
    { slug, name, limit }: { slug: string; name: string; limit: number },
    maxWaitMs: number,
  ): Promise<BuiltTopic> {
    const space = await this.#context.db.read(findSpaceByKey(spaceKey))
    if (space === undefined) throw new KsError('not-found', 'the knowledge space was deleted')
    const total = await this.#open.total(spaceKey)
    let about = await findNamedDocuments(this.#context, space, name, this.#signal)
    if (about.degraded.length > 0 && maxWaitMs > 0) {
      const waited = sleep(maxWaitMs, undefined, { signal: this.#signal, ref: false })
      await Promise.race([this.#context.indexes.settle(space.id), waited])
      about = await findNamedDocuments(this.#context, space, name, this.#signal)
    }
    const { documents, degraded } = about
    const covered = degraded.length === 0 ? total : Math.min(documents.length, total)
    return {
      view: {
        slug,
        name,
        terms: [],
        named: true,
        memberLimit: limit,
        entities: [],
        documentCount: documents.length,
        documents: documents.slice(0, limit),
      },
      coverage: { revision: space.head_revision, covered, total },
    }
  }
}

function* loadNamedTopic(spaceKey: number, slug: string): Read<{ known: ViewRow | undefined; count: number }> {
  return { known: yield* findView(spaceKey, 'topic', slug), count: yield* countNamedTopics(spaceKey) }
}

/** The version name where the client gave none. */
export function toVersionName({ revision }: Pick<ViewBuildCoverage, 'revision'>): string {
  return `publication-${revision}`
}
