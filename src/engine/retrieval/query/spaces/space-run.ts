import pLimit from 'p-limit'
import { KsError } from '../../../../contract/errors.js'
import type { EvidenceItem, QueryBody } from '../../../../contract/gateway/queries.js'
import type { SearchedSpace } from '../../../../contract/gateway/searched-space.js'
import { newId } from '../../../../lib/ids.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { createDegradation, type Degradation, toDegradation } from '../../../base/degraded.js'
import { type EngineContext, TraceRecorder } from '../../../library/index.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'
import type { Admission } from '../admission.js'
import type { ModeRoute } from '../mode.js'
import type { RetrievalResult } from '../retrieval.js'
import type { SpaceAdmission } from './admit-spaces.js'

/** Spaces of one question that are searched at the same time. */
const MAX_CONCURRENT_SPACES = 4

/** A space of a question over several, from its admission to its result. */
export interface SpaceRun<Found> {
  space: SpaceRow
  traceId: string
  recorder: TraceRecorder
  /** the request to this space; absent if it cannot be searched */
  request?: { body: QueryBody; admitted: Admission }
  /** absent before the space is searched, and if that fails */
  found?: Found
  error?: unknown
}

/** A run whose space was searched. */
export type CompletedSpaceRun<Found> = SpaceRun<Found> & Required<Pick<SpaceRun<Found>, 'request' | 'found'>>

/** A result whose retrieval is known. */
interface SpaceResult {
  route: ModeRoute
  retrieved: RetrievalResult
}

export function createSpaceRun<Found>(context: EngineContext, admission: SpaceAdmission): SpaceRun<Found> {
  const run = { space: admission.space, traceId: newId(), recorder: new TraceRecorder(context.now) }
  if ('failure' in admission) return { ...run, error: admission.failure }
  const { body, admitted } = admission
  return { ...run, request: { body, admitted } }
}

/**
 * Searches each space and sets its result or its error.
 *
 * @returns the runs that have a result
 * @throws when the signal aborts, and the error of the first space when none could be searched
 */
export async function searchEach<Found>(
  context: EngineContext,
  runs: readonly SpaceRun<Found>[],
  search: (run: SpaceRun<Found>, request: { body: QueryBody; admitted: Admission }) => Promise<Found>,
  signal: AbortSignal,
): Promise<CompletedSpaceRun<Found>[]> {
  const completed = await pLimit(MAX_CONCURRENT_SPACES).map(runs, async (run) => {
    const { request, space } = run
    if (request === undefined) return []
    try {
      signal.throwIfAborted()
      const found = await search(run, request)
      run.found = found
      return [{ ...run, request, found }]
    } catch (error) {
      signal.throwIfAborted()
      context.log.warn({ space: space.id, error: String(error) }, 'a space of a question could not be searched')
      run.error = error
      return []
    }
  })
  const all = completed.flat()
  if (all.length === 0) throw runs.find(({ request }) => request !== undefined)?.error
  return all
}

/** The degradations of a result: those of each space, spaces that failed, and spaces that were left out. */
export function listDegradations(runs: readonly SpaceRun<SpaceResult>[], omitted: number): Degradation[] {
  const degraded = runs.flatMap(({ space, found, error }): Degradation[] => {
    if (found === undefined) return [toDegradation('space', `${space.slug}: the space was not searched`, error)]
    const { route, retrieved } = found
    const own = [...(route.failure === undefined ? [] : [route.failure]), ...retrieved.degraded]
    return own.map((one) => ({ ...one, reason: `${space.slug}: ${one.reason}` }))
  })
  if (omitted === 0) return degraded
  const reason = `${omitted} more spaces were not searched: ${runs.length} is the maximum`
  return [...degraded, createDegradation('space', reason)]
}

/** Describes a space for the result. @param items passages of the result, with their spaces */
export function toSearchedSpace(
  { space, found, error }: SpaceRun<SpaceResult>,
  items: readonly Pick<EvidenceItem, 'citations'>[],
): SearchedSpace {
  return {
    knowledgeSpaceId: space.id,
    slug: space.slug,
    passages: items.filter(({ citations: [citation] }) => citation?.knowledgeSpaceId === space.id).length,
    ...omitUndefined({
      mode: found?.route.resolvedMode,
      problem:
        found === undefined ? toProblem(error) : found.retrieved.statistics.nodes === 0 ? EMPTY_SPACE : undefined,
    }),
  }
}

const EMPTY_SPACE = 'the space has no searchable documents'

function toProblem(error: unknown): string {
  return error instanceof KsError ? error.message : 'an unexpected failure'
}

/** Adds its space to the citations of each passage. @param runs the spaces that the passages come from */
export function citeSpaces<Item extends Pick<EvidenceItem, 'nodeId' | 'citations'>>(
  items: readonly Item[],
  runs: readonly CompletedSpaceRun<SpaceResult>[],
): Item[] {
  const spaceOf = new Map(
    runs.flatMap(({ space, found }) => found.retrieved.ranked.map(({ passage }) => [passage.id, space] as const)),
  )
  return items.map((item) => {
    const space = spaceOf.get(item.nodeId)
    if (space === undefined) return item
    const { id: knowledgeSpaceId, slug: knowledgeSpaceSlug } = space
    return { ...item, citations: item.citations.map((one) => ({ ...one, knowledgeSpaceId, knowledgeSpaceSlug })) }
  })
}
