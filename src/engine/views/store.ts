import { setImmediate as turn } from 'node:timers/promises'
import { PAGE_INDEX_FORMAT } from '../derived/page-index/build.js'
import type { SpaceRow } from '../rows/spaces.js'
import { LIVE, OPEN } from '../rows/views/open.js'
import type { Database } from '../storage/database.js'
import { isDamaged } from '../storage/guarded-rows.js'
import { type Read, sql, type Write } from '../storage/program.js'
import type { Evidence } from './reports.kernel.js'

export type ViewKind = 'topic' | 'community'

export interface ViewRow {
  key: number
  slug: string
  name: string
  /** JSON: distinctive words of a topic, most connected entities of a community */
  terms: string
  named: number
  member_limit: number
  generated_version: string
  /** the publication that it was made of */
  revision: number
  /** documents of the view, also those that it does not list */
  document_count: number
  /** passages of a topic; of those the topics were made of */
  passage_count: number
  passage_total: number
  /** open documents of that publication that were read for it */
  covered: number
  /** open documents of that publication */
  total: number
  created_at: number
}

/** How much of a publication something was made of. */
export type Made = Pick<ViewRow, 'revision' | 'covered' | 'total'>

/** A view to be stored; members are row keys, best first. */
export interface NewView {
  slug: string
  name: string
  terms: string[]
  named: boolean
  memberLimit: number
  /** documents of the view; `documents` lists at most `memberLimit` of them */
  documentCount: number
  /** of a derived topic: passages that belong to it, of all that the topics were made of */
  passages?: { count: number; total: number }
  documents: Member[]
  entities: Member[]
  /** of a community: what its report rests on, the most telling first */
  evidence?: Evidence[]
}

export interface Member {
  key: number
  score: number
}

export interface Build extends Made {
  generated_version: string
  /** documents that were not read yet when it began, open or not */
  unread: number
  built_at: number
}

