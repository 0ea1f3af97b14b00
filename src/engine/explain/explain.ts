import { KsError } from '../../contract/errors.js'
import type { ExplainBody, ExplainVerdict, Explanation } from '../../contract/gateway/explain.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { type AdmittedQuery, admit } from '../query/admission.js'
import { embedForFast, type FastSearchRecord, retrieveFast } from '../query/fast.js'
import type { QueryGate } from '../query/gate.js'
import type { ConcreteMode } from '../query/mode.js'
import { selectRelevantPassages } from '../query/relevance.js'
import type { QueryShared } from '../query/stages.js'
import type { DocumentRow } from '../rows/documents.js'
import { findSpace } from '../rows/spaces.js'
import { parseJsonCell } from '../storage/readable.js'
import { findExplainedDocument, findPublishedVersion } from './document.js'
import { findHint } from './hint.js'
import { explainText, explainVectors, judgeCandidacy, probeIndexes } from './index-stages.js'
import { explainMode } from './other-mode.js'
import { type DocumentPassages, explainTerms, readPassages } from './passages.js'
import { explainEvidence, explainRanking } from './ranking.js'
import { addFailed, addNote, addPassed, runDatabasePart, type Stages } from './stages.js'
import { explainRecorded, isReproduced, type RecordedTrace, readTrace } from './trace.js'

/** Timeout: the searches are those of a query. */
const EXPLANATION_TIMEOUT_MS = 60_000
const TIMEOUT_MESSAGE = 'the explanation took longer than its limit of 60 s'
const MAX_PASSAGE_CHARACTERS = 400

type ExplainShared = QueryShared & { gate: QueryGate }

/**
 * Explains why a document is or is not in the evidence of a query: the query runs again with the code that answers it,
 * and its intermediate results are observed. The stages are those of mode fast; another mode runs in addition, for its
 * result.
 *
 * @throws KsError as a query does, and `not-found` for a trace that is not the caller's
 */
export async function explainQuery(
  context: EngineContext,
  shared: ExplainShared,
  caller: Caller,
  spaceId: string,
  body: ExplainBody,
): Promise<Explanation> {
  const { db } = context
  const { space, recorded, query, admitted } = await db.read(admitExplainedQuery(context, caller, spaceId, body))
  const stages: Stages = { list: [], verdict: undefined }
  const limit = new AbortController()
  const { signal } = limit
  const timer = setTimeout(() => limit.abort(new KsError('unavailable', TIMEOUT_MESSAGE)), EXPLANATION_TIMEOUT_MS)
  timer.unref()
  const leave = await shared.gate.enter(caller.tenant, signal)
  // Like a query, keeps deleted content from being purged meanwhile.
  const lease = context.leases.acquire({
    spaceKey: space.key,
    sessionId: newId(),
    type: 'read',
    targetType: 'publication',
    targetId: admitted.snapshot.publicationId,
    virtualPath: '/evidence',
  })
  try {
    const { document, trace } = await runDatabasePart(db, stages, function* (own) {
      const found = yield* findExplainedDocument(caller, space, body, own)
      if (recorded === undefined) return { document: found, trace: undefined }
      return { document: found, trace: yield* explainRecorded(space, recorded, found, body.quote, own) }
    })
    const recordedVerdict = stages.verdict
    const now: Stages = { list: stages.list, verdict: undefined }
    const requestedMode: RequestedMode = recorded?.row.mode ?? body.mode ?? admitted.profile.defaultMode
    noteMode(requestedMode, recorded !== undefined, now)
    const mode =
      recorded !== undefined || requestedMode === 'fast' || requestedMode === 'auto' ? undefined : requestedMode
    const request = { query, quote: body.quote, mode, activeDocumentIds: body.activeDocumentIds, signal }
    const run =
      document === undefined ? undefined : await runStages(context, shared, admitted, { ...request, document }, now)
    const judged =
      trace === undefined ? { verdict: now.verdict } : judgeTrace(recordedVerdict, now.verdict, recorded, run)
    const verdict = judged.verdict ?? recordedVerdict ?? 'unknowable'
    return {
      query,
      verdict,
      ...(trace === undefined || now.verdict === undefined ? {} : { verdictNow: now.verdict }),
      document: describe(body, document),
      ...(run?.passage === undefined ? {} : { passage: run.passage }),
      mode: 'fast',
      stages: stages.list,
      hint: findHint(verdict, stages.list),
      ...(trace === undefined ? {} : { trace: { ...trace, ...computeReproduced(recorded, run) } }),
    }
  } finally {
    clearTimeout(timer)
    lease.release()
    leave()
  }
}

/** Admits the query to explain, from a trace or as it would run now. */
function* admitExplainedQuery(context: EngineContext, caller: Caller, spaceId: string, body: ExplainBody) {
  const space = yield* findSpace(caller.tenant, spaceId)
  const recorded = body.traceId === undefined ? undefined : yield* readTrace(caller, space, body.traceId)
  const query = recorded?.row.query ?? body.query
  if (query === undefined) throw new KsError('invalid-request', 'query or traceId must be given')
  const admitted = yield* admit(context, caller, {
    knowledgeSpaceId: space.id,
    query,
    activeDocumentIds: recorded?.activeDocumentIds ?? body.activeDocumentIds,
    activeEntityIds: [],
    ...(recorded === undefined && body.mode !== undefined ? { mode: body.mode } : {}),
  })
  return { space, recorded, query, admitted }
}

