import { isDamaged } from '../../guarded-rows.js'
import { type Read, readClock, sql, type Write } from '../../program.js'
import type { ReportEvidence } from './reports.js'

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
  /** the publication that it was built from */
  revision: number
  /** number of documents of the view, including those that it does not list */
  document_count: number
  /** number of passages of a topic; and of all topics together */
  passage_count: number
  passage_total: number
  /** number of open documents of that publication that were read for it */
  covered: number
  /** number of open documents of that publication */
  total: number
  created_at: number
}

/** The part of a publication that a view was built from. */
export type ViewBuildCoverage = Pick<ViewRow, 'revision' | 'covered' | 'total'>

/** A view to be stored; members are row keys, best first. */
export interface NewView {
  slug: string
  name: string
  terms: string[]
  named: boolean
  memberLimit: number
  /** number of documents of the view; `documents` lists at most `memberLimit` of them */
  documentCount: number
  /** of a derived topic: number of its passages, and of those of all topics */
  passages?: { count: number; total: number }
  documents: ViewMember[]
  entities: ViewMember[]
  /** of a community: the evidence of its report, the most significant first */
  evidence?: ReportEvidence[]
}

export interface ViewMember {
  key: number
  score: number
}

export interface ViewBuild extends ViewBuildCoverage {
  generated_version: string
  /** number of documents that were not extracted when it began, open or not */
  unread: number
  built_at: number
}

/** Stores a view in place of one with the same slug, inside the caller's transaction. @returns its row key */
export function* writeView(
  build: { spaceKey: number; kind: ViewKind; generatedVersion: string; coverage: ViewBuildCoverage },
  view: NewView,
): Write<number> {
  yield* sql.run('DELETE FROM semantic_views WHERE space_key = ? AND kind = ? AND slug = ?', [
    build.spaceKey,
    build.kind,
    view.slug,
  ])
  const key = yield* sql.inserted(
    `INSERT INTO semantic_views (space_key, kind, slug, name, terms, named, member_limit, generated_version, created_at,
       revision, covered, total, document_count, passage_count, passage_total)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      build.spaceKey,
      build.kind,
      view.slug,
      view.name,
      JSON.stringify(view.terms),
      view.named ? 1 : 0,
      view.memberLimit,
      build.generatedVersion,
      yield* readClock(),
      build.coverage.revision,
      build.coverage.covered,
      build.coverage.total,
      view.documentCount,
      view.passages?.count ?? 0,
      view.passages?.total ?? 0,
    ],
  )
  for (const kind of ['document', 'entity'] as const)
    for (const [position, member] of view[kind === 'document' ? 'documents' : 'entities'].entries())
      yield* sql.run(
        'INSERT INTO semantic_view_members (view_key, kind, place, member_key, score) VALUES (?, ?, ?, ?, ?)',
        [key, kind, position, member.key, member.score],
      )
  return key
}

/** Removes the derived views of an earlier build, inside the caller's transaction; views that clients named stay. */
export function* removeDerivedViews(build: { spaceKey: number; kind: ViewKind; upTo: number }): Write<void> {
  yield* sql.run('DELETE FROM semantic_views WHERE space_key = ? AND kind = ? AND named = 0 AND key <= ?', [
    build.spaceKey,
    build.kind,
    build.upTo,
  ])
}

/** Number of deleted documents of a space so far. If it rises during a build, the build may contain deleted content. */
export function* countDeletions(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ deletions: number }>('SELECT deletions FROM space_deletions WHERE space_key = ?', [spaceKey]))
      ?.deletions ?? 0
  )
}

export function* getLastViewKey(): Read<number> {
  return (yield* sql.get<{ key: number | null }>('SELECT max(key) key FROM semantic_views'))?.key ?? 0
}

/** Number of topics that clients named. */
export function* countNamedTopics(spaceKey: number): Read<number> {
  return yield* sql.count(
    "SELECT count(*) n FROM semantic_views WHERE space_key = ? AND kind = 'topic' AND named = 1",
    [spaceKey],
  )
}

export function* listViews(spaceKey: number, kind: ViewKind): Read<ViewRow[]> {
  const rows = yield* sql.all<ViewRow>('SELECT * FROM semantic_views WHERE space_key = ? AND kind = ? ORDER BY slug', [
    spaceKey,
    kind,
  ])
  return rows.filter((row) => !isDamaged(row))
}

export function* findView(spaceKey: number, kind: ViewKind, slug: string): Read<ViewRow | undefined> {
  return yield* sql.get<ViewRow>('SELECT * FROM semantic_views WHERE space_key = ? AND kind = ? AND slug = ?', [
    spaceKey,
    kind,
    slug,
  ])
}

/** Row keys of a view's members, best first. */
export function* listViewMembers(viewKey: number, kind: 'document' | 'entity'): Read<ViewMember[]> {
  return yield* sql.all<ViewMember>(
    'SELECT member_key key, score FROM semantic_view_members WHERE view_key = ? AND kind = ? ORDER BY place',
    [viewKey, kind],
  )
}

export function* findLastBuild(spaceKey: number, kind: ViewKind): Read<ViewBuild | undefined> {
  const row = yield* sql.get<ViewBuild>('SELECT * FROM semantic_builds WHERE space_key = ? AND kind = ?', [
    spaceKey,
    kind,
  ])
  return row === undefined || isDamaged(row) ? undefined : row
}

export function* recordBuild(spaceKey: number, kind: ViewKind, build: Omit<ViewBuild, 'built_at'>): Write<void> {
  const { revision, generated_version, covered, total, unread } = build
  yield* sql.run(
    `INSERT OR REPLACE INTO semantic_builds (space_key, kind, revision, generated_version, built_at, covered, total, unread)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [spaceKey, kind, revision, generated_version, yield* readClock(), covered, total, unread],
  )
}
