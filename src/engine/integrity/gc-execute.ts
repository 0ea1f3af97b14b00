import { setImmediate as turn } from 'node:timers/promises'
import type { GcCandidate, GcExecuted, IntegrityTarget } from '../../contract/gateway/integrity.js'
import { isUuid } from '../../lib/ids.js'
import { giveUpExpired, moveCommit } from '../rows/staged-commits.js'
import { dropUnpublished } from '../rows/versions.js'
import type { IndexBatch } from '../search/ports.js'
import type { Database } from '../storage/database.js'
import { ObjectStore } from '../storage/objects.js'
import { type Read, sql } from '../storage/program.js'
import { isKnown } from './audience.js'
import type { Scan } from './findings.js'
import { abandonedVersions, supersededVectorSpaces, targetName, traceCutoff } from './gc-candidates.js'
import { type ExpiredCommit, expiredCommitRows, isCollectable, isLeftover, isNamed } from './raw-objects.js'

const VECTORS_A_TRANSACTION = 2000
/** Ids that differ in their last digit only. */
const SIBLINGS = 16
/** Outcomes are remembered for so long; a dry run is not that old when it is executed. */
const REMEMBER_MS = 30 * 24 * 60 * 60 * 1000

/** A removal that is under way, written down before anything is unlinked and finished by whoever repeats it. */
interface Ticket {
  begin(): void
  end(): void
  forget(): void
}

/**
 * Removes candidates. What a client sends only says where to look: each is checked again against rows and files, in the
 * transaction that lets go of it, so a candidate that is forged or out of date removes nothing.
 */
export async function executeCandidates(scan: Scan, candidates: GcCandidate[]): Promise<GcExecuted> {
  const items: GcExecuted['items'] = []
  for (const candidate of candidates) {
    const gone = scan.context.db.now(isKnown(scan, candidate.target)) && (await removeOne(scan, candidate))
    items.push({
      objectKey: nameOf(candidate.target),
      idempotencyKey: candidate.idempotencyKey,
      status: gone ? 'deleted' : 'skipped-active-lease',
    })
    await turn()
  }
  const deleted = items.filter((item) => item.status === 'deleted').length
  return { tenantId: scan.space.tenant, deleted, skipped: items.length - deleted, items }
}

function nameOf({ objectKey, parseArtifactId, virtualPath, id, type }: IntegrityTarget): string {
  return objectKey ?? id ?? parseArtifactId ?? virtualPath ?? type
}

/** @returns whether it is gone, now or by an earlier call with the same key */
async function removeOne(scan: Scan, candidate: GcCandidate): Promise<boolean> {
  const { context, space, now } = scan
  const { db } = context
  const { target } = candidate
  const key = [space.key, candidate.idempotencyKey, targetName(target)] as const
  const known = db.now(
    sql.getAsStored<{ state: 'deleting' | 'deleted' }>(
      'SELECT state FROM gc_outcomes WHERE space_key = ? AND idempotency_key = ? AND target = ?',
      key,
    ),
  )?.state
  if (known === 'deleted') return true
  if (context.leases.holds(space.key, [target.objectKey, target.id, target.documentAssetId, target.virtualPath]))
    return false
  function* put(state: 'deleting' | 'deleted') {
    return yield* sql.run(
      'INSERT OR REPLACE INTO gc_outcomes (space_key, idempotency_key, target, state, object_key, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      [...key, state, nameOf(target), now],
    )
  }
  const ticket: Ticket = {
    begin: () => db.now(put('deleting')),
    end: () => {
      db.now(put('deleted'))
      db.now(sql.run('DELETE FROM gc_outcomes WHERE created_at < ?', [now - REMEMBER_MS]))
    },
    forget: () =>
      db.now(sql.run('DELETE FROM gc_outcomes WHERE space_key = ? AND idempotency_key = ? AND target = ?', key)),
  }
  switch (candidate.candidateType) {
    case 'staged-object':
      return removeObject(scan, target.objectKey ?? '', ticket, known === 'deleting')
    case 'failed-commit':
      return collectCommit(scan, target.id ?? '', ticket)
    case 'parse-artifact':
      return removeVersion(scan, target.parseArtifactId ?? target.id ?? '', ticket)
    case 'artifact-segment':
      return removeStrayNode(scan, target.id ?? '', ticket)
    case 'index-projection':
      return removeVectorSpace(scan, target.id ?? '', ticket)
    case 'answer-trace':
      return removeTrace(scan, target.id ?? '', ticket)
  }
}