function describe(body: ExplainBody, document: DocumentRow | undefined): Explanation['document'] {
  if (document !== undefined) return { id: document.id, filename: document.filename, version: document.version }
  return body.documentId === undefined ? { filename: body.path } : { id: body.documentId }
}

type RequestedMode = ConcreteMode | 'auto'

/** Notes modes that cannot run here: auto would call a model, and a trace has already run. */
function noteMode(mode: RequestedMode, isTrace: boolean, stages: Stages): void {
  const rest = 'the following stages are those of mode fast'
  if (mode === 'auto')
    addNote(stages, 'mode', 'fast-only', `with mode auto a model chooses the mode; ${rest}`, { mode })
  else if (mode !== 'fast' && isTrace)
    addNote(stages, 'mode', 'fast-only', `the recorded query ran in mode ${mode}; ${rest}`, { mode })
}

interface StageRun {
  passage?: NonNullable<Explanation['passage']>
  /** ids of the nodes in the evidence, in order */
  shown?: string[]
}

interface StageRequest {
  query: string
  document: DocumentRow
  quote: string | undefined
  /** mode that runs in addition to fast */
  mode: Exclude<ConcreteMode, 'fast'> | undefined
  activeDocumentIds: string[]
  signal: AbortSignal
}

/** Runs the stages of an existing document, in the order of the query. */
async function runStages(
  context: EngineContext,
  shared: ExplainShared,
  admitted: AdmittedQuery,
  request: StageRequest,
  stages: Stages,
): Promise<StageRun> {
  const { db } = context
  const { query, document, quote, mode, signal } = request
  const version = await runDatabasePart(db, stages, (own) => findPublishedVersion(admitted.space, document, own))
  if (version === undefined || !isInScope(admitted, document, stages)) return {}
  const embedding = await embedForFast(context, admitted, query, signal)
  let record: FastSearchRecord | undefined
  const retrieved = await retrieveFast(context, shared.cache, admitted, query, embedding, signal, (completeRecord) => {
    record = completeRecord
  })
  const evidence = selectRelevantPassages(retrieved.ranked, { ...retrieved, topK: admitted.profile.topK })
  const shown = evidence.map(({ passage }) => passage.id)
  const keys = evidence.map(({ passage }) => passage.key)
  const passages = await readPassages(db, version, retrieved.terms, quote, stages)
  if (record === undefined || passages === undefined) return { shown }
  const byMode =
    mode === undefined
      ? undefined
      : await explainMode(context, shared, admitted, { ...request, mode }, passages, stages, signal)
  explainTerms(query, retrieved.terms, passages, stages)
  const probed = await probeIndexes(context, admitted, document.key, retrieved.terms, embedding.embedded, signal)
  explainText(record, probed, passages, retrieved.terms, stages)
  const completeRecord = record
  await runDatabasePart(db, stages, (own) => explainVectors(admitted, embedding, completeRecord, probed, passages, own))
  if (!judgeCandidacy(stages, passages, record)) {
    explainEvidence(keys, passages, stages, false)
    judgeMode(byMode, stages)
    return { shown }
  }
  const outcome = explainRanking(record, passages, admitted.profile, keys, stages)
  judgeMode(byMode, stages)
  return { shown, ...toPassage(passages, outcome?.best.key) }
}

/** The result of the mode itself takes precedence over that of fast. */
function judgeMode(byMode: boolean | undefined, stages: Stages): void {
  if (byMode === true) stages.verdict = 'shown'
  else if (byMode === false && stages.verdict === 'shown') stages.verdict = 'not-by-mode'
}

function toPassage(
  passages: DocumentPassages,
  key: number | undefined,
): { passage?: NonNullable<Explanation['passage']> } {
  const node = key === undefined ? undefined : passages.meant.get(key)
  if (node === undefined) return {}
  const sectionPath: string[] = parseJsonCell(node.section)
  return { passage: { nodeId: node.id, sectionPath, text: node.body.slice(0, MAX_PASSAGE_CHARACTERS).toWellFormed() } }
}

function isInScope(admitted: AdmittedQuery, document: DocumentRow, stages: Stages): boolean {
  if (admitted.docs === undefined) return true
  const count = admitted.docs.length
  if (admitted.docs.includes(document.key)) {
    addPassed(stages, 'scope', 'in-scope', `the document is among the ${count} the query is limited to`, {
      documents: count,
    })
    return true
  }
  addFailed(stages, 'out-of-scope', {
    stage: 'scope',
    reason: 'not-among-active-documents',
    text: `the query is limited to ${count} documents, and this is not one of them`,
    figures: { documents: count },
  })
  return false
}

function computeReproduced(recorded: RecordedTrace | undefined, run: StageRun | undefined): { reproduced?: boolean } {
  if (recorded === undefined || run?.shown === undefined || recorded.row.completed === 0) return {}
  return { reproduced: isReproduced(recorded, run.shown) }
}

/** The verdict of a trace: what it recorded, or the current one if the query now gives exactly the same evidence. */
function judgeTrace(
  recordedVerdict: ExplainVerdict | undefined,
  now: ExplainVerdict | undefined,
  recorded: RecordedTrace | undefined,
  run: StageRun | undefined,
): { verdict: ExplainVerdict | undefined } {
  if (recordedVerdict !== undefined) return { verdict: recordedVerdict }
  // A document that is excluded before anything is searched was excluded from the trace as well.
  if (run?.shown === undefined) return { verdict: now }
  const { reproduced } = computeReproduced(recorded, run)
  return { verdict: reproduced === true && recorded?.row.mode === 'fast' ? now : 'unknowable' }
}
