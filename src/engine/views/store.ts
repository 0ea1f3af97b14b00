import type { Database } from '../storage/database.js'

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
  revision: number
  created_at: number
}

/** A view to be stored; members are row keys, best first. */
export interface NewView {
  slug: string
  name: string
  terms: string[]
  named: boolean
  memberLimit: number
  documents: Member[]
  entities: Member[]
}

export interface Member {
  key: number
  score: number
}

export interface Build {
  revision: number
  generated_version: string
  built_at: number
}

/** Stores a view, inside the caller's transaction; one of the same slug is replaced. */
export function writeView(
  db: Database,
  of: { spaceKey: number; kind: ViewKind; generatedVersion: string; revision: number },
  view: NewView,
): void {
  db.run('DELETE FROM semantic_views WHERE space_key = ? AND kind = ? AND slug = ?', of.spaceKey, of.kind, view.slug)
  const { key } = db.run(
    `INSERT INTO semantic_views (space_key, kind, slug, name, terms, named, member_limit, generated_version, revision, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[of.spaceKey, of.kind, view.slug, view.name, JSON.stringify(view.terms), view.named ? 1 : 0, view.memberLimit],
    ...[of.generatedVersion, of.revision, Date.now()],
  )
  for (const kind of ['document', 'entity'] as const)
    for (const [place, member] of view[kind === 'document' ? 'documents' : 'entities'].entries())
      db.run(
        'INSERT INTO semantic_view_members (view_key, kind, place, member_key, score) VALUES (?, ?, ?, ?, ?)',
        ...[key, kind, place, member.key, member.score],
      )
}

/** Removes the derived views of an earlier build, inside the caller's transaction; what clients named stays. */
export function dropDerived(db: Database, of: { spaceKey: number; kind: ViewKind; upTo: number }): void {
  db.run(
    'DELETE FROM semantic_views WHERE space_key = ? AND kind = ? AND named = 0 AND key <= ?',
    ...[of.spaceKey, of.kind, of.upTo],
  )
}

export function lastViewKey(db: Database): number {
  return db.get<{ key: number | null }>('SELECT max(key) key FROM semantic_views')?.key ?? 0
}

/** Topics that clients named. */
export function namedCount(db: Database, spaceKey: number): number {
  return (
    db.get<{ n: number }>(
      "SELECT count(*) n FROM semantic_views WHERE space_key = ? AND kind = 'topic' AND named = 1",
      spaceKey,
    )?.n ?? 0
  )
}

export function viewsOf(db: Database, spaceKey: number, kind: ViewKind): ViewRow[] {
  return db.all<ViewRow>('SELECT * FROM semantic_views WHERE space_key = ? AND kind = ? ORDER BY slug', spaceKey, kind)
}

export function viewNamed(db: Database, spaceKey: number, kind: ViewKind, slug: string): ViewRow | undefined {
  return db.get<ViewRow>(
    'SELECT * FROM semantic_views WHERE space_key = ? AND kind = ? AND slug = ?',
    ...[spaceKey, kind, slug],
  )
}

/** Row keys of a view's members, best first. */
export function membersOf(db: Database, viewKey: number, kind: 'document' | 'entity'): Member[] {
  return db.all<Member>(
    'SELECT member_key key, score FROM semantic_view_members WHERE view_key = ? AND kind = ? ORDER BY place',
    ...[viewKey, kind],
  )
}

export function lastBuild(db: Database, spaceKey: number, kind: ViewKind): Build | undefined {
  return db.get<Build>('SELECT * FROM semantic_builds WHERE space_key = ? AND kind = ?', spaceKey, kind)
}

export function recordBuild(db: Database, spaceKey: number, kind: ViewKind, build: Omit<Build, 'built_at'>): void {
  db.run(
    `INSERT OR REPLACE INTO semantic_builds (space_key, kind, revision, generated_version, built_at)
     VALUES (?, ?, ?, ?, ?)`,
    ...[spaceKey, kind, build.revision, build.generated_version, Date.now()],
  )
}

// Views are made of what everybody of the tenant may read: their names and groups would tell of the rest.
const OPEN = `d.deleted_at IS NULL AND (d.source_id IS NULL OR EXISTS (SELECT 1 FROM sources s WHERE s.id = d.source_id
  AND (s.permission_scope = '[]' OR EXISTS (SELECT 1 FROM json_each(s.permission_scope) WHERE value = '*'))))`
const LIVE = 'v.from_revision IS NOT NULL AND v.until_revision IS NULL'

export interface ProfileRow {
  version_key: number
  doc_key: number
  terms: Uint8Array
}

/** Terms of open, published documents, newest first, from before a version on. */
export function openProfiles(db: Database, spaceKey: number, before: number, limit: number): ProfileRow[] {
  return db.all<ProfileRow>(
    `SELECT p.version_key, p.doc_key, p.terms FROM page_index p INDEXED BY page_index_space
     CROSS JOIN versions v ON v.key = p.version_key CROSS JOIN documents d ON d.key = p.doc_key
     WHERE p.space_key = ? AND p.version_key < ? AND ${LIVE} AND ${OPEN} ORDER BY p.version_key DESC LIMIT +?`,
    ...[spaceKey, before, limit],
  )
}

export interface OpenRelation {
  key: number
  subject_key: number
  object_key: number
  type: string
  confidence: number
  /** open passages that state it */
  support: number
}

/** Relations that open, published passages state, newest first, between names (no dates and figures). */
export function openRelations(db: Database, spaceKey: number, before: number, limit: number): OpenRelation[] {
  return db.all<OpenRelation>(
    `SELECT r.key, r.subject_key, r.object_key, r.type, r.confidence, (
       SELECT count(*) FROM (SELECT 1 FROM graph_relation_nodes m CROSS JOIN versions v ON v.key = m.version_key
         CROSS JOIN documents d ON d.key = v.doc_key WHERE m.relation_key = r.key AND ${LIVE} AND ${OPEN} LIMIT 20)) support
     FROM (SELECT * FROM graph_relations WHERE space_key = ? AND key < ? ORDER BY key DESC LIMIT +?) r
     CROSS JOIN graph_entities a ON a.key = r.subject_key CROSS JOIN graph_entities b ON b.key = r.object_key
     WHERE a.type NOT IN ('date', 'metric') AND b.type NOT IN ('date', 'metric')`,
    ...[spaceKey, before, limit],
  )
}

export function lowestRelation(db: Database, spaceKey: number, before: number, limit: number): number | undefined {
  const rows = db.all<{ key: number }>(
    'SELECT key FROM graph_relations WHERE space_key = ? AND key < ? ORDER BY key DESC LIMIT +?',
    ...[spaceKey, before, limit],
  )
  return rows.length < limit ? undefined : rows.at(-1)?.key
}

/** Open documents that mention entities, those with the most mentions first. */
export function documentsMentioning(db: Database, entities: readonly number[], limit: number): Member[] {
  return db.all<Member>(
    `SELECT doc_key key, count(*) * 1.0 score FROM (
       SELECT v.doc_key FROM json_each(?) wanted CROSS JOIN graph_mentions m ON m.entity_key = wanted.value
       CROSS JOIN versions v ON v.key = m.version_key CROSS JOIN documents d ON d.key = v.doc_key
       WHERE ${LIVE} AND ${OPEN} LIMIT 20000)
     GROUP BY doc_key ORDER BY score DESC, doc_key LIMIT +?`,
    ...[JSON.stringify(entities), limit],
  )
}

/** Which of some documents are open and published. */
export function openDocuments(db: Database, spaceKey: number, docs: readonly number[]): Set<number> {
  const rows = db.all<{ key: number }>(
    `SELECT d.key FROM json_each(?) wanted CROSS JOIN documents d ON d.key = wanted.value
     CROSS JOIN versions v ON v.doc_key = d.key WHERE d.space_key = ? AND ${LIVE} AND ${OPEN}`,
    ...[JSON.stringify(docs), spaceKey],
  )
  return new Set(rows.map(({ key }) => key))
}

/** Beginnings of documents' texts, for their words. */
export function beginnings(db: Database, docs: readonly number[], nodes: number): string[] {
  return db
    .all<{ text: string }>(
      `SELECT n.title || char(10) || n.text text FROM json_each(?) wanted CROSS JOIN versions v ON v.doc_key = wanted.value
       CROSS JOIN nodes n ON n.version_key = v.key WHERE ${LIVE} AND n.ordinal < ?`,
      ...[JSON.stringify(docs), nodes],
    )
    .map(({ text }) => text)
}

/** Names of entities, as open, published documents write them. */
export function openNames(db: Database, keys: readonly number[]): Map<number, string> {
  const rows = db.all<{ key: number; name: string | null }>(
    `SELECT wanted.value key, (SELECT m.name FROM graph_names m CROSS JOIN versions v ON v.key = m.version_key
       CROSS JOIN documents d ON d.key = v.doc_key WHERE m.entity_key = wanted.value AND ${LIVE} AND ${OPEN} LIMIT 1) name
     FROM json_each(?) wanted`,
    JSON.stringify(keys),
  )
  return new Map(rows.flatMap(({ key, name }): [number, string][] => (name === null ? [] : [[key, name]])))
}
