import type { Database } from '../storage/database.js'

/** A scope entry that lets everybody of the tenant see a source. */
const EVERYBODY = '*'

/**
 * Of nodes, those whose source's `permissionScope` leaves the asking subject out. A source without a scope is open to
 * its tenant, and so are documents without a source.
 *
 * @param keys node keys of the space
 */
export function deniedNodes(db: Database, spaceKey: number, subject: string, keys: readonly number[]): Set<number> {
  const denied = deniedSources(db, spaceKey, subject)
  if (denied.length === 0 || keys.length === 0) return new Set()
  const rows = db.all<{ key: number }>(
    `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN documents d ON d.key = n.doc_key WHERE d.source_id IN (SELECT value FROM json_each(?))`,
    ...[JSON.stringify(keys), JSON.stringify(denied)],
  )
  return new Set(rows.map(({ key }) => key))
}

/** Ids of the sources that a subject may not read. */
export function deniedSources(db: Database, spaceKey: number, subject: string): string[] {
  const restricted = db.all<{ id: string; permission_scope: string }>(
    "SELECT id, permission_scope FROM sources WHERE space_key = ? AND permission_scope <> '[]'",
    spaceKey,
  )
  return restricted.flatMap(({ id, permission_scope }) => {
    const scope: string[] = JSON.parse(permission_scope)
    return scope.includes(subject) || scope.includes(EVERYBODY) ? [] : [id]
  })
}
