import { KsError } from '../../contract/errors.js'
import type { EvidenceState } from '../../contract/gateway/queries.js'
import type { LostReason, ReplayedQuery, SnapshotReplay } from '../../contract/gateway/snapshots.js'
import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { admit } from '../query/admission.js'
import { assembleEvidence } from '../query/assemble-evidence.js'
import { freshnessOf } from '../query/freshness.js'
import type { QueryGate } from '../query/gate.js'
import { resolveMode } from '../query/mode.js'
import { type QueryShared, retrieveInMode } from '../query/stages.js'
import { knownDocuments } from '../rows/documents.js'
import { isNodeShown } from '../rows/snapshots.js'
import type { SpaceRow } from '../rows/spaces.js'
import { findSpace } from '../rows/spaces.js'
import type { Snapshot } from '../spaces/snapshot.js'
import type { Read } from '../storage/program.js'
import { TraceRecorder } from '../traces/recorder.js'
import { evidenceOf, type KeptEvidence, type KeptQuery, referenceOf } from './recorded.js'
import { findSnapshot, keptQueries } from './snapshots.js'

/** A call stops after this time and returns where to continue; the running query ends soon after. */
const CALL_MILLISECONDS = 30_000
const QUERY_MILLISECONDS = 60_000

type Shared = QueryShared & { gate: QueryGate }

/**
 * Runs the recorded queries again on the current publication, with the code that answers queries. It writes no answer
 * and no trace, and calls no model for the mode. A query that cannot run reports why.
 *
 * @param from first query to run, 0 for all
 * @throws KsError `not-found`, `busy`
 */
export async function replaySnapshot(
  context: EngineContext,
  shared: Shared,
  caller: Caller,
  id: string,
  from: number,
): Promise<SnapshotReplay> {
  const { row, space, recorded } = await context.db.read(recordedIn(caller, id))
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

function* recordedIn(caller: Caller, id: string) {
  const row = yield* findSnapshot(caller, id)
  return {
    row,
    space: yield* findSpace(caller.tenant, row.space_id),
    recorded: yield* keptQueries(caller.tenant, row.id),
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
      ...(await context.db.read(compare(caller, at, kept.evidence, today.evidence))),
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
  const asked = await db.read(askAgain(context, caller, at, kept))
  // No document that it was limited to exists: searching all others would be a different query.
  if (asked === undefined) return { state: 'not-enough-evidence', evidence: [] }
  const { body, admitted } = asked
  const { query } = body
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
    const freshness = await db.read(freshnessOf(passages, Date.now()))
    const bundle = assembleEvidence({ query, traceId: newId(), freshness, topK: admitted.profile.topK }, retrieved)
    return { state: bundle.state, evidence: evidenceOf(bundle) }
  } finally {
    clearTimeout(timer)
    leave()
  }
}

/** @returns undefined when none of the documents that a query was limited to exists */
function* askAgain(
  context: EngineContext,
  caller: Caller,
  at: { space: SpaceRow; head: Snapshot },
  { query, mode, activeDocumentIds: before, activeEntityIds, filter }: KeptQuery,
) {
  const live = yield* knownDocuments(caller, at.space.key, before)
  const activeDocumentIds = before.filter((id) => live.has(id))
  if (before.length > 0 && activeDocumentIds.length === 0) return undefined
  const body = {
    knowledgeSpaceId: at.space.id,
    query,
    mode,
    activeDocumentIds,
    activeEntityIds,
    ...defined({ filter }),
  }
  return { body, admitted: { ...(yield* admit(context, caller, body)), snapshot: at.head } }
}

/** A passage is kept when its node is found again, or the same text in the same file, which may have a new version. */
function* compare(
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
  const lost: ReplayedQuery['lost'] = []
  for (const [index, item] of before.entries()) {
    if (taken.has(index)) continue
    const reason = yield* reasonOf(space.key, head.headRevision, item, live)
    lost.push({ ...referenceOf(item, index, live), reason })
  }
  return {
    added: references.filter(({ item }) => !known.has(item)).map(({ reference }) => reference),
    lost,
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
  return (yield* isNodeShown(spaceKey, nodeId, revision)) ? 'not-retrieved' : 'passage-gone'
}
