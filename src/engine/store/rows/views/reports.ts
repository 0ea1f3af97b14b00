import { createHash } from 'node:crypto'
import type { ModelReference } from '../../../base/model-reference.js'
import { type Read, sql, type Write } from '../../program.js'
import { parseJsonCell, unlessDamaged } from '../../readable.js'

/** A member of a community, with its spellings in the passages. */
export interface ReportMember {
  names: string[]
  type: string
  /** 0 to 1, by its connections in the community */
  score: number
}

/** A community and passages that mention several of its members. */
export interface ReportInput {
  members: ReportMember[]
  passages: { node: number; document: number; text: string }[]
}

/** A sentence of a passage that names members. */
export interface ReportEvidence {
  text: string
  node: number
}

/** A model's report about a community's evidence; `from` are indexes of evidence sentences. */
export interface WrittenReport {
  title: string
  statements: { text: string; from: number[] }[]
}

export interface ReportRow {
  view_key: number
  space_key: number
  /** JSON of `Evidence[]` */
  evidence: string
  evidence_hash: string
  /** name of the model; null if no model has written it */
  model: string | null
  /** JSON of `WrittenReport` */
  written: string | null
}

/** Number of sentences in a report without a model. */
export const MAX_EXTRACTED_SENTENCES = 5
/** An existing report about the same evidence, of any view of the space. */
export function* findWrittenReport(
  spaceKey: number,
  evidence: readonly ReportEvidence[],
): Read<Pick<ReportRow, 'model' | 'written'>> {
  const row = yield* sql.get<Pick<ReportRow, 'model' | 'written'>>(
    `SELECT model, written FROM semantic_reports WHERE space_key = ? AND evidence_hash = ? AND written IS NOT NULL
     ORDER BY view_key DESC LIMIT 1`,
    [spaceKey, hashEvidence(evidence)],
  )
  return row ?? { model: null, written: null }
}

/** Stores the evidence of a view, with an existing report about it, inside the caller's transaction. */
export function* storeReport(
  view: { spaceKey: number; viewKey: number },
  evidence: readonly ReportEvidence[],
  { model, written }: Pick<ReportRow, 'model' | 'written'>,
): Write<void> {
  yield* sql.run(
    `INSERT OR REPLACE INTO semantic_reports (view_key, space_key, evidence, evidence_hash, model, written)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [view.viewKey, view.spaceKey, JSON.stringify(evidence), hashEvidence(evidence), model, written],
  )
}

/** Stores a model's report for all views with the same evidence, inside the caller's transaction. */
export function* storeWrittenReport(row: ReportRow, model: ModelReference, written: WrittenReport): Write<void> {
  yield* sql.run('UPDATE semantic_reports SET model = ?, written = ? WHERE space_key = ? AND evidence_hash = ?', [
    toModelName(model),
    JSON.stringify(written),
    row.space_key,
    row.evidence_hash,
  ])
}

export function* findReport(spaceKey: number, viewKey: number): Read<ReportRow | undefined> {
  return yield* sql.get<ReportRow>('SELECT * FROM semantic_reports WHERE view_key = ? AND space_key = ?', [
    viewKey,
    spaceKey,
  ])
}

/** Reports of the largest communities that the model has not written. */
export function* listUnwrittenReports(spaceKey: number, model: ModelReference, limit: number): Read<ReportRow[]> {
  return yield* sql.all<ReportRow>(
    `SELECT r.* FROM semantic_reports r CROSS JOIN semantic_views v ON v.key = r.view_key
     WHERE r.space_key = ? AND (r.model IS NULL OR r.model <> ?) AND json_array_length(r.evidence) > 1
     ORDER BY v.document_count DESC, v.key LIMIT ?`,
    [spaceKey, toModelName(model), limit],
  )
}

export function parseReportEvidence({ evidence }: ReportRow): ReportEvidence[] {
  return unlessDamaged(() => parseJsonCell<ReportEvidence[]>(evidence)) ?? []
}

export function parseWrittenReport({ written }: ReportRow): WrittenReport | undefined {
  return written === null ? undefined : unlessDamaged(() => parseJsonCell<WrittenReport>(written))
}

function hashEvidence(evidence: readonly ReportEvidence[]): string {
  return createHash('sha256')
    .update(JSON.stringify(evidence.map(({ text }) => text)))
    .digest('hex')
}

function toModelName({ pluginId, provider, model }: ModelReference): string {
  return `${pluginId}/${provider}/${model}`
}

/** The location of each passage that a reader may read at a revision. */
export function* listReportPassages(
  { space, revision, denied }: { space: { key: number }; revision: number; denied: readonly string[] },
  nodes: readonly number[],
): Read<{ key: number; id: string; document: string; filename: string; title: string; page: number | null }[]> {
  return yield* sql.all<{
    key: number
    id: string
    document: string
    filename: string
    title: string
    page: number | null
  }>(
    `SELECT n.key, n.id, d.id document, d.filename, v.title, n.page FROM json_each(?) wanted
     CROSS JOIN nodes n ON n.key = wanted.value CROSS JOIN versions v ON v.key = n.version_key
     CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)
       AND d.deleted_at IS NULL AND (d.source_id IS NULL OR d.source_id NOT IN (SELECT value FROM json_each(?)))`,
    [JSON.stringify(nodes), space.key, revision, revision, JSON.stringify(denied)],
  )
}
