import { KsError } from '../../contract/errors.js'
import type { EvidenceState } from '../../contract/gateway/queries.js'
import type { LostReason, ReplayedQuery, SnapshotReplay } from '../../contract/gateway/snapshots.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { admit } from '../query/admission.js'
import { freshnessOf } from '../query/freshness.js'
import type { QueryGate } from '../query/gate.js'
import { judge } from '../query/judge.js'
import { resolveMode } from '../query/mode.js'
import { type QueryShared, retrieveInMode } from '../query/stages.js'
import { knownDocuments } from '../rows/documents.js'
import type { SpaceRow } from '../rows/spaces.js'
import { findSpace } from '../rows/spaces.js'
import type { Snapshot } from '../spaces/snapshot.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { TraceRecorder } from '../traces/recorder.js'
import { evidenceOf, type KeptEvidence, type KeptQuery, referenceOf } from './recorded.js'
import { findSnapshot, keptQueries } from './snapshots.js'

/** A call stops then and says where to go on; the query that runs is finished or given up soon after. */
const CALL_MILLISECONDS = 30_000
const QUERY_MILLISECONDS = 60_000

type Shared = QueryShared & { gate: QueryGate }

/**
 * Runs the recorded queries again, all on the publication that is the head now, with the same code that answers queries;
 * no answer is written, no trace is kept and no model is asked for the mode. A query that cannot run says why.
 *
 * @param from first query to run, 0 for the whole
 * @throws KsError `not-found`, `busy`
 */
export async function replaySnapshot(
  context: EngineContext,
  shared: Shared,
  caller: Caller,
  id: string,
  from: number,
): Promise<SnapshotReplay> {
  const { db } = context
  const row = db.now(findSnapshot(caller, id))
  const space = db.now(findSpace(caller.tenant, row.space_id))
  const recorded = db.now(keptQueries(row.id))
  const head = snapshotOf(space)
  const lease = context.leases.acquire({
    spaceKey: space.key,
    sessionId: newId(),
    type: 'read',
    targetType: 'publication',
    targetId: head.publicationId,
    virtualPath: '/evidence',
  })
  lease.keepAlive()
  const deadline = performance.now() + CALL_MILLISECONDS
  const queries: ReplayedQuery[] = []
  try {
    for (const kept of recorded.slice(from)) {
      if (queries.length > 0 && performance.now() > deadline) break
      queries.push(await replayOne(context, shared, caller, { space, head }, kept))
    }
  } finally {
    lease.release()
  }
  const sum = (key: 'added' | 'lost' | 'kept') => queries.reduce((total, query) => total + query[key].length, 0)
  const next = from + queries.length
  return {
    snapshotId: row.id,
    knowledgeSpaceId: row.space_id,
    replayedAt: new Date(context.now()).toISOString(),
    publicationId: head.publicationId,
    summary: {
      queries: queries.length,
      failed: queries.filter(({ error }) => error !== undefined).length,
      added: sum('added'),
      lost: sum('lost'),
      kept: sum('kept'),
    },
    queries,
    ...(next < recorded.length ? { nextFrom: next } : {}),
  }
}

