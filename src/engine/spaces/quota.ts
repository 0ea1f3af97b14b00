import { KsError } from '../../contract/errors.js'
import type { QuotaPolicy } from '../../contract/gateway/spaces.js'
import type { EngineContext } from '../context.js'
import { type SpaceUsage, usageOf } from '../rows/space-usage.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { policiesOf } from './manifest.js'

/** What one more version would add. */
export interface VersionSize {
  artifactBytes: number
  segments: number
  nodes: number
}

type Limited = 'maxArtifactBytes' | 'maxSegmentCount' | 'maxNodeCount' | 'maxProjectionCount' | 'maxRawDocumentBytes'

/** a node is projected into the text index and into the vector index */
const PROJECTIONS_OF_A_NODE = 2

/** The quotas in force: those of the space's manifest, but where the deployment sets its own. */
export function quotasOf({ options }: Pick<EngineContext, 'options'>, space: SpaceRow): QuotaPolicy {
  const { providerBudgets, ...own } = policiesOf(space).quotaPolicy
  const { maxEmbeddingTokensPerDay, maxLlmTokensPerDay, maxParserPagesPerDay, maxRerankRequestsPerDay, ...others } =
    options.quotas
  return {
    ...own,
    ...others,
    providerBudgets: {
      maxEmbeddingTokensPerDay: maxEmbeddingTokensPerDay ?? providerBudgets.maxEmbeddingTokensPerDay,
      maxLlmTokensPerDay: maxLlmTokensPerDay ?? providerBudgets.maxLlmTokensPerDay,
      maxParserPagesPerDay: maxParserPagesPerDay ?? providerBudgets.maxParserPagesPerDay,
      maxRerankRequestsPerDay: maxRerankRequestsPerDay ?? providerBudgets.maxRerankRequestsPerDay,
    },
  }
}

/** @param rawBytes of new documents @throws KsError `quota-exceeded` when a space takes no more documents */
export function* assertRoomForDocuments(context: EngineContext, space: SpaceRow, rawBytes: number): Read<void> {
  const quotas = quotasOf(context, space)
  const held = yield* usageOf(space.key)
  const over =
    beyond(quotas, 'maxRawDocumentBytes', held.rawBytes + rawBytes) ??
    // what compiling will add is not known yet: a space that is full takes nothing more
    versionBeyond(quotas, held, { artifactBytes: 1, segments: 1, nodes: 1 })
  if (over !== undefined) throw new KsError('quota-exceeded', over)
}

/** Asked inside the transaction that made documents. @throws KsError `quota-exceeded`, which undoes them */
export function* assertRawBytes(context: EngineContext, space: SpaceRow): Read<void> {
  const over = beyond(quotasOf(context, space), 'maxRawDocumentBytes', (yield* usageOf(space.key)).rawBytes)
  if (over !== undefined) throw new KsError('quota-exceeded', over)
}

/** Why a version must not be written. */
export interface OverQuota {
  code: 'quota-exceeded'
  message: string
}

/** Asked inside the transaction that writes a version. @returns why it must not be written */
export function* versionOverQuota(
  context: EngineContext,
  space: SpaceRow,
  more: VersionSize,
): Read<OverQuota | undefined> {
  return (yield* versionsOverQuota(context, space, [more]))[0]
}

/** The same of versions that are written one after the other: one that must not be takes no room. */
export function* versionsOverQuota(
  context: EngineContext,
  space: SpaceRow,
  versions: readonly VersionSize[],
): Read<(OverQuota | undefined)[]> {
  if (versions.length === 0) return []
  const quotas = quotasOf(context, space)
  const held = yield* usageOf(space.key)
  return versions.map((more) => {
    const message = versionBeyond(quotas, held, more)
    if (message !== undefined) return { code: 'quota-exceeded', message }
    held.artifactBytes += more.artifactBytes
    held.segments += more.segments
    held.nodes += more.nodes
    return undefined
  })
}

/** @throws KsError `reindex-over-quota`: a reindex holds old and new nodes at once */
export function* assertRoomForReindex(context: EngineContext, space: SpaceRow, documents: number): Read<void> {
  const held = yield* usageOf(space.key)
  const share = held.documents === 0 ? 0 : documents / held.documents
  const nodes = held.nodes + Math.ceil(held.nodes * share)
  const quotas = quotasOf(context, space)
  const over =
    beyond(quotas, 'maxNodeCount', nodes) ?? beyond(quotas, 'maxProjectionCount', nodes * PROJECTIONS_OF_A_NODE)
  if (over !== undefined) throw new KsError('reindex-over-quota', `a reindex keeps old and new nodes at once: ${over}`)
}

/** @throws KsError `quota-exceeded` when a space takes no more questions */
export function assertRoomForTraces(context: EngineContext, space: SpaceRow, traceBytes: number): void {
  const limit = quotasOf(context, space).maxTraceBytes
  if (limit !== null && traceBytes >= limit)
    throw new KsError(
      'quota-exceeded',
      `the space holds ${traceBytes} bytes of traces, its quota maxTraceBytes is ${limit}: a shorter answerTraceRetentionDays makes room`,
    )
}

function versionBeyond(quotas: QuotaPolicy, held: SpaceUsage, more: VersionSize): string | undefined {
  const nodes = held.nodes + more.nodes
  return (
    beyond(quotas, 'maxArtifactBytes', held.artifactBytes + more.artifactBytes) ??
    beyond(quotas, 'maxSegmentCount', held.segments + more.segments) ??
    beyond(quotas, 'maxNodeCount', nodes) ??
    beyond(quotas, 'maxProjectionCount', nodes * PROJECTIONS_OF_A_NODE)
  )
}

const UNITS: Record<Limited, string> = {
  maxArtifactBytes: 'bytes of parse artifacts',
  maxSegmentCount: 'segments of parse artifacts',
  maxNodeCount: 'nodes',
  maxProjectionCount: 'projections',
  maxRawDocumentBytes: 'bytes of documents',
}

function beyond(quotas: QuotaPolicy, name: Limited, would: number): string | undefined {
  if (would <= quotas[name]) return undefined
  return `the space would hold ${would} ${UNITS[name]}, its quota ${name} is ${quotas[name]}`
}
