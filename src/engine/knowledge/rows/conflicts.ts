import { createHash } from 'node:crypto'
import type { SpaceConflict, SpaceConflictsQuery } from '../../../contract/gateway/conflicts.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { type Read, sql, type Write } from '../../store/program.js'
import { sqlCanRead, toReaderParameter } from '../../store/rows/permissions.js'

/** Increased when the same text gives other claims: stored claims are then extracted again. */
const CLAIMS_FORMAT = 2

/** A passage of a version, by its ordinal. */
export interface LocatedPassage {
  version: number
  ordinal: number
  title: string
  text: string
}

/** The position of a passage: version and ordinal. */
type PassagePosition = Pick<LocatedPassage, 'version' | 'ordinal'>

/** Two passages that contradict each other. */
interface DetectedConflict {
  one: PassagePosition
  other: PassagePosition
  kind: string
  relation: string
  reason: string
  quotes: readonly string[]
}

/** SQL: whether version `v` was compared with the others. */
export const IS_COMPARED = `EXISTS (SELECT 1 FROM conflict_claims c
  WHERE c.version_key = v.key AND c.compared = 1 AND c.format = ${CLAIMS_FORMAT})`

export interface ClaimsRow {
  version_key: number
  doc_key: number
  compared: number
  claims: Uint8Array
}

const OF_LIVE = `FROM conflict_claims c CROSS JOIN versions v ON v.key = c.version_key
  WHERE c.space_key = ? AND c.format = ${CLAIMS_FORMAT} AND v.until_revision IS NULL`

/** The claims of versions that were compared, after a version. */
export function* listComparedAfter(spaceKey: number, after: number, limit: number): Read<ClaimsRow[]> {
  return yield* sql.all<ClaimsRow>(
    `SELECT c.version_key, v.doc_key, c.compared, c.claims ${OF_LIVE} AND c.compared = 1 AND c.version_key > ?
     ORDER BY c.version_key LIMIT +?`,
    [spaceKey, after, limit],
  )
}

/** A live version of a space, with its claims if they were extracted before; undefined if it is not live any more. */
export function* findVersionClaims(
  spaceKey: number,
  version: number,
): Read<{ doc_key: number; claims: Uint8Array | null } | undefined> {
  return yield* sql.get<{ doc_key: number; claims: Uint8Array | null }>(
    `SELECT v.doc_key, c.claims FROM versions v
     LEFT JOIN conflict_claims c ON c.version_key = v.key AND c.space_key = v.space_key AND c.format = ${CLAIMS_FORMAT}
     WHERE v.space_key = ? AND v.key = ? AND v.until_revision IS NULL`,
    [spaceKey, version],
  )
}

/** Stores the claims of a version, inside the caller's transaction, and removes conflicts of earlier claims. */
export function* writeClaims(spaceKey: number, version: number, claims: Uint8Array): Write<void> {
  if (!(yield* isLiveVersion(spaceKey, version))) return
  for (const side of ['one_version', 'other_version'])
    yield* sql.run(`DELETE FROM conflicts WHERE space_key = ? AND ${side} = ?`, [spaceKey, version])
  yield* sql.run(
    `INSERT OR REPLACE INTO conflict_claims (version_key, space_key, format, compared, claims)
     VALUES (?, ?, ${CLAIMS_FORMAT}, 0, ?)`,
    [version, spaceKey, claims],
  )
}

/** Marks a version as compared with all versions that were compared before. Inside the caller's transaction. */
export function* markCompared(spaceKey: number, version: number): Write<void> {
  yield* sql.run('UPDATE conflict_claims SET compared = 1 WHERE space_key = ? AND version_key = ?', [spaceKey, version])
}

function* isLiveVersion(spaceKey: number, version: number): Read<boolean> {
  const text = 'SELECT 1 one FROM versions WHERE space_key = ? AND key = ? AND until_revision IS NULL'
  return (yield* sql.get<{ one: number }>(text, [spaceKey, version])) !== undefined
}

/** a longer quotation is truncated: the passage has the full text */
const MAX_QUOTE_LENGTH = 500