/** Stores a view, inside the caller's transaction; one of the same slug is replaced. @returns its row key */
export function writeView(
  db: Database,
  of: { spaceKey: number; kind: ViewKind; generatedVersion: string; made: Made },
  view: NewView,
): number {
  db.now(
    sql.run('DELETE FROM semantic_views WHERE space_key = ? AND kind = ? AND slug = ?', [
      of.spaceKey,
      of.kind,
      view.slug,
    ]),
  )
  const { key } = db.now(
    sql.run(
      `INSERT INTO semantic_views (space_key, kind, slug, name, terms, named, member_limit, generated_version, created_at,
       revision, covered, total, document_count, passage_count, passage_total)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        of.spaceKey,
        of.kind,
        view.slug,
        view.name,
        JSON.stringify(view.terms),
        view.named ? 1 : 0,
        view.memberLimit,
        of.generatedVersion,
        Date.now(),
        of.made.revision,
        of.made.covered,
        of.made.total,
        view.documentCount,
        view.passages?.count ?? 0,
        view.passages?.total ?? 0,
      ],
    ),
  )
  for (const kind of ['document', 'entity'] as const)
    for (const [place, member] of view[kind === 'document' ? 'documents' : 'entities'].entries())
      db.now(
        sql.run('INSERT INTO semantic_view_members (view_key, kind, place, member_key, score) VALUES (?, ?, ?, ?, ?)', [
          key,
          kind,
          place,
          member.key,
          member.score,
        ]),
      )
  return key
}

/** Removes the derived views of an earlier build, inside the caller's transaction; what clients named stays. */
export function* dropDerived(of: { spaceKey: number; kind: ViewKind; upTo: number }): Write<void> {
  yield* sql.run('DELETE FROM semantic_views WHERE space_key = ? AND kind = ? AND named = 0 AND key <= ?', [
    of.spaceKey,
    of.kind,
    of.upTo,
  ])
}

/** How many documents of a space were deleted so far. What is derived while it grows may tell of what is gone. */
export function* deletionsOf(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ deletions: number }>('SELECT deletions FROM space_deletions WHERE space_key = ?', [spaceKey]))
      ?.deletions ?? 0
  )
}

export function* lastViewKey(): Read<number> {
  return (yield* sql.get<{ key: number | null }>('SELECT max(key) key FROM semantic_views'))?.key ?? 0
}

/** Topics that clients named. */
export function* namedCount(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(
      "SELECT count(*) n FROM semantic_views WHERE space_key = ? AND kind = 'topic' AND named = 1",
      [spaceKey],
    ))?.n ?? 0
  )
}

export function* viewsOf(spaceKey: number, kind: ViewKind): Read<ViewRow[]> {
  const rows = yield* sql.all<ViewRow>('SELECT * FROM semantic_views WHERE space_key = ? AND kind = ? ORDER BY slug', [
    spaceKey,
    kind,
  ])
  return rows.filter((row) => !isDamaged(row))
}

export function* viewNamed(spaceKey: number, kind: ViewKind, slug: string): Read<ViewRow | undefined> {
  return yield* sql.get<ViewRow>('SELECT * FROM semantic_views WHERE space_key = ? AND kind = ? AND slug = ?', [
    spaceKey,
    kind,
    slug,
  ])
}

/** Row keys of a view's members, best first. */
export function* membersOf(viewKey: number, kind: 'document' | 'entity'): Read<Member[]> {
  return yield* sql.all<Member>(
    'SELECT member_key key, score FROM semantic_view_members WHERE view_key = ? AND kind = ? ORDER BY place',
    [viewKey, kind],
  )
}

export function* lastBuild(spaceKey: number, kind: ViewKind): Read<Build | undefined> {
  const row = yield* sql.get<Build>('SELECT * FROM semantic_builds WHERE space_key = ? AND kind = ?', [spaceKey, kind])
  return row === undefined || isDamaged(row) ? undefined : row
}

export function* recordBuild(spaceKey: number, kind: ViewKind, build: Omit<Build, 'built_at'>): Write<void> {
  yield* sql.run(
    `INSERT OR REPLACE INTO semantic_builds (space_key, kind, revision, generated_version, built_at, covered, total, unread)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [spaceKey, kind, build.revision, build.generated_version, Date.now(), build.covered, build.total, build.unread],
  )
}

export interface ProfileRow {
  version_key: number
  doc_key: number
  terms: Uint8Array
  range_count: number
  node_count: number
}

/** Terms of open documents that a publication shows, newest first, from before a version on. */
export function* openProfiles(
  { key: spaceKey, head_revision: revision }: Pick<SpaceRow, 'key' | 'head_revision'>,
  before: number,
  limit: number,
): Read<ProfileRow[]> {
  return yield* sql.all<ProfileRow>(
    `SELECT p.version_key, p.doc_key, p.terms, p.range_count, v.node_count FROM page_index p INDEXED BY page_index_space
     CROSS JOIN versions v ON v.key = p.version_key CROSS JOIN documents d ON d.key = p.doc_key
     WHERE p.space_key = ? AND p.version_key < ? AND p.format = ${PAGE_INDEX_FORMAT}
       AND v.from_revision <= ? AND ${LIVE} AND ${OPEN} ORDER BY p.version_key DESC LIMIT +?`,
    [spaceKey, before, revision, limit],
  )
}

export interface OpenRelation {
  key: number
  subject_key: number
  object_key: number
  type: string
  predicate: string
  confidence: number
  /** open passages that state it */
  support: number
}

/** Relations that open, published passages state, newest first, between names (no dates and figures). */
export function* openRelations(spaceKey: number, before: number, limit: number): Read<OpenRelation[]> {
  return yield* sql.all<OpenRelation>(
    `SELECT r.key, r.subject_key, r.object_key, r.type, r.predicate, r.confidence, (
       SELECT count(*) FROM (SELECT 1 FROM graph_relation_nodes m CROSS JOIN versions v ON v.key = m.version_key
         CROSS JOIN documents d ON d.key = v.doc_key WHERE m.relation_key = r.key AND ${LIVE} AND ${OPEN} LIMIT 20)) support
     FROM (SELECT * FROM graph_relations WHERE space_key = ? AND key < ? ORDER BY key DESC LIMIT +?) r
     CROSS JOIN graph_entities a ON a.key = r.subject_key CROSS JOIN graph_entities b ON b.key = r.object_key
     WHERE a.type NOT IN ('date', 'metric') AND b.type NOT IN ('date', 'metric')`,
    [spaceKey, before, limit],
  )
}

/** The key from which on a space has at most `count` relations; 0 where it has no more than those. */
export function* oldestOfNewest(spaceKey: number, count: number): Read<number> {
  const rows = yield* sql.all<{ key: number }>(
    'SELECT key FROM graph_relations WHERE space_key = ? ORDER BY key DESC LIMIT 2 OFFSET ?',
    [spaceKey, count - 1],
  )
  return rows.length < 2 ? 0 : (rows[0]?.key ?? 0)
}

export function* lowestRelation(spaceKey: number, before: number, limit: number): Read<number | undefined> {
  const rows = yield* sql.all<{ key: number }>(
    'SELECT key FROM graph_relations WHERE space_key = ? AND key < ? ORDER BY key DESC LIMIT +?',
    [spaceKey, before, limit],
  )
  return rows.length < limit ? undefined : rows.at(-1)?.key
}

/** Mentions looked at before others get a turn. */
const MENTIONS = 5000

/** All open documents that mention entities, those with the most mentions first. */
export async function documentsMentioning(db: Database, entities: readonly number[]): Promise<Member[]> {
  const mentions = new Map<number, number>()
  for (const entity of entities)
    for (let after: number | null = 0; after !== null; await turn()) {
      const slice = `SELECT node_key, version_key FROM graph_mentions WHERE entity_key = ? AND node_key > ?
        ORDER BY node_key LIMIT +?`
      const rows = db.now(
        sql.all<{ key: number; n: number }>(
          `SELECT d.key, sum(m.n) n FROM (SELECT version_key, count(*) n FROM (${slice}) GROUP BY version_key) m
         CROSS JOIN versions v ON v.key = m.version_key CROSS JOIN documents d ON d.key = v.doc_key
         WHERE ${LIVE} AND ${OPEN} GROUP BY d.key`,
          [entity, after, MENTIONS],
        ),
      )
      for (const { key, n } of rows) mentions.set(key, (mentions.get(key) ?? 0) + n)
      after = db.now(lastMention(entity, after))
    }
  return [...mentions].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score || a.key - b.key)
}

