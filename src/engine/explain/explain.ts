import { KsError } from '../../contract/errors.js'
import type { ExplainBody, ExplainVerdict, Explanation } from '../../contract/gateway/explain.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { type Admitted, admit } from '../query/admission.js'
import { embedForFast, type FastRecord, retrieveFast } from '../query/fast.js'
import type { QueryGate } from '../query/gate.js'
import type { ConcreteMode } from '../query/mode.js'
import { relevantPassages } from '../query/relevance.js'
import type { QueryShared } from '../query/stages.js'
import type { DocumentRow } from '../rows/documents.js'
import { findSpace } from '../rows/spaces.js'
import { fromCell } from '../storage/readable.js'
import { findAsked, publishedNow } from './document.js'
import { hintOf } from './hint.js'
import { explainText, explainVectors, judgeCandidacy, probe } from './legs.js'
import { explainMode } from './other-mode.js'
import { explainTerms, type Passages, readPassages } from './passages.js'
import { explainEvidence, explainRanking } from './ranking.js'
import { failed, note, passed, type Stages, said } from './stages.js'
import { explainRecorded, isReproduced, type Recorded, readTrace } from './trace.js'

/** Timeout: the searches are those of a query. */
const TIMEOUT_MILLISECONDS = 60_000
const TOO_LONG = 'the explanation took longer than its limit of 60 s'
const PASSAGE_CHARACTERS = 400

type Shared = QueryShared & { gate: QueryGate }

/**
 * Explains why a document is or is not in the evidence of a query: the query runs again with the code that answers it,
 * and its intermediate results are observed. The stages are those of mode fast; another mode runs in addition, for its
 * result.
 *
 * @throws KsError as a query does, and `not-found` for a trace that is not the caller's
 */
export async function explainQuery(
  context: EngineContext,
  shared: Shared,
  caller: Caller,
  spaceId: string,
  body: ExplainBody,
): Promise<Explanation> {
  const { db } = context
  const { space, recorded, query, admitted } = await db.read(admitExplained(context, caller, spaceId, body))
  const stages: Stages = { list: [], verdict: undefined }
  const limit = new AbortController()
  const { signal } = limit
  const timer = setTimeout(() => limit.abort(new KsError('unavailable', TOO_LONG)), TIMEOUT_MILLISECONDS)
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
    const { document, trace } = await said(db, stages, function* (own) {
      const found = yield* findAsked(caller, space, body, own)
      if (recorded === undefined) return { document: found, trace: undefined }
      return { document: found, trace: yield* explainRecorded(space, recorded, found, body.quote, own) }
    })
    const settled = stages.verdict
    const now: Stages = { list: stages.list, verdict: undefined }
    const asked: AskedMode = recorded?.row.mode ?? body.mode ?? admitted.profile.defaultMode
    noteMode(asked, recorded !== undefined, now)
    const mode = recorded !== undefined || asked === 'fast' || asked === 'auto' ? undefined : asked
    const request = { query, quote: body.quote, mode, activeDocumentIds: body.activeDocumentIds, signal }
    const run =
      document === undefined ? undefined : await runStages(context, shared, admitted, { ...request, document }, now)
    const judged = trace === undefined ? { verdict: now.verdict } : judgeTrace(settled, now.verdict, recorded, run)
    const verdict = judged.verdict ?? settled ?? 'unknowable'
    return {
      query,
      verdict,
      ...(trace === undefined || now.verdict === undefined ? {} : { verdictNow: now.verdict }),
      document: describe(body, document),
      ...(run?.passage === undefined ? {} : { passage: run.passage }),
      mode: 'fast',
      stages: stages.list,
      hint: hintOf(verdict, stages.list),
      ...(trace === undefined ? {} : { trace: { ...trace, ...reproducedOf(recorded, run) } }),
    }
  } finally {
    clearTimeout(timer)
    lease.release()
    leave()
  }
}

