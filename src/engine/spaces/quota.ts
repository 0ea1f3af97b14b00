import { KsError } from '../../contract/errors.js'
import type { QuotaPolicy } from '../../contract/gateway/spaces.js'
import type { EngineContext } from '../context.js'
import { type SpaceUsage, usageOf } from '../rows/space-usage.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { policiesOf } from './manifest.js'

/** The size that a further version adds. */
export interface VersionSize {
  artifactBytes: number
  segments: number
  nodes: number
}

type Limited = 'maxArtifactBytes' | 'maxSegmentCount' | 'maxNodeCount' | 'maxProjectionCount' | 'maxRawDocumentBytes'

/** a node has a projection in the text index and in the vector index */
const PROJECTIONS_OF_A_NODE = 2

/** The effective quotas: those of the space's manifest, overridden by those of the deployment. */
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

/** @param rawBytes of new documents @throws KsError `quota-exceeded` when a space accepts no more documents */
export function* assertRoomForDocuments(context: EngineContext, space: SpaceRow, rawBytes: number): Read<void> {
  const quotas = quotasOf(context, space)
  const held = yield* usageOf(space.key)
  const over =
    beyond(quotas, 'maxRawDocumentBytes', held.rawBytes + rawBytes) ??
    // the size of the compiled versions is not known yet: a full space accepts nothing more
    versionBeyond(quotas, held, { artifactBytes: 1, segments: 1, nodes: 1 })
  if (over !== undefined) throw new KsError('quota-exceeded', over)
}

/** Checked inside the transaction that inserted documents. @throws KsError `quota-exceeded`, which rolls it back */
export function* assertRawBytes(context: EngineContext, space: SpaceRow): Read<void> {
  const over = beyond(quotasOf(context, space), 'maxRawDocumentBytes', (yield* usageOf(space.key)).rawBytes)
  if (over !== undefined) throw new KsError('quota-exceeded', over)
}

/** The reason why a version must not be stored. */
export interface OverQuota {
  code: 'quota-exceeded'
  message: string
}

/** Checked inside the transaction that stores a version. @returns the reason why it must not be stored */
export function* versionOverQuota(
  context: EngineContext,
  space: SpaceRow,
  more: VersionSize,
): Read<OverQuota | undefined> {
  return (yield* versionsOverQuota(context, space, [more]))[0]
}

/** The same for versions that are stored in order: a rejected one does not count for the next ones. */
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

/** @throws KsError `reindex-over-quota`: during a reindex old and new nodes exist at once */
export function* assertRoomForReindex(context: EngineContext, space: SpaceRow, documents: number): Read<void> {
  const held = yield* usageOf(space.key)
  const share = held.documents === 0 ? 0 : documents / held.documents
  const nodes = held.nodes + Math.ceil(held.nodes * share)
  const quotas = quotasOf(context, space)
  const over =
    beyond(quotas, 'maxNodeCount', nodes) ?? beyond(quotas, 'maxProjectionCount', nodes * PROJECTIONS_OF_A_NODE)
  if (over !== undefined) throw new KsError('reindex-over-quota', `a reindex keeps old and new nodes at once: ${over}`)
}

/** @throws KsError `quota-exceeded` when a space accepts no more queries */
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
