import { createHash } from 'node:crypto'
import { newId } from '../../lib/ids.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { CLAIMS_FORMAT } from './claims.js'
import type { FoundDisagreement, NamedPassage } from './messages.js'

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
export function* comparedAfter(spaceKey: number, after: number, limit: number): Read<ClaimsRow[]> {
  return yield* sql.all<ClaimsRow>(
    `SELECT c.version_key, v.doc_key, c.compared, c.claims ${OF_LIVE} AND c.compared = 1 AND c.version_key > ?
     ORDER BY c.version_key LIMIT +?`,
    [spaceKey, after, limit],
  )
}

/** The claims of a version that a space shows; nothing where they were not read yet. */
export function* claimsOfVersion(spaceKey: number, version: number): Read<ClaimsRow | undefined> {
  return yield* sql.get<ClaimsRow>(
    `SELECT c.version_key, v.doc_key, c.compared, c.claims ${OF_LIVE} AND c.version_key = ?`,
    [spaceKey, version],
  )
}

/** Stores what a version claims, inside the caller's transaction; what was found by earlier ones goes. */
export function* writeClaims(spaceKey: number, version: number, claims: Uint8Array): Write<void> {
  if (!(yield* isLive(spaceKey, version))) return
  for (const side of ['one_version', 'other_version'])
    yield* sql.run(`DELETE FROM conflicts WHERE space_key = ? AND ${side} = ?`, [spaceKey, version])
  yield* sql.run(
    `INSERT OR REPLACE INTO conflict_claims (version_key, space_key, format, compared, claims)
     VALUES (?, ?, ${CLAIMS_FORMAT}, 0, ?)`,
    [version, spaceKey, claims],
  )
}

/** A version was compared with all that were compared before. Inside the caller's transaction. */
export function* markCompared(spaceKey: number, version: number): Write<void> {
  yield* sql.run('UPDATE conflict_claims SET compared = 1 WHERE space_key = ? AND version_key = ?', [spaceKey, version])
}

function* isLive(spaceKey: number, version: number): Read<boolean> {
  const text = 'SELECT 1 one FROM versions WHERE space_key = ? AND key = ? AND until_revision IS NULL'
  return (yield* sql.get<{ one: number }>(text, [spaceKey, version])) !== undefined
}

/** A side longer than this is cut: it is a quotation, and the passage is there. */
const MOST_QUOTED = 500

/** Stores what was found, inside the caller's transaction; what is of a version that is not shown any more is left out. */
export function* writeDisagreements(
  spaceKey: number,
  found: readonly FoundDisagreement[],
  nodeOf: (place: { version: number; ordinal: number }) => number | undefined,
  now: number,
): Write<void> {
  for (const { one, other, kind, relation, reason, quotes } of found) {
    const [left, right] = [nodeOf(one), nodeOf(other)]
    if (left === undefined || right === undefined) continue
    if (!(yield* isLive(spaceKey, one.version)) || !(yield* isLive(spaceKey, other.version))) continue
    const [quote, otherQuote] = quotes.map((text) => text.slice(0, MOST_QUOTED).toWellFormed())
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
        left,
        quote ?? '',
        other.version,
        right,
        otherQuote ?? '',
        now,
        hashOf(quotes),
      ],
    )
  }
}

function hashOf(quotes: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(quotes)).digest('base64')
}

/** Passages by version and ordinal, of versions that the space shows. */
export function* passagesAt(
  spaceKey: number,
  places: readonly { version: number; ordinal: number }[],
): Read<(NamedPassage & { node: number })[]> {
  return yield* sql.all<NamedPassage & { node: number }>(
    `SELECT n.key node, n.version_key version, n.ordinal, n.title, n.text
     FROM json_each(?) wanted
     CROSS JOIN versions v ON v.key = wanted.value ->> 0
     CROSS JOIN nodes n INDEXED BY nodes_version ON n.version_key = v.key AND n.ordinal = wanted.value ->> 1
     WHERE v.space_key = ? AND v.until_revision IS NULL`,
    [JSON.stringify(places.map(({ version, ordinal }) => [version, ordinal])), spaceKey],
  )
}