/** Admits the query to explain, from a trace or as it would run now. */
function* admitExplained(context: EngineContext, caller: Caller, spaceId: string, body: ExplainBody) {
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

type AskedMode = ConcreteMode | 'auto'

/** Notes modes that cannot run here: auto would call a model, and a trace has already run. */
function noteMode(mode: AskedMode, isTrace: boolean, stages: Stages): void {
  const rest = 'the following stages are those of mode fast'
  if (mode === 'auto') note(stages, 'mode', 'fast-only', `with mode auto a model chooses the mode; ${rest}`, { mode })
  else if (mode !== 'fast' && isTrace)
    note(stages, 'mode', 'fast-only', `the recorded query ran in mode ${mode}; ${rest}`, { mode })
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
  shared: Shared,
  admitted: Admitted,
  request: StageRequest,
  stages: Stages,
): Promise<StageRun> {
  const { db } = context
  const { query, document, quote, mode, signal } = request
  const version = await said(db, stages, (own) => publishedNow(admitted.space, document, own))
  if (version === undefined || !isInScope(admitted, document, stages)) return {}
  const embedding = await embedForFast(context, admitted, query, signal)
  let record: FastRecord | undefined
  const retrieved = await retrieveFast(context, shared.cache, admitted, query, embedding, signal, (made) => {
    record = made
  })
  const evidence = relevantPassages(retrieved.ranked, { ...retrieved, topK: admitted.profile.topK })
  const shown = evidence.map(({ passage }) => passage.id)
  const keys = evidence.map(({ passage }) => passage.key)
  const passages = await readPassages(db, version, retrieved.terms, quote, stages)
  if (record === undefined || passages === undefined) return { shown }
  const byMode =
    mode === undefined
      ? undefined
      : await explainMode(context, shared, admitted, { ...request, mode }, passages, stages, signal)
  explainTerms(query, retrieved.terms, passages, stages)
  const probed = await probe(context, admitted, document.key, retrieved.terms, embedding.embedded, signal)
  explainText(record, probed, passages, retrieved.terms, stages)
  const made = record
  await said(db, stages, (own) => explainVectors(admitted, embedding, made, probed, passages, own))
  if (!judgeCandidacy(stages, passages, record)) {
    explainEvidence(keys, passages, stages, false)
    judgeMode(byMode, stages)
    return { shown }
  }
  const outcome = explainRanking(record, passages, admitted.profile, keys, stages)
  judgeMode(byMode, stages)
  return { shown, ...passageOf(passages, outcome?.best.key) }
}

/** The result of the mode itself takes precedence over that of fast. */
function judgeMode(byMode: boolean | undefined, stages: Stages): void {
  if (byMode === true) stages.verdict = 'shown'
  else if (byMode === false && stages.verdict === 'shown') stages.verdict = 'not-by-mode'
}

function passageOf(passages: Passages, key: number | undefined): { passage?: NonNullable<Explanation['passage']> } {
  const node = key === undefined ? undefined : passages.meant.get(key)
  if (node === undefined) return {}
  const sectionPath: string[] = fromCell(node.section)
  return { passage: { nodeId: node.id, sectionPath, text: node.body.slice(0, PASSAGE_CHARACTERS).toWellFormed() } }
}

function isInScope(admitted: Admitted, document: DocumentRow, stages: Stages): boolean {
  if (admitted.docs === undefined) return true
  const count = admitted.docs.length
  if (admitted.docs.includes(document.key)) {
    passed(stages, 'scope', 'in-scope', `the document is among the ${count} the query is limited to`, {
      documents: count,
    })
    return true
  }
  failed(stages, 'out-of-scope', {
    stage: 'scope',
    reason: 'not-among-active-documents',
    text: `the query is limited to ${count} documents, and this is not one of them`,
    figures: { documents: count },
  })
  return false
}

function reproducedOf(recorded: Recorded | undefined, run: StageRun | undefined): { reproduced?: boolean } {
  if (recorded === undefined || run?.shown === undefined || recorded.row.completed === 0) return {}
  return { reproduced: isReproduced(recorded, run.shown) }
}

/** The verdict of a trace: what it recorded, or the current one if the query now gives exactly the same evidence. */
function judgeTrace(
  settled: ExplainVerdict | undefined,
  now: ExplainVerdict | undefined,
  recorded: Recorded | undefined,
  run: StageRun | undefined,
): { verdict: ExplainVerdict | undefined } {
  if (settled !== undefined) return { verdict: settled }
  // A document that is excluded before anything is searched was excluded from the trace as well.
  if (run?.shown === undefined) return { verdict: now }
  const { reproduced } = reproducedOf(recorded, run)
  return { verdict: reproduced === true && recorded?.row.mode === 'fast' ? now : 'unknowable' }
}
