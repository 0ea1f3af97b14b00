import { setImmediate as turn } from 'node:timers/promises'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { ReportInput } from '../../store/rows/views/reports.js'
import {
  listViewMembers,
  listViews,
  type NewView,
  type ViewKind,
  type ViewMember,
  type ViewRow,
} from '../../store/rows/views/views.js'
import { parseProfile } from '../derived/page-index/build.js'
import { readRanges } from '../derived/page-index/store.js'
import { listBeginnings, listOpenProfiles } from '../rows/views/open-documents.js'
import {
  findLastRelationOfSlice,
  findOldestRecentRelation,
  listOpenMentions,
  listOpenNames,
  listOpenRelations,
  type OpenRelation,
} from '../rows/views/open-graph.js'
import { loadReportInput } from '../rows/views/report-input.js'
import type { ClusterLink } from './cluster.js'
import { countReadDocuments } from './coverage.js'
import { runViewJob } from './job.js'
import { findFreeSlug, toSlug } from './slug.js'
import { capitalise, type TopicNameInput } from './topic-names.js'
import type { TopicDocument, TopicGroup, TopicLabel } from './topics.kernel.js'

/**
 * The newest documents and relations of a space that take part: grouping this many takes seconds and some hundred
 * megabytes.
 */
const MAX_DOCUMENTS = 20_000
const MAX_RELATIONS = 200_000
const MAX_SLICE_ROWS = 200
/** Mentions read before the event loop gets a turn. */
const MAX_SLICE_MENTIONS = 5000
/** Maximal number of pages and sections that are compared separately. */
const MAX_PARTS = 40_000
/** Documents of a topic, and passages of each, whose words form its name. */
const MAX_NAMING_DOCUMENTS = 8
const MAX_NAMING_PASSAGES = 4
const MAX_NAME_WORDS = 3
const MAX_COMMUNITY_DOCUMENTS = 100
/** Best connected entities of a community, which determine its documents. */
const MAX_CORE_ENTITIES = 30
const MAX_TITLE_NAMES = 2
/** Factor of a stated relation over two names in one sentence. */
const STATED_WEIGHT = 2
/** A topic keeps the name of an earlier one if they share more than this fraction of documents. */
const MIN_SHARED_FRACTION = 0.5
const OTHER_DOCUMENTS = 'Other documents'

/** Views of one kind. */
export interface BuiltViews {
  views: NewView[]
  /** number of open documents that the views were built from */
  covered: number
  /** number of open documents in at least one of the views, listed or not */
  documents: number
  /** for topics: numbers of assigned and unassigned documents and passages */
  topicCounts?: TopicCounts
}