const NO_TICKET: Ticket = { begin() {}, end() {}, forget() {} }

/** Removes an orphaned object or temporary file. */
export async function removeObject(
  scan: Scan,
  objectKey: string,
  ticket: Ticket = NO_TICKET,
  begun = false,
): Promise<boolean> {
  const { context, space, now } = scan
  const { db, objects } = context
  if (objectKey.startsWith('tmp/')) return removeStaged(scan, objectKey.slice('tmp/'.length), ticket, begun)
  if (!ObjectStore.isKeyOf(space.tenant, objectKey)) return false
  const file = await objects.describe(objectKey)
  if (file === undefined) return begun && finish(db, ticket)
  const ours = await db.write(function* () {
    if (!(yield* isCollectable(context, { key: objectKey, ...file }, now))) return false
    ticket.begin()
    return true
  })
  if (!ours) return false
  // an upload of the same bytes may have begun since: its row is looked for in the very turn of the removal
  await objects.remove(objectKey, () => db.now(isNamed(objectKey, now)))
  if ((await objects.describe(objectKey)) === undefined) return finish(db, ticket)
  await db.write(() => ticket.forget())
  return false
}

async function removeStaged(scan: Scan, id: string, ticket: Ticket, begun: boolean): Promise<boolean> {
  const { db, objects } = scan.context
  const file = (await objects.listStaged()).find((staged) => staged.id === id)
  if (file === undefined) return begun && finish(db, ticket)
  const ours = await db.write(function* () {
    if (!(yield* isLeftover(scan.space.key, file, scan.now))) return false
    ticket.begin()
    return true
  })
  if (!ours) return false
  await objects.discard(id)
  return finish(db, ticket)
}

async function finish(db: Database, ticket: Ticket): Promise<true> {
  await db.write(() => ticket.end())
  return true
}

/** failed-terminal, canceled → gc-pending → bytes gone → gc-complete. */
export async function collectCommit(scan: Scan, id: string, ticket: Ticket = NO_TICKET): Promise<boolean> {
  const { context, space, now } = scan
  const { db, objects } = context
  if (!isUuid(id)) return false
  const row = await db.write(function* () {
    const found = yield* findExpired(space.key, id, now)
    if (found === undefined) return undefined
    const status =
      found.status === 'failed-retryable' && (yield* giveUpExpired(id, now)) ? 'failed-terminal' : found.status
    const pending =
      status === 'gc-pending' ||
      ((status === 'failed-terminal' || status === 'canceled') && (yield* moveCommit(id, status, 'gc-pending')))
    if (!pending) return undefined
    ticket.begin()
    return found
  })
  if (row === undefined) return false
  await objects.discard(id)
  const key = row.published_object_key
  if (key !== null && ObjectStore.isKeyOf(space.tenant, key)) await objects.remove(key, () => db.now(isNamed(key, now)))
  await db.write(function* () {
    yield* moveCommit(id, 'gc-pending', 'gc-complete')
    ticket.end()
  })
  return true
}

/** The expired commit of this id, if it is one. */
function* findExpired(spaceKey: number, id: string, now: number): Read<ExpiredCommit | undefined> {
  // the place just before the id in the list's order
  const before = id.slice(0, -1)
  return (yield* expiredCommitRows(spaceKey, before, now, SIBLINGS)).find((row) => row.id === id)
}