/** The node that a slice of an entity's mentions ends with; null where there are no more behind it. */
function* lastMention(entity: number, after: number): Read<number | null> {
  const row = yield* sql.get<{ node_key: number }>(
    'SELECT node_key FROM graph_mentions WHERE entity_key = ? AND node_key > ? ORDER BY node_key LIMIT 1 OFFSET ?',
    [entity, after, MENTIONS - 1],
  )
  return row?.node_key ?? null
}

/** The open documents that published nodes are of, by node; other nodes are left out. */
export function* openDocumentOf(spaceKey: number, nodes: readonly number[]): Read<Map<number, number>> {
  const rows = yield* sql.all<{ key: number; doc_key: number }>(
    `SELECT n.key, n.doc_key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND ${LIVE} AND ${OPEN}`,
    [JSON.stringify(nodes), spaceKey],
  )
  return new Map(rows.map(({ key, doc_key }) => [key, doc_key]))
}

/** Open documents of a space, by id. */
export function* openDocumentsAfter(
  spaceKey: number,
  after: string,
  limit: number,
): Read<{ key: number; id: string }[]> {
  return yield* sql.all<{ key: number; id: string }>(
    `SELECT d.key, d.id FROM documents d INDEXED BY documents_space
     WHERE d.space_key = ? AND d.id > ? AND ${OPEN} ORDER BY d.id LIMIT +?`,
    [spaceKey, after, limit],
  )
}

/** Titles, first headings and beginnings of documents' texts, for their words. */
export function* beginnings(
  docs: readonly number[],
  nodes: number,
): Read<{ title: string; headings: string[]; texts: string[] }[]> {
  const rows = yield* sql.all<{ doc: number; title: string; heading: string; text: string }>(
    `SELECT v.doc_key doc, v.title, n.title heading, n.text FROM json_each(?) wanted
     CROSS JOIN versions v ON v.doc_key = wanted.value
     CROSS JOIN nodes n ON n.version_key = v.key WHERE ${LIVE} AND n.ordinal < ? ORDER BY wanted.key, n.ordinal`,
    [JSON.stringify(docs), nodes],
  )
  const found = new Map<number, { title: string; headings: string[]; texts: string[] }>()
  for (const { doc, title, heading, text } of rows) {
    const entry = found.get(doc) ?? { title, headings: [], texts: [] }
    entry.headings.push(heading)
    entry.texts.push(text)
    found.set(doc, entry)
  }
  return [...found.values()]
}

/** Names of entities, as open, published documents write them. */
export function* openNames(keys: readonly number[]): Read<Map<number, string>> {
  const rows = yield* sql.all<{ key: number; name: string | null }>(
    `SELECT wanted.value key, (SELECT m.name FROM graph_names m CROSS JOIN versions v ON v.key = m.version_key
       CROSS JOIN documents d ON d.key = v.doc_key WHERE m.entity_key = wanted.value AND ${LIVE} AND ${OPEN} LIMIT 1) name
     FROM json_each(?) wanted`,
    [JSON.stringify(keys)],
  )
  return new Map(rows.flatMap(({ key, name }): [number, string][] => (name === null ? [] : [[key, name]])))
}
