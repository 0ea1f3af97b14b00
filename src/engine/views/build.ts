import { setImmediate as turn } from 'node:timers/promises'
import { readProfile } from '../derived/page-index/build.js'
import { readRanges } from '../derived/page-index/store.js'
import type { SpaceRow } from '../rows/spaces.js'
import { beginnings, openProfiles } from '../rows/views/open-documents.js'
import {
  lowestRelation,
  type OpenRelation,
  oldestOfNewest,
  openMentions,
  openNames,
  openRelations,
} from '../rows/views/open-graph.js'
import { reportInput } from '../rows/views/report-input.js'
import type { ReportInput } from '../rows/views/reports.js'
import { type Member, membersOf, type NewView, type ViewKind, type ViewRow, viewsOf } from '../rows/views/views.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import type { Link } from './cluster.js'
import { countRead } from './coverage.js'
import { runViewJob } from './job.js'
import { freeSlug, slugOf } from './slug.js'
import type { NamedGroup } from './topic-names.js'
import type { TopicDocument, TopicGroup, TopicLabel } from './topics.kernel.js'

/**
 * The newest documents and relations of a space that take part: grouping this many takes seconds and some hundred
 * megabytes.
 */
const MOST_DOCUMENTS = 20_000
const MOST_RELATIONS = 200_000
const SLICE = 200
/** Mentions read before the event loop gets a turn. */
const MENTIONS = 5000
/** Maximal number of pages and sections that are compared separately. */
const MOST_PARTS = 40_000
/** Documents of a topic, and passages of each, whose words form its name. */
const NAMING_DOCUMENTS = 8
const NAMING_PASSAGES = 4
const NAME_WORDS = 3
const COMMUNITY_DOCUMENTS = 100
/** Best connected entities of a community, which determine its documents. */
const COMMUNITY_CORE = 30
const COMMUNITY_NAMES = 2
/** Factor of a stated relation over two names in one sentence. */
const STATED_WEIGHT = 2
/** A topic keeps the name of an earlier one if they share more than this fraction of documents. */
const SAME_TOPIC = 0.5
const OTHER = 'Other documents'

/** Views of one kind. */
export interface BuiltViews {
  views: NewView[]
  /** number of open documents that the views were built from */
  covered: number
  /** number of open documents in at least one of the views, listed or not */
  documents: number
  /** for topics: numbers of assigned and unassigned documents and passages */
  held?: Held
}

export interface Held {
  topicCount: number
  documentsWithoutTopic: number
  passagesInTopics: number
  totalPassages: number
}

/** Builds the topics of all open documents of a space, named by their distinctive words. */
export async function buildTopics(
  db: Driver,
  space: SpaceRow,
  limit: number,
  signal: AbortSignal,
): Promise<BuiltViews> {
  const documents: TopicDocument[] = []
  let parts = 0
  for (let before = Number.MAX_SAFE_INTEGER; documents.length < MOST_DOCUMENTS; await turn()) {
    const rows = await db.read(openProfiles(space, before, SLICE))
    for (const { doc_key, version_key, terms, range_count, node_count } of rows) {
      const { hashes, counts } = readProfile(terms)
      const mayHaveParts = range_count > 1 && parts + range_count <= MOST_PARTS
      const ranges = mayHaveParts ? await readRanges(db, version_key) : []
      parts += ranges.length
      documents.push({
        key: doc_key,
        terms: hashes,
        counts: counts.map(plainCount),
        passages: node_count,
        parts: ranges.map((range) => ({ terms: range.terms, counts: range.counts, passages: range.count })),
      })
    }
    before = rows.at(-1)?.version_key ?? 0
    if (rows.length < SLICE) break
  }
  const groups = await runViewJob('topics', documents, signal)
  const labels = await labelsOf(db, groups, signal)
  const naming = new Naming(await db.read(earlierViews(space.key, 'topic')))
  const total = groups.reduce((sum, { passages }) => sum + passages, 0)
  const views = groups.map(({ members, passages }, place): NewView => {
    const { name: found, words } = labels[place] ?? { words: [] }
    const fresh = found ?? (words.length === 0 ? OTHER : capitalised(words.slice(0, NAME_WORDS).join(', ')))
    // only the listed members of an earlier topic are known, too
    const listed = members.slice(0, limit)
    const { name, slug } = naming.nameOf(fresh, listed)
    return {
      name,
      slug,
      terms: words,
      named: false,
      memberLimit: limit,
      documentCount: members.length,
      passages: { count: passages, total },
      documents: listed,
      entities: [],
    }
  })
  return { views, covered: documents.length, documents: documents.length, held: heldBy(groups) }
}

function heldBy(groups: readonly TopicGroup[]): Held {
  const topics = groups.filter(({ terms }) => terms.length > 0)
  const held = new Set(topics.flatMap(({ members }) => members.map(({ key }) => key)))
  const others = groups.filter(({ terms }) => terms.length === 0).flatMap(({ members }) => members)
  return {
    topicCount: topics.length,
    documentsWithoutTopic: others.filter(({ key }) => !held.has(key)).length,
    passagesInTopics: topics.reduce((sum, { passages }) => sum + passages, 0),
    totalPassages: groups.reduce((sum, { passages }) => sum + passages, 0),
  }
}

/** The count of a term without the bit that marks the words of a document's name. */
function plainCount(value: number): number {
  return Math.max(1, value & 0x7fff)
}

async function labelsOf(db: Driver, groups: readonly TopicGroup[], signal: AbortSignal): Promise<TopicLabel[]> {
  const inputs: NamedGroup[] = []
  for (const { members, terms } of groups) {
    const typical = members.slice(0, NAMING_DOCUMENTS).map(({ key }) => key)
    inputs.push({ terms, documents: terms.length === 0 ? [] : await db.read(beginnings(typical, NAMING_PASSAGES)) })
    await turn()
  }
  return runViewJob('labels', inputs, signal)
}

