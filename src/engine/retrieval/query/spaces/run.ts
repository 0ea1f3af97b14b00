import { KsError } from '../../../../contract/errors.js'
import type { SpacesQueryBody } from '../../../../contract/gateway/several-spaces.js'
import { newId } from '../../../../lib/ids.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import type { Caller } from '../../../base/caller.js'
import { createDegradation, type Degradation, toDegradedFields } from '../../../base/degraded.js'
import type { AnswerFrame, QueryRun } from '../../../base/query-run.js'
import { streamAsTenant } from '../../../base/tenant-scope.js'
import { assertTraceQuota, type EngineContext, GENERATE_STEP, type TraceRecorder } from '../../../library/index.js'
import { BUILTIN_ANSWER, isSameModel } from '../../../models/index.js'
import type { AdmittedQuery } from '../admission.js'
import { getFinishReason, streamAnswer } from '../answer-frames.js'
import type { ModeRoute } from '../mode.js'
import type { QueryServices, RetrievalServices } from '../retrieval.js'
import { acquirePublicationLease, findEvidence, judgeRetrieval } from '../retrieval-run.js'
import { storeFailedTrace, storeTrace } from '../store-trace.js'
import { admitSpaces } from './admit-spaces.js'
import { mergeRetrievals } from './merge.js'
import {
  type CompletedSpaceRun,
  citeSpaces,
  createSpaceRun,
  listDegradations,
  type SpaceRun,
  searchEach,
  toSearchedSpace,
} from './space-run.js'

type SpaceFindings = Awaited<ReturnType<typeof findEvidence>>

/** State of a question over several spaces. */
interface SpacesRun {
  services: RetrievalServices
  caller: Caller
  body: SpacesQueryBody
  spaces: SpaceRun<SpaceFindings>[]
  /** number of spaces that the request left out */
  omitted: number
  signal: AbortSignal
  /** id of the trace in the first space that was admitted, and its recorder */
  traceId: string
  recorder: TraceRecorder
  /** modes that were chosen, by trace */
  routes: Map<string, ModeRoute>
  /** number of answer frames that were sent */
  deltas: number
}

/**
 * Admits one question to several spaces; after this its headers may be sent. Each space is searched at its own revision
 * and stores the trace of its own part. The question continues no session: a session belongs to one space, and its
 * turns must not contain texts of others.
 *
 * @throws KsError as `admitSpaces`, and `busy`
 */
export async function startSpacesQuery(
  { gate, ...services }: QueryServices,
  caller: Caller,
  body: SpacesQueryBody,
  signal: AbortSignal,
): Promise<Omit<QueryRun, 'sessionId'>> {
  const { context } = services
  const admission = await context.db.read(
    admitSpaces(context, caller, body, ({ space, traceBytes }) => assertTraceQuota(context, space, traceBytes)),
  )
  const spaces = admission.spaces.map((one): SpaceRun<SpaceFindings> => createSpaceRun(context, one))
  const first = spaces.find(({ request }) => request !== undefined)
  if (first === undefined) throw new KsError('internal', 'no space was admitted')
  const { traceId, recorder } = first
  const leave = await gate.enter(caller.tenant, signal)
  const leases = spaces.flatMap(({ request, traceId: id }) =>
    request === undefined
      ? []
      : [
          acquirePublicationLease(context, request.admitted, {
            id,
            sessionId: newId(),
            virtualPath: `/evidence/${id}`,
          }),
        ],
  )
  const run: SpacesRun = {
    ...{ services, caller, body, spaces, omitted: admission.omitted, signal, traceId, recorder },
    routes: new Map(),
    deltas: 0,
  }
  return {
    traceId,
    frames: () => {
      for (const lease of leases) lease.keepAlive()
      const release = () => {
        for (const lease of leases) lease.release()
        leave()
      }
      return streamAsTenant(caller.tenant, () => streamFrames(run, release))
    },
  }
}

/** Streams the complete run. A failure is recorded in every space and sent as one `answer.error`. */
async function* streamFrames(run: SpacesRun, release: () => void): AsyncGenerator<AnswerFrame> {
  const { traceId } = run
  try {
    yield* produceFrames(run)
  } catch (error) {
    if (run.signal.aborted) return
    run.services.context.log.warn({ traceId, error: String(error) }, 'a query of several spaces failed')
    for (const space of run.spaces) await storeFailure(run, space, space.error ?? error)
    yield { event: 'answer.error', data: { error: toMessage(error, traceId), traceId } }
  } finally {
    release()
  }
}