async function removeVersion(scan: Scan, artifactId: string, ticket: Ticket): Promise<boolean> {
  const { context, space } = scan
  const { db, indexes, leases } = context
  if (leases.isRead(space.key)) return false
  const outcome = await db.write(function* () {
    const row = yield* sql.getAsStored<{ key: number }>(
      'SELECT key FROM versions WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NULL AND artifact_id = ?',
      [space.key, artifactId],
    )
    const abandoned = row && (yield* abandonedVersions(space.key, row.key - 1, 1)).find(({ key }) => key === row.key)
    if (abandoned === undefined) return undefined
    const dropped: IndexBatch | undefined = yield* dropUnpublished(abandoned.doc_key, abandoned.version)
    ticket.end()
    return { dropped }
  })
  if (outcome?.dropped !== undefined) await indexes.apply(space.id, outcome.dropped)
  return outcome !== undefined
}

async function removeStrayNode(scan: Scan, id: string, ticket: Ticket): Promise<boolean> {
  const { context, space } = scan
  const { db } = context
  if (context.leases.isRead(space.key)) return false
  const node = db.now(
    sql.getAsStored<{ key: number }>('SELECT key FROM nodes WHERE space_key = ? AND id = ?', [space.key, id]),
  )
  return node !== undefined && (await removeStrayNodes(scan, node.key, node.key, ticket)) > 0
}

/** Removes passages without a version, from rows and indexes. @returns how many */
export async function removeStrayNodes(
  { context, space }: Scan,
  first: number,
  last: number,
  ticket: Ticket = NO_TICKET,
): Promise<number> {
  const { db, indexes } = context
  const gone = await db.write(function* () {
    const rows = yield* sql.allAsStored<{ key: number }>(
      `SELECT key FROM nodes WHERE space_key = ? AND key BETWEEN ? AND ?
         AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.key = nodes.version_key)`,
      [space.key, first, last],
    )
    let seq = 0
    for (const { key } of rows) {
      yield* sql.run(
        'DELETE FROM vectors WHERE node_key = ? AND vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)',
        [key, space.key],
      )
      yield* sql.run('DELETE FROM nodes WHERE key = ?', [key])
      seq = (yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, -1, ?, ?)', [
        space.key,
        key,
        key,
      ])).key
    }
    if (rows.length > 0) ticket.end()
    return { seq, remove: rows.map(({ key }) => key) }
  })
  if (gone.remove.length > 0) await indexes.apply(space.id, { ...gone, add: [] })
  return gone.remove.length
}

async function removeVectorSpace(scan: Scan, id: string, ticket: Ticket): Promise<boolean> {
  const { context, space } = scan
  const { db, leases, lsa } = context
  if (leases.isRead(space.key)) return false
  for (;;) {
    const left = await db.write(function* () {
      const old = (yield* supersededVectorSpaces(space.key)).find((row) => row.id === id)
      if (old === undefined) return undefined
      const { changes } = yield* sql.run(
        `DELETE FROM vectors WHERE vector_space = ? AND node_key IN
           (SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?)`,
        [old.key, old.key, VECTORS_A_TRANSACTION],
      )
      if (changes > 0) return changes
      yield* sql.run("DELETE FROM vector_spaces WHERE key = ? AND state = 'superseded'", [old.key])
      ticket.end()
      return 0
    })
    if (left === undefined) return false
    if (left > 0) continue
    lsa.unload(id)
    return true
  }
}

async function removeTrace(scan: Scan, id: string, ticket: Ticket): Promise<boolean> {
  const { context, space, now } = scan
  const { db } = context
  return db.write(function* () {
    const old = yield* sql.getAsStored<{ id: string }>(
      'SELECT id FROM traces WHERE space_key = ? AND id = ? AND created_at < ?',
      [space.key, id, yield* traceCutoff(space.key, now)],
    )
    if (old === undefined) return false
    yield* sql.run('DELETE FROM evidence_bundles WHERE trace_id = ? AND space_key = ?', [id, space.key])
    yield* sql.run('DELETE FROM traces WHERE id = ? AND space_key = ?', [id, space.key])
    ticket.end()
    return true
  })
}