/** Builds the communities of the graph's entities, with the documents that mention them. */
export async function buildCommunities(db: Driver, space: SpaceRow, signal: AbortSignal): Promise<BuiltViews> {
  const links: Link[] = []
  const from = await db.read(oldestOfNewest(space.key, MOST_RELATIONS))
  // counted before the relations are read: relations that are added meanwhile may be missed
  const covered = await countRead(db, space, from)
  let before: number | undefined = Number.MAX_SAFE_INTEGER
  for (; before !== undefined && before > from; await turn()) {
    const { relations, lowest }: RelationSlice = await db.read(relationsBefore(space.key, before))
    for (const { subject_key, object_key, type, predicate, confidence, support } of relations)
      if (support > 0 && subject_key !== object_key)
        links.push({
          from: subject_key,
          to: object_key,
          weight: confidence * (type === 'mentions' && predicate === '' ? 1 : STATED_WEIGHT) * (1 + Math.log(support)),
        })
    before = lowest
  }
  const groups = await runViewJob('communities', links, signal)
  const all = new Set<number>()
  const found: Omit<NewView, 'name' | 'slug' | 'evidence'>[] = []
  const inputs: ReportInput[] = []
  for (const { members } of groups) {
    const names = await db.read(openNames(members.map(({ key }) => key)))
    const entities = members.filter(({ key }) => names.has(key))
    const core = entities.slice(0, COMMUNITY_CORE)
    const documents = await documentsMentioning(
      db,
      core.map(({ key }) => key),
    )
    if (documents.length === 0) continue
    for (const { key } of documents) all.add(key)
    const terms = core.flatMap(({ key }) => names.get(key) ?? []).slice(0, 12)
    inputs.push(await db.read(reportInput(space.key, core)))
    found.push({
      terms,
      named: false,
      memberLimit: COMMUNITY_DOCUMENTS,
      entities,
      documentCount: documents.length,
      documents: documents.slice(0, COMMUNITY_DOCUMENTS),
    })
    await turn()
  }
  const reports = await runViewJob('reports', inputs, signal)
  const naming = new Naming(await db.read(earlierViews(space.key, 'community')))
  const views = found.map((view, place): NewView => {
    const { title, evidence = [] } = reports[place] ?? {}
    const fresh = title ?? view.terms.slice(0, COMMUNITY_NAMES).join(', ')
    return { ...view, ...naming.nameOf(fresh, view.entities), evidence }
  })
  return { views, covered, documents: all.size }
}

interface RelationSlice {
  relations: OpenRelation[]
  /** last key of the slice; undefined where no more follow */
  lowest: number | undefined
}

function* relationsBefore(spaceKey: number, before: number): Read<RelationSlice> {
  const relations = yield* openRelations(spaceKey, before, SLICE)
  return { relations, lowest: yield* lowestRelation(spaceKey, before, SLICE) }
}

/** All open documents that mention the entities, those with the most mentions first. */
async function documentsMentioning(db: Driver, entities: readonly number[]): Promise<Member[]> {
  const mentions = new Map<number, number>()
  for (const entity of entities)
    for (let after: number | null = 0; after !== null; await turn()) {
      const slice: Awaited<ReturnType<typeof mentionsAfter>> = await mentionsAfter(db, entity, after)
      for (const { key, n } of slice.documents) mentions.set(key, (mentions.get(key) ?? 0) + n)
      after = slice.last
    }
  return [...mentions].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score || a.key - b.key)
}

function mentionsAfter(db: Driver, entity: number, after: number) {
  return db.read(openMentions(entity, after, MENTIONS))
}

type EarlierView = ViewRow & { members: Member[] }

/** The current views of a kind; without members for those that clients named. */
function* earlierViews(spaceKey: number, kind: ViewKind): Read<EarlierView[]> {
  const views: EarlierView[] = []
  for (const view of yield* viewsOf(spaceKey, kind)) {
    const members = view.named === 1 ? [] : yield* membersOf(view.key, kind === 'topic' ? 'document' : 'entity')
    views.push({ ...view, members })
  }
  return views
}

/** Assigns names and slugs. A view that is mostly unchanged keeps its name and slug, so that paths stay valid. */
class Naming {
  readonly #taken: Set<string>
  /** by member, the slug of its earlier view */
  readonly #before = new Map<number, string>()
  readonly #views = new Map<string, { name: string; size: number }>()

  constructor(views: readonly EarlierView[]) {
    this.#taken = new Set(views.filter(({ named }) => named === 1).map(({ slug }) => slug))
    for (const { name, slug, named, members } of views) {
      if (named === 1) continue
      this.#views.set(slug, { name, size: members.length })
      for (const member of members) this.#before.set(member.key, slug)
    }
  }

  nameOf(fresh: string, members: readonly Member[]): { name: string; slug: string } {
    const shared = new Map<string, number>()
    for (const { key } of members) {
      const slug = this.#before.get(key)
      if (slug !== undefined) shared.set(slug, (shared.get(slug) ?? 0) + 1)
    }
    const [slug = '', count = 0] = [...shared].sort((a, b) => b[1] - a[1])[0] ?? []
    const known = this.#views.get(slug)
    const kept =
      known !== undefined && !this.#taken.has(slug) && count > SAME_TOPIC * Math.max(known.size, members.length)
    const chosen = kept
      ? { name: known.name, slug }
      : { name: fresh, slug: freeSlug(slugOf(fresh, 'view'), this.#taken) }
    this.#taken.add(chosen.slug)
    return chosen
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
