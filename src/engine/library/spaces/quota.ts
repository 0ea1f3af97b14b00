import { KsError } from '../../../contract/errors.js'
import type { QuotaPolicy } from '../../../contract/gateway/spaces.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { Read } from '../../store/program.js'
import { getSpaceUsage, type SpaceUsage } from '../../store/rows/space-usage.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { EngineContext } from '../context.js'
import { parsePolicies } from './manifest.js'

/** The size that a further version adds. */
export interface VersionSize {
  artifactBytes: number
  /** number of elements, as `maxSegmentCount` of the contract limits it */
  segments: number
  nodes: number
}

type SizeQuotaName =
  | 'maxArtifactBytes'
  | 'maxSegmentCount'
  | 'maxNodeCount'
  | 'maxProjectionCount'
  | 'maxRawDocumentBytes'

/** a node has a projection in the text index and in the vector index */
const PROJECTIONS_PER_NODE = 2

/** The effective quotas: those of the space's manifest, overridden by those of the deployment. */
export function getQuotas({ options }: Pick<EngineContext, 'options'>, space: SpaceRow): QuotaPolicy {
  const { providerBudgets, ...own } = parsePolicies(space).quotaPolicy
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
export function* assertDocumentQuota(context: EngineContext, space: SpaceRow, rawBytes: number): Read<void> {
  const quotas = getQuotas(context, space)
  const usage = yield* getSpaceUsage(space.key)
  const excess =
    describeExcess(quotas, 'maxRawDocumentBytes', usage.rawBytes + rawBytes) ??
    // the size of the compiled versions is not known yet: a full space accepts nothing more
    describeVersionExcess(quotas, usage, { artifactBytes: 1, segments: 1, nodes: 1 })
  if (excess !== undefined) throw new KsError('quota-exceeded', excess)
}

/** Checked inside the transaction that inserted documents. @throws KsError `quota-exceeded`, which rolls it back */
export function* assertRawBytesQuota(context: EngineContext, space: SpaceRow): Read<void> {
  const excess = describeExcess(
    getQuotas(context, space),
    'maxRawDocumentBytes',
    (yield* getSpaceUsage(space.key)).rawBytes,
  )
  if (excess !== undefined) throw new KsError('quota-exceeded', excess)
}

/** The reason why a version must not be stored. */
export interface QuotaExcess {
  code: 'quota-exceeded'
  message: string
}

/** Checked inside the transaction that stores a version. @returns the reason why it must not be stored */
export function* checkVersionQuota(
  context: EngineContext,
  space: SpaceRow,
  size: VersionSize,
): Read<QuotaExcess | undefined> {
  return (yield* checkVersionQuotas(context, space, [size]))[0]
}

/** The same for versions that are stored in order: a rejected one does not count for the next ones. */
export function* checkVersionQuotas(
  context: EngineContext,
  space: SpaceRow,
  versions: readonly VersionSize[],
): Read<(QuotaExcess | undefined)[]> {
  if (versions.length === 0) return []
  const quotas = getQuotas(context, space)
  const usage = yield* getSpaceUsage(space.key)
  return versions.map((size) => {
    const message = describeVersionExcess(quotas, usage, size)
    if (message !== undefined) return { code: 'quota-exceeded', message }
    usage.artifactBytes += size.artifactBytes
    usage.segments += size.segments
    usage.nodes += size.nodes
    return undefined
  })
}

/** @throws KsError `reindex-over-quota`: during a reindex old and new nodes exist at once */
export function* assertReindexQuota(context: EngineContext, space: SpaceRow, documents: number): Read<void> {
  const usage = yield* getSpaceUsage(space.key)
  const fraction = usage.documents === 0 ? 0 : documents / usage.documents
  const nodes = usage.nodes + Math.ceil(usage.nodes * fraction)
  const quotas = getQuotas(context, space)
  const excess =
    describeExcess(quotas, 'maxNodeCount', nodes) ??
    describeExcess(quotas, 'maxProjectionCount', nodes * PROJECTIONS_PER_NODE)
  if (excess !== undefined)
    throw new KsError(
      'reindex-over-quota',
      `while documents are read again, their old and new passages both count: ${excess}`,
    )
}

/** @throws KsError `quota-exceeded` when a space accepts no more queries */
export function assertTraceQuota(context: EngineContext, space: SpaceRow, traceBytes: number): void {
  const limit = getQuotas(context, space).maxTraceBytes
  if (limit !== null && traceBytes >= limit)
    throw new KsError(
      'quota-exceeded',
      `the traces of the space have ${pluralize(traceBytes, 'byte')}, its quota maxTraceBytes is ${formatCount(limit)}: a shorter answerTraceRetentionDays removes old ones`,
    )
}

function describeVersionExcess(quotas: QuotaPolicy, usage: SpaceUsage, size: VersionSize): string | undefined {
  const nodes = usage.nodes + size.nodes
  return (
    describeExcess(quotas, 'maxArtifactBytes', usage.artifactBytes + size.artifactBytes) ??
    describeExcess(quotas, 'maxSegmentCount', usage.segments + size.segments) ??
    describeExcess(quotas, 'maxNodeCount', nodes) ??
    describeExcess(quotas, 'maxProjectionCount', nodes * PROJECTIONS_PER_NODE)
  )
}

const UNITS: Record<SizeQuotaName, string> = {
  maxArtifactBytes: 'bytes of parsed documents',
  maxSegmentCount: 'parts of parsed documents',
  maxNodeCount: 'passages',
  maxProjectionCount: 'index entries',
  maxRawDocumentBytes: 'bytes of documents',
}

function describeExcess(quotas: QuotaPolicy, name: SizeQuotaName, total: number): string | undefined {
  if (total <= quotas[name]) return undefined
  return `the space would have ${formatCount(total)} ${UNITS[name]}, its quota ${name} is ${formatCount(quotas[name])}`
}