function snapshotOf(space: SpaceRow): Snapshot {
  return {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
}

interface Today {
  state: EvidenceState
  evidence: KeptEvidence[]
}

async function replayOne(
  context: EngineContext,
  shared: Shared,
  caller: Caller,
  at: { space: SpaceRow; head: Snapshot },
  kept: KeptQuery,
): Promise<ReplayedQuery> {
  const base = { traceId: kept.traceId, query: kept.query, mode: kept.mode }
  try {
    const today = await searchToday(context, shared, caller, at, kept)
    return {
      ...base,
      evidenceState: { recorded: kept.evidenceState, now: today.state },
      ...context.db.now(compare(context.db, caller, at, kept.evidence, today.evidence)),
    }
  } catch (error) {
    if (!(error instanceof KsError) || error.code === 'busy') throw error
    const none = { added: [], lost: [], kept: [] }
    return { ...base, evidenceState: { recorded: kept.evidenceState }, ...none, error: error.message }
  }
}

async function searchToday(
  context: EngineContext,
  shared: Shared,
  caller: Caller,
  at: { space: SpaceRow; head: Snapshot },
  kept: KeptQuery,
): Promise<Today> {
  const { db } = context
  const live = db.now(knownDocuments(caller, at.space.key, kept.activeDocumentIds))
  const activeDocumentIds = kept.activeDocumentIds.filter((id) => live.has(id))
  // none of the documents it was limited to is left: asking all others would be another query
  if (kept.activeDocumentIds.length > 0 && activeDocumentIds.length === 0)
    return { state: 'not-enough-evidence', evidence: [] }
  const { query, mode, activeEntityIds } = kept
  const body = { knowledgeSpaceId: at.space.id, query, mode, activeDocumentIds, activeEntityIds }
  const admitted = { ...context.db.now(admit(context, caller, body)), snapshot: at.head }
  const limit = new AbortController()
  const timer = setTimeout(
    () => limit.abort(new KsError('unavailable', `the query took longer than ${QUERY_MILLISECONDS} ms`)),
    QUERY_MILLISECONDS,
  )
  timer.unref()
  const { signal } = limit
  const leave = await shared.gate.enter(caller.tenant, signal)
  try {
    const route = await resolveMode(context, admitted.space, admitted.profile, body, signal)
    const recorder = new TraceRecorder()
    const request = { body, query: kept.searched ?? query, admitted, route, recorder, signal }
    const { retrieved } = await retrieveInMode(context, shared, request)
    const passages = retrieved.ranked.map(({ passage }) => passage)
    const freshness = db.now(freshnessOf(passages, Date.now()))
    const bundle = judge({ query, traceId: newId(), freshness, topK: admitted.profile.topK }, retrieved)
    return { state: bundle.state, evidence: evidenceOf(bundle) }
  } finally {
    clearTimeout(timer)
    leave()
  }
}

/** A passage is kept when its node is there again, or its very words in the same file, which may have a new version. */
function* compare(
  db: Database,
  caller: Caller,
  { space, head }: { space: SpaceRow; head: Snapshot },
  before: readonly KeptEvidence[],
  today: readonly KeptEvidence[],
): Read<Pick<ReplayedQuery, 'added' | 'lost' | 'kept'>> {
  const live = yield* knownDocuments(
    caller,
    space.key,
    [...before, ...today].map(({ documentAssetId }) => documentAssetId),
  )
  const known = new Map<KeptEvidence, number>()
  const taken = new Set<number>()
  for (const same of [sameNode, sameWords])
    for (const item of today) {
      if (known.has(item)) continue
      const index = before.findIndex((old, place) => !taken.has(place) && same(old, item))
      if (index < 0) continue
      known.set(item, index)
      taken.add(index)
    }
  const references = today.map((item, index) => ({ item, reference: referenceOf(item, index, live) }))
  return {
    added: references.filter(({ item }) => !known.has(item)).map(({ reference }) => reference),
    lost: before.flatMap((item, index) =>
      taken.has(index)
        ? []
        : [{ ...referenceOf(item, index, live), reason: db.now(reasonOf(space.key, head.headRevision, item, live)) }],
    ),
    kept: references.flatMap(({ item, reference }) => {
      const index = known.get(item)
      const old = index === undefined ? undefined : before[index]
      return index === undefined || old === undefined ? [] : [{ ...reference, recorded: referenceOf(old, index, live) }]
    }),
  }
}

function sameNode(a: KeptEvidence, b: KeptEvidence): boolean {
  return a.nodeId === b.nodeId
}

function sameWords(a: KeptEvidence, b: KeptEvidence): boolean {
  return a.textHash === b.textHash && (a.documentAssetId === b.documentAssetId || a.filename === b.filename)
}

function* reasonOf(
  spaceKey: number,
  revision: number,
  { nodeId, documentAssetId }: KeptEvidence,
  live: ReadonlySet<string>,
): Read<LostReason> {
  if (!live.has(documentAssetId)) return 'document-deleted'
  const visible = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM nodes JOIN versions ON versions.key = nodes.version_key
     WHERE nodes.id = ? AND nodes.space_key = ? AND versions.from_revision <= ?
       AND (versions.until_revision IS NULL OR versions.until_revision > ?)`,
    [nodeId, spaceKey, revision, revision],
  )
  return visible === undefined ? 'passage-gone' : 'not-retrieved'
}
