import type { EngineContext } from '../context.js'
import type { AdmittedQuery } from '../query/admission.js'
import { type ConcreteMode, resolveMode } from '../query/mode.js'
import { selectRelevantPassages } from '../query/relevance.js'
import { type QueryShared, retrieveInMode } from '../query/stages.js'
import type { DocumentRow } from '../rows/documents.js'
import { TraceRecorder } from '../traces/recorder.js'
import type { DocumentPassages } from './passages.js'
import { addMissed, addPassed, type Stages } from './stages.js'

interface ModeRequest {
  mode: Exclude<ConcreteMode, 'fast'>
  query: string
  document: DocumentRow
  activeDocumentIds: string[]
}

/**
 * Runs a mode other than fast and reports whether its evidence contains the selected passages; its own stages are not
 * reported.
 *
 * @returns whether it contains them
 */
export async function explainMode(
  context: EngineContext,
  shared: QueryShared,
  admitted: AdmittedQuery,
  request: ModeRequest,
  passages: DocumentPassages,
  stages: Stages,
  signal: AbortSignal,
): Promise<boolean> {
  const { mode, query, activeDocumentIds } = request
  const body = { knowledgeSpaceId: admitted.space.id, query, mode, activeDocumentIds, activeEntityIds: [] }
  const route = await resolveMode(context, admitted.space, admitted.profile, body, signal)
  const recorder = new TraceRecorder()
  const { retrieved } = await retrieveInMode(context, shared, { body, query, admitted, route, recorder, signal })
  const evidence = selectRelevantPassages(retrieved.ranked, { ...retrieved, topK: admitted.profile.topK })
  const rank = 1 + evidence.findIndex(({ passage }) => passages.meant.has(passage.key))
  const figures = { mode, items: evidence.length, ...(rank > 0 ? { rank } : {}) }
  const rest = 'the following stages are those of mode fast'
  if (rank > 0) addPassed(stages, 'mode', 'shown-by-mode', `mode ${mode} shows it as number ${rank}; ${rest}`, figures)
  else
    addMissed(stages, 'mode', 'not-by-mode', `mode ${mode} does not show it, for an unknown reason; ${rest}`, figures)
  return rank > 0
}