async function* produceFrames(run: SpacesRun): AsyncGenerator<AnswerFrame> {
  const { services, body, signal, spaces, traceId } = run
  const { context } = services
  const searched = await searchEach(
    context,
    spaces,
    (space, request) =>
      findEvidence(
        services,
        { ...request, signal, traceId: space.traceId, byRules: true },
        { recorder: space.recorder, onRoute: (route) => run.routes.set(space.traceId, route) },
      ),
    signal,
  )
  const used = selectAnswering(searched)
  const { lead, degraded: divided } = chooseLead(context, used)
  const listed = [...listDegradations(spaces, run.omitted), ...divided]
  const retrieved = mergeRetrievals(
    used.map(({ found }) => found.retrieved),
    { size: Math.max(...used.map(({ request }) => request.admitted.profile.topK)), degraded: listed },
  )
  const { bundle: judged } = await judgeRetrieval(context, { ...lead, traceId, signal }, retrieved)
  const evidence = { bundle: { ...judged, items: citeSpaces(judged.items, used) }, retrieved }
  const request = { context, admitted: lead.admitted, query: body.query, turns: [], signal }
  const answer = yield* streamAnswer(request, evidence, run)
  signal.throwIfAborted()
  // Point of no return: from here a client that disconnects does not undo the run.
  const { bundle } = answer
  const degraded = [...listed, ...answer.degraded]
  const finishReason = getFinishReason(bundle)
  context.measures.recordAnswer(degraded)
  for (const space of spaces) if (space.found === undefined) await storeFailure(run, space, space.error)
  await Promise.all(searched.map((space) => storeSpaceTrace(run, space)))
  const traced = new Map(searched.map((space) => [space.space.id, space.traceId]))
  const { route } = lead
  yield {
    event: 'answer.done',
    data: {
      finishReason,
      metadata: {
        ...answer.metadata,
        ...omitUndefined({ searchedFor: retrieved.searchedFor }),
        ...toDegradedFields(degraded),
        mode: route.resolvedMode,
        requestedMode: route.requestedMode,
        topScore: Math.max(0, ...bundle.items.map(({ score }) => score)),
        citations: bundle.items.flatMap(({ citations }) => citations),
        metrics: {
          ...retrieved.metrics,
          relevanceFilteredCount: retrieved.ranked.length - bundle.items.length,
          ...toDegradedFields(degraded),
        },
        spaces: spaces.map((space) => ({
          ...toSearchedSpace(space, bundle.items),
          ...omitUndefined({ traceId: traced.get(space.space.id) }),
        })),
        omittedSpaces: run.omitted,
        evidenceBundle: bundle,
      },
      traceId,
    },
  }
}

/** The spaces that answer, or all if none does: passages of others would only be near the question by chance. */
function selectAnswering(searched: readonly CompletedSpaceRun<SpaceFindings>[]): CompletedSpaceRun<SpaceFindings>[] {
  const answering = searched.filter(({ found }) => found.bundle.state !== 'not-enough-evidence')
  return answering.length === 0 ? [...searched] : answering
}

/**
 * Chooses the space whose profile and budget write the answer: the one with the best passage. Passages are only sent to
 * the model that their own space names, so the answer is a quotation if the spaces name different models.
 */
function chooseLead(context: EngineContext, used: readonly CompletedSpaceRun<SpaceFindings>[]) {
  const getTopScore = ({ found }: CompletedSpaceRun<SpaceFindings>): number => found.bundle.items[0]?.score ?? 0
  const [best] = [...used].sort((a, b) => getTopScore(b) - getTopScore(a))
  if (best === undefined) throw new KsError('internal', 'no space was searched')
  const { body, admitted } = best.request
  const { route } = best.found
  const getModel = ({ profile }: AdmittedQuery) => profile.reasoningModel ?? context.options.defaultGenerator
  const model = getModel(admitted)
  if (used.every(({ request }) => isSameModel(getModel(request.admitted), model)))
    return { lead: { body, admitted, route }, degraded: [] }
  const quoting = { ...admitted, profile: { ...admitted.profile, reasoningModel: BUILTIN_ANSWER } }
  const reason = 'the spaces use different models: the answer is a quotation of the evidence'
  const degraded: Degradation[] = [createDegradation('answer', reason)]
  return { lead: { body, admitted: quoting, route }, degraded }
}

/** Stores the trace of a space: its own retrieval, with its own evidence as it was judged without the other spaces. */
async function storeSpaceTrace(run: SpacesRun, space: CompletedSpaceRun<SpaceFindings>): Promise<void> {
  const { services, caller, body, deltas, spaces } = run
  const { context } = services
  const { found, request, recorder, traceId } = space
  const { bundle, route, plan, retrieved } = found
  const { admitted } = request
  recorder.add(GENERATE_STEP, 'ok', context.now(), {
    eventCount: deltas + 1,
    finishReason: getFinishReason(bundle),
    spaceCount: spaces.length,
    answerTraceId: run.traceId,
    mode: route.resolvedMode,
    requestedMode: route.requestedMode,
    topScore: bundle.items[0]?.score ?? 0,
    citations: bundle.items.flatMap(({ citations }) => citations),
    projectionSnapshot: admitted.snapshot,
    retrievalProfile: admitted.profile,
    plan,
    ...toDegradedFields(retrieved.degraded),
    metrics: { ...retrieved.metrics, relevanceFilteredCount: retrieved.ranked.length - bundle.items.length },
  })
  await storeTrace(context, {
    id: traceId,
    tenant: caller.tenant,
    spaceKey: admitted.space.key,
    subject: caller.subject,
    query: body.query,
    mode: route.resolvedMode,
    requestedMode: route.requestedMode,
    completed: true,
    steps: recorder.steps,
    bundle,
  })
}

async function storeFailure(run: SpacesRun, space: SpaceRun<SpaceFindings>, error: unknown): Promise<void> {
  const { services, caller, body, deltas, routes } = run
  const { request, recorder, traceId } = space
  if (request === undefined) return
  await storeFailedTrace(services.context, {
    ...{ caller, query: body.query, mode: body.mode, admitted: request.admitted, traceId, recorder, deltas },
    ...omitUndefined({ route: routes.get(traceId) }),
    errorClass: error instanceof KsError ? error.code : 'internal',
    error: toMessage(error, traceId),
  })
}

function toMessage(error: unknown, traceId: string): string {
  return error instanceof KsError ? error.message : `the query failed unexpectedly (trace ${traceId})`
}