/** Stores conflicts, inside the caller's transaction; those of a version that is not live any more are left out. */
export function* insertConflicts(
  spaceKey: number,
  conflicts: readonly DetectedConflict[],
  findNodeKey: (position: PassagePosition) => number | undefined,
  now: number,
): Write<void> {
  for (const { one, other, kind, relation, reason, quotes } of conflicts) {
    const [oneNode, otherNode] = [findNodeKey(one), findNodeKey(other)]
    if (oneNode === undefined || otherNode === undefined) continue
    if (!(yield* isLiveVersion(spaceKey, one.version)) || !(yield* isLiveVersion(spaceKey, other.version))) continue
    const [quote, otherQuote] = quotes.map((text) => text.slice(0, MAX_QUOTE_LENGTH).toWellFormed())
    yield* sql.run(
      `INSERT OR IGNORE INTO conflicts (id, space_key, kind, relation, reason, one_version, one_node, one_quote,
         other_version, other_node, other_quote, created_at, pair)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        newId(),
        spaceKey,
        kind,
        relation,
        reason,
        one.version,
        oneNode,
        quote ?? '',
        other.version,
        otherNode,
        otherQuote ?? '',
        now,
        hashQuotes(quotes),
      ],
    )
  }
}

function hashQuotes(quotes: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(quotes)).digest('base64')
}

/** Passages by version and ordinal, of live versions. */
export function* listPassagesAt(
  spaceKey: number,
  positions: readonly PassagePosition[],
): Read<(LocatedPassage & { node: number })[]> {
  return yield* sql.all<LocatedPassage & { node: number }>(
    `SELECT n.key node, n.version_key version, n.ordinal, n.title, n.text
     FROM json_each(?) wanted
     CROSS JOIN versions v ON v.key = CAST(wanted.value ->> 0 AS INTEGER)
     CROSS JOIN nodes n INDEXED BY nodes_version ON n.version_key = v.key AND n.ordinal = CAST(wanted.value ->> 1 AS INTEGER)
     WHERE v.space_key = ? AND v.until_revision IS NULL`,
    [JSON.stringify(positions.map(({ version, ordinal }) => [version, ordinal])), spaceKey],
  )
}

/** A row of `conflicts`. */
export interface ConflictRow {
  key: number
  id: string
  kind: SpaceConflict['kind']
  relation: SpaceConflict['relation']
  reason: string
  verdict: string | null
  created_at: number
  one_quote: string
  other_quote: string
  one_node: number
  other_node: number
}

/** One side of a conflict in a listing. */
export interface ConflictSideRow {
  key: number
  id: string
  document_id: string
  version: number
  filename: string
  title: string
  page: number | null
  section: string
  stored_at: number
}

/** Number of documents with an open compilation job. */
export function* countPendingDocuments(spaceKey: number): Read<number> {
  const text =
    'SELECT count(DISTINCT doc_key) n FROM jobs INDEXED BY jobs_open WHERE space_key = ? AND completed_at IS NULL'
  return (yield* sql.get<{ n: number }>(text, [spaceKey]))?.n ?? 0
}

/** SQL: joins the version and document of a side, both visible. */
const joinSide = (side: 'one' | 'other'): string =>
  `CROSS JOIN versions v_${side} ON v_${side}.key = c.${side}_version AND v_${side}.until_revision IS NULL
   CROSS JOIN documents d_${side} ON d_${side}.key = v_${side}.doc_key AND d_${side}.deleted_at IS NULL`

/** Conflicts before one, newest first, if the caller may read both documents; one more than `limit`. */
export function* listConflictsBefore(
  spaceKey: number,
  caller: Caller,
  { kind, documentId, includeDifferences, limit }: SpaceConflictsQuery,
  before: number,
): Read<ConflictRow[]> {
  const conditions = [
    includeDifferences === 'true' ? '' : "AND c.relation = 'contradiction'",
    kind === undefined ? '' : 'AND c.kind = ?',
    documentId === undefined ? '' : 'AND (d_one.id = ? OR d_other.id = ?)',
  ]
  const reader = toReaderParameter(caller)
  return yield* sql.all<ConflictRow>(
    `SELECT c.* FROM conflicts c ${joinSide('one')} ${joinSide('other')}
     WHERE c.space_key = ? AND c.key < ? ${conditions.join(' ')}
       AND ${sqlCanRead('d_one.source_id')} AND ${sqlCanRead('d_other.source_id')}
     ORDER BY c.key DESC LIMIT +?`,
    [
      spaceKey,
      before,
      ...(kind === undefined ? [] : [kind]),
      ...(documentId === undefined ? [] : [documentId, documentId]),
      reader,
      reader,
      limit + 1,
    ],
  )
}

/** A passage as a side of a conflict. */
export function* findConflictSide(spaceKey: number, node: number): Read<ConflictSideRow | undefined> {
  return yield* sql.get<ConflictSideRow>(
    `SELECT n.key, n.id, d.id document_id, v.version, d.filename, v.title, n.page, n.section, v.created_at stored_at
     FROM nodes n CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND n.key = ?`,
    [spaceKey, node],
  )
}

/** A contradiction that no model has judged. */
export type UnjudgedConflict = Pick<ConflictRow, 'key' | 'one_quote' | 'other_quote'>

/** Contradictions that no model has judged, after one. */
export function* listUnjudgedAfter(spaceKey: number, after: number, limit: number): Read<UnjudgedConflict[]> {
  return yield* sql.all<UnjudgedConflict>(
    `SELECT key, one_quote, other_quote FROM conflicts
     WHERE space_key = ? AND relation = 'contradiction' AND verdict IS NULL AND key > ? ORDER BY key LIMIT +?`,
    [spaceKey, after, limit],
  )
}

/** A model's verdict on a pair of sentences, if there is one. */
export function* findVerdict(spaceKey: number, pair: string): Read<string | undefined> {
  return (yield* sql.get<{ verdict: string }>(
    'SELECT verdict FROM conflict_verdicts WHERE space_key = ? AND pair = ?',
    [spaceKey, pair],
  ))?.verdict
}

/** Stores a model's verdict on a pair of sentences, inside the caller's transaction. */
export function* storeVerdict(spaceKey: number, pair: string, verdict: 'compatible' | 'contradict'): Write<void> {
  yield* sql.run('INSERT OR REPLACE INTO conflict_verdicts (space_key, pair, verdict) VALUES (?, ?, ?)', [
    spaceKey,
    pair,
    verdict,
  ])
}

/** Sets a model's verdict on a conflict, inside the caller's transaction. */
export function* setConflictVerdict(spaceKey: number, key: number, verdict: string): Write<void> {
  yield* sql.run('UPDATE conflicts SET verdict = ?, relation = ? WHERE space_key = ? AND key = ?', [
    verdict,
    verdict === 'compatible' ? 'other' : 'contradiction',
    spaceKey,
    key,
  ])
}
