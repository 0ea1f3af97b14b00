import { KsError } from '../../../contract/errors.js'
import type { ExplainBody, ExplainVerdict, Explanation } from '../../../contract/gateway/explain.js'
import type { Caller } from '../../base/caller.js'
import type { EngineContext } from '../../library/index.js'
import { parseJsonCell } from '../../store/readable.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import type { PassageRow } from '../../store/rows/queries.js'
import { findSpace } from '../../store/rows/spaces.js'
import { type AdmittedQuery, admit } from '../query/admission.js'
import type { ConcreteMode } from '../query/mode.js'
import { selectRelevantPassages } from '../query/relevance.js'
import type { FastSearchRecord, QueryServices, RetrievalObserver, RetrievalServices } from '../query/retrieval.js'
import { runRetrieval, runWithLease } from '../query/retrieval-run.js'
import { findExplainedDocument, findPublishedVersion } from './document.js'
import { findHint } from './hint.js'
import { explainText, explainVectors, judgeCandidacy, probeIndexes } from './index-stages.js'
import { type DocumentPassages, explainTerms, readPassages } from './passages.js'
import { explainEvidence, explainRanking } from './ranking.js'
import { runDatabasePart, Stages } from './stages.js'
import { explainRecorded, isReproduced, type RecordedTrace, readTrace } from './trace.js'

/** The searches are those of a query. */
const LIMIT = { timeoutMs: 60_000, message: 'the explanation took longer than its limit of 60 s' }
const MAX_PASSAGE_CHARACTERS = 400
const REST = 'the following stages are those of mode fast'

/**
 * Explains why a document is or is not in the evidence of a query: the query runs again with the code that answers it,
 * and its intermediate results are observed. The stages are those of mode fast; another mode runs in addition, for its
 * result.
 *
 * @throws KsError as a query does, and `not-found` for a trace that is not the caller's
 */
export async function explainQuery(
  services: QueryServices,
  caller: Caller,
  spaceId: string,
  body: ExplainBody,
): Promise<Explanation> {
  const { context, gate } = services
  const { db } = context
  const { space, recorded, query, admitted } = await db.read(admitExplainedQuery(context, caller, spaceId, body))
  const stages = new Stages()
  const explain = async (signal: AbortSignal): Promise<Explanation> => {
    const { document, trace } = await runDatabasePart(db, stages, function* (own) {
      const found = yield* findExplainedDocument(caller, space, body, own)
      if (recorded === undefined) return { document: found, trace: undefined }
      return {
        document: found,
        trace: yield* explainRecorded(space, recorded, { document: found, quote: body.quote }, own),
      }
    })
    const recordedVerdict = stages.verdict
    const now = new Stages(stages.list)
    const requestedMode: RequestedMode = recorded?.row.mode ?? body.mode ?? admitted.profile.defaultMode
    noteMode(requestedMode, recorded !== undefined, now)
    const mode =
      recorded !== undefined || requestedMode === 'fast' || requestedMode === 'auto' ? undefined : requestedMode
    const request = { query, quote: body.quote, mode, activeDocumentIds: body.activeDocumentIds, signal }
    const run = document === undefined ? undefined : await runStages(services, admitted, { ...request, document }, now)
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
  }
  // Like a query, keeps deleted content from being purged meanwhile.
  return gate.run(caller, LIMIT, (signal) => runWithLease(context, admitted, () => explain(signal)))
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
  if (mode === 'auto') stages.addNote('mode', 'fast-only', `with mode auto a model chooses the mode; ${REST}`, { mode })
  else if (mode !== 'fast' && isTrace)
    stages.addNote('mode', 'fast-only', `the recorded query ran in mode ${mode}; ${REST}`, { mode })
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
  services: RetrievalServices,
  admitted: AdmittedQuery,
  request: StageRequest,
  stages: Stages,
): Promise<StageRun> {
  const { context } = services
  const { db } = context
  const { query, document, quote, mode, activeDocumentIds, signal } = request
  const version = await runDatabasePart(db, stages, (own) => findPublishedVersion(admitted.space, document, own))
  if (version === undefined || !isInScope(admitted, document, stages)) return {}
  const body = { knowledgeSpaceId: admitted.space.id, query, activeDocumentIds, activeEntityIds: [] }
  let record: FastSearchRecord | undefined
  const retrieve = async (runMode: ConcreteMode, observer?: RetrievalObserver) => {
    const options = { admitted, body: { ...body, mode: runMode }, signal }
    const { retrieved } = await runRetrieval(services, options, observer)
    const evidence = selectRelevantPassages(retrieved.ranked, { ...retrieved, topK: admitted.profile.topK })
    return { terms: retrieved.terms, evidence: evidence.map(({ passage }) => passage) }
  }
  const { terms, evidence } = await retrieve('fast', {
    onSearch: (intermediate) => {
      record = intermediate
    },
  })
  const nodeIds = evidence.map(({ id }) => id)
  const passages = await readPassages(db, version, { terms, quote }, stages)
  if (record === undefined || passages === undefined) return { shown: nodeIds }
  const search = { admitted, record, terms, passages, shown: evidence.map(({ key }) => key) }
  const byMode = mode === undefined ? undefined : explainMode(mode, (await retrieve(mode)).evidence, passages, stages)
  explainTerms(query, terms, passages, stages)
  const probed = await probeIndexes({ context, admitted, signal }, document.key, search)
  explainText(search, probed, stages)
  await runDatabasePart(db, stages, (own) => explainVectors(search, probed, own))
  if (!judgeCandidacy(search, stages)) {
    explainEvidence(search, false, stages)
    judgeMode(byMode, stages)
    return { shown: nodeIds }
  }
  const best = explainRanking(search, stages)
  judgeMode(byMode, stages)
  return { shown: nodeIds, ...toPassage(passages, best?.key) }
}

/**
 * Reports whether the evidence of a mode other than fast contains the selected passages; its own stages are not
 * reported.
 */
function explainMode(
  mode: ConcreteMode,
  evidence: readonly PassageRow[],
  passages: DocumentPassages,
  stages: Stages,
): boolean {
  const rank = 1 + evidence.findIndex(({ key }) => passages.selected.has(key))
  const figures = { mode, items: evidence.length, ...(rank > 0 ? { rank } : {}) }
  if (rank > 0) stages.addPassed('mode', 'shown-by-mode', `mode ${mode} shows it as number ${rank}; ${REST}`, figures)
  else stages.addMissed('mode', 'not-by-mode', `mode ${mode} does not show it, for an unknown reason; ${REST}`, figures)
  return rank > 0
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
  const node = key === undefined ? undefined : passages.selected.get(key)
  if (node === undefined) return {}
  const sectionPath: string[] = parseJsonCell(node.section)
  return { passage: { nodeId: node.id, sectionPath, text: node.body.slice(0, MAX_PASSAGE_CHARACTERS).toWellFormed() } }
}

function isInScope(admitted: AdmittedQuery, document: DocumentRow, stages: Stages): boolean {
  if (admitted.docs === undefined) return true
  const count = admitted.docs.length
  if (admitted.docs.includes(document.key)) {
    stages.addPassed('scope', 'in-scope', `the document is among the ${count} the query is limited to`, {
      documents: count,
    })
    return true
  }
  stages.addFailed('out-of-scope', {
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