export interface TopicCounts {
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
  for (let before = Number.MAX_SAFE_INTEGER; documents.length < MAX_DOCUMENTS; await turn()) {
    const rows = await db.read(listOpenProfiles(space, before, MAX_SLICE_ROWS))
    for (const { doc_key, version_key, terms, range_count, node_count } of rows) {
      const { hashes, counts } = parseProfile(terms)
      const mayHaveParts = range_count > 1 && parts + range_count <= MAX_PARTS
      const ranges = mayHaveParts ? await readRanges(db, version_key) : []
      parts += ranges.length
      documents.push({
        key: doc_key,
        terms: hashes,
        counts: counts.map(withoutNameBit),
        passages: node_count,
        parts: ranges.map((range) => ({ terms: range.terms, counts: range.counts, passages: range.count })),
      })
    }
    before = rows.at(-1)?.version_key ?? 0
    if (rows.length < MAX_SLICE_ROWS) break
  }
  const groups = await runViewJob('topics', documents, signal)
  const labels = await buildLabels(db, groups, signal)
  const naming = new ViewNaming(await db.read(loadEarlierViews(space.key, 'topic')))
  const total = groups.reduce((sum, { passages }) => sum + passages, 0)
  const views = groups.map(({ members, passages }, index): NewView => {
    const { name: suggested, words } = labels[index] ?? { words: [] }
    const newName =
      suggested ?? (words.length === 0 ? OTHER_DOCUMENTS : capitalise(words.slice(0, MAX_NAME_WORDS).join(', ')))
    // only the listed members of an earlier topic are known, too
    const listed = members.slice(0, limit)
    const { name, slug } = naming.assignName(newName, listed)
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
  return { views, covered: documents.length, documents: documents.length, topicCounts: countTopics(groups) }
}

function countTopics(groups: readonly TopicGroup[]): TopicCounts {
  const topics = groups.filter(({ terms }) => terms.length > 0)
  const inTopics = new Set(topics.flatMap(({ members }) => members.map(({ key }) => key)))
  const others = groups.filter(({ terms }) => terms.length === 0).flatMap(({ members }) => members)
  return {
    topicCount: topics.length,
    documentsWithoutTopic: others.filter(({ key }) => !inTopics.has(key)).length,
    passagesInTopics: topics.reduce((sum, { passages }) => sum + passages, 0),
    totalPassages: groups.reduce((sum, { passages }) => sum + passages, 0),
  }
}

/** The count of a term without the bit that marks the words of a document's name. */
function withoutNameBit(value: number): number {
  return Math.max(1, value & 0x7fff)
}

async function buildLabels(db: Driver, groups: readonly TopicGroup[], signal: AbortSignal): Promise<TopicLabel[]> {
  const inputs: TopicNameInput[] = []
  for (const { members, terms } of groups) {
    const typical = members.slice(0, MAX_NAMING_DOCUMENTS).map(({ key }) => key)
    inputs.push({
      terms,
      documents: terms.length === 0 ? [] : await db.read(listBeginnings(typical, MAX_NAMING_PASSAGES)),
    })
    await turn()
  }
  return runViewJob('labels', inputs, signal)
}

/** Builds the communities of the graph's entities, with the documents that mention them. */
export async function buildCommunities(db: Driver, space: SpaceRow, signal: AbortSignal): Promise<BuiltViews> {
  const links: ClusterLink[] = []
  const from = await db.read(findOldestRecentRelation(space.key, MAX_RELATIONS))
  // counted before the relations are read: relations that are added meanwhile may be missed
  const covered = await countReadDocuments(db, space, from)
  let before: number | undefined = Number.MAX_SAFE_INTEGER
  for (; before !== undefined && before > from; await turn()) {
    const { relations, lowest }: RelationSlice = await db.read(listRelationsBefore(space.key, before))
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
  const drafts: Omit<NewView, 'name' | 'slug' | 'evidence'>[] = []
  const inputs: ReportInput[] = []
  for (const { members } of groups) {
    const names = await db.read(listOpenNames(members.map(({ key }) => key)))
    const entities = members.filter(({ key }) => names.has(key))
    const core = entities.slice(0, MAX_CORE_ENTITIES)
    const documents = await findMentioningDocuments(
      db,
      core.map(({ key }) => key),
    )
    if (documents.length === 0) continue
    for (const { key } of documents) all.add(key)
    const terms = core.flatMap(({ key }) => names.get(key) ?? []).slice(0, 12)
    inputs.push(await db.read(loadReportInput(space.key, core)))
    drafts.push({
      terms,
      named: false,
      memberLimit: MAX_COMMUNITY_DOCUMENTS,
      entities,
      documentCount: documents.length,
      documents: documents.slice(0, MAX_COMMUNITY_DOCUMENTS),
    })
    await turn()
  }
  const reports = await runViewJob('reports', inputs, signal)
  const naming = new ViewNaming(await db.read(loadEarlierViews(space.key, 'community')))
  const views = drafts.map((view, index): NewView => {
    const { title, evidence = [] } = reports[index] ?? {}
    const newName = title ?? view.terms.slice(0, MAX_TITLE_NAMES).join(', ')
    return { ...view, ...naming.assignName(newName, view.entities), evidence }
  })
  return { views, covered, documents: all.size }
}

interface RelationSlice {
  relations: OpenRelation[]
  /** last key of the slice; undefined where no more follow */
  lowest: number | undefined
}

function* listRelationsBefore(spaceKey: number, before: number): Read<RelationSlice> {
  const relations = yield* listOpenRelations(spaceKey, before, MAX_SLICE_ROWS)
  return { relations, lowest: yield* findLastRelationOfSlice(spaceKey, before, MAX_SLICE_ROWS) }
}

/** All open documents that mention the entities, those with the most mentions first. */
async function findMentioningDocuments(db: Driver, entities: readonly number[]): Promise<ViewMember[]> {
  const mentions = new Map<number, number>()
  for (const entity of entities)
    for (let after: number | null = 0; after !== null; await turn()) {
      const slice: Awaited<ReturnType<typeof listMentionsAfter>> = await listMentionsAfter(db, entity, after)
      for (const { key, n } of slice.documents) mentions.set(key, (mentions.get(key) ?? 0) + n)
      after = slice.last
    }
  return [...mentions].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score || a.key - b.key)
}

function listMentionsAfter(db: Driver, entity: number, after: number) {
  return db.read(listOpenMentions(entity, after, MAX_SLICE_MENTIONS))
}

type EarlierView = ViewRow & { members: ViewMember[] }

/** The current views of a kind; without members for those that clients named. */
function* loadEarlierViews(spaceKey: number, kind: ViewKind): Read<EarlierView[]> {
  const views: EarlierView[] = []
  for (const view of yield* listViews(spaceKey, kind)) {
    const members = view.named === 1 ? [] : yield* listViewMembers(view.key, kind === 'topic' ? 'document' : 'entity')
    views.push({ ...view, members })
  }
  return views
}

/** Assigns names and slugs. A view that is mostly unchanged keeps its name and slug, so that paths stay valid. */
class ViewNaming {
  readonly #taken: Set<string>
  /** by member, the slug of its earlier view */
  readonly #earlierSlugs = new Map<number, string>()
  readonly #views = new Map<string, { name: string; size: number }>()

  constructor(views: readonly EarlierView[]) {
    this.#taken = new Set(views.filter(({ named }) => named === 1).map(({ slug }) => slug))
    for (const { name, slug, named, members } of views) {
      if (named === 1) continue
      this.#views.set(slug, { name, size: members.length })
      for (const member of members) this.#earlierSlugs.set(member.key, slug)
    }
  }

  assignName(newName: string, members: readonly ViewMember[]): { name: string; slug: string } {
    const shared = new Map<string, number>()
    for (const { key } of members) {
      const slug = this.#earlierSlugs.get(key)
      if (slug !== undefined) shared.set(slug, (shared.get(slug) ?? 0) + 1)
    }
    const [slug = '', count = 0] = [...shared].sort((a, b) => b[1] - a[1])[0] ?? []
    const known = this.#views.get(slug)
    const keepsName =
      known !== undefined &&
      !this.#taken.has(slug) &&
      count > MIN_SHARED_FRACTION * Math.max(known.size, members.length)
    const chosen = keepsName
      ? { name: known.name, slug }
      : { name: newName, slug: findFreeSlug(toSlug(newName, 'view'), this.#taken) }
    this.#taken.add(chosen.slug)
    return chosen
  }
}
