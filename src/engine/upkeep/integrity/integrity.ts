import type {
  ConsistencyReport,
  FsckCheck,
  GcCandidate,
  GcDryRun,
  Lease,
  StagedCommit,
  StagedCommitStatus,
} from '../../../contract/gateway/integrity.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { hashFilter } from '../../base/cursor.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { EngineContext } from '../../library/index.js'
import { bind, bindRead } from '../../store/bind-operation.js'
import type { Read } from '../../store/program.js'
import { findSpace } from '../../store/rows/spaces.js'
import { listCommits } from './commits.js'
import type { IntegrityScan } from './findings.js'
import { candidatePhases } from './gc-candidates.js'
import { executeCandidates } from './gc-execute.js'
import { listLeases } from './lease-list.js'
import { checkPage, scanPage } from './pages.js'
import { repairPage } from './repair.js'

type CommitsPage = PageRequest & { status?: StagedCommitStatus | undefined }

export type IntegrityOperations = ReturnType<typeof createIntegrityOperations>

/** Operations that check whether rows, files and indexes agree, and collect what is no longer needed. */
export function createIntegrityOperations(context: EngineContext) {
  const { db } = context
  const scanning = <Query, T>(work: (scan: IntegrityScan, query: Query) => Promise<T>) =>
    bind(async (caller: Caller, spaceId: string, query: Query) =>
      work(await db.read(createScan(context, caller, spaceId)), query),
    )
  return {
    fsck: scanning(checkConsistency),
    repair: scanning(repairPage),
    gcDryRun: scanning(dryRun),
    gcExecute: scanning(executeCandidates),
    commits: bindRead(db, readCommits),
    leases: bindRead(db, bind(readLeases, context)),
  }
}

function* createScan(context: EngineContext, caller: Caller, spaceId: string): Read<IntegrityScan> {
  return { context, reader: caller, space: yield* findSpace(caller.tenant, spaceId), now: context.now() }
}

function* readCommits(caller: Caller, spaceId: string, page: CommitsPage): Read<Page<StagedCommit>> {
  return yield* listCommits(caller, yield* findSpace(caller.tenant, spaceId), page)
}

function* readLeases(context: EngineContext, caller: Caller, spaceId: string, page: PageRequest): Read<Page<Lease>> {
  return yield* listLeases(context, caller, yield* findSpace(caller.tenant, spaceId), page)
}

async function checkConsistency(
  scan: IntegrityScan,
  query: { check: FsckCheck; deep: boolean; cursor?: string | undefined },
): Promise<ConsistencyReport> {
  const { scanned, findings, cursor } = await checkPage(scan, query)
  const issues = findings.map(({ issue }) => issue)
  const count = (severity: string) => issues.filter((issue) => issue.severity === severity).length
  return {
    knowledgeSpaceId: scan.space.id,
    tenantId: scan.space.tenant,
    scannedAt: new Date(scan.now).toISOString(),
    ...omitUndefined({ cursor }),
    summary: {
      scanned,
      info: count('info'),
      warning: count('warning'),
      error: count('error'),
      critical: count('critical'),
      repairable: issues.filter((issue) => issue.repairability === 'auto-repairable').length,
    },
    issues,
  }
}

const getCandidateTarget = ({ target }: GcCandidate) => target

async function dryRun(
  scan: IntegrityScan,
  query: { cursor?: string | undefined; stagedObjectPrefix?: string | undefined },
): Promise<GcDryRun> {
  const filter = hashFilter('gc', scan.space.id, query.stagedObjectPrefix)
  const { findings, cursor } = await scanPage(
    scan,
    candidatePhases(query.stagedObjectPrefix),
    { filter, cursor: query.cursor },
    getCandidateTarget,
  )
  return {
    knowledgeSpaceId: scan.space.id,
    tenantId: scan.space.tenant,
    dryRunId: newId(),
    generatedAt: new Date(scan.now).toISOString(),
    ...omitUndefined({ cursor }),
    summary: {
      candidateCount: findings.length,
      stagedObjectCount: findings.filter(({ candidateType }) => candidateType === 'staged-object').length,
      failedCommitCount: findings.filter(({ candidateType }) => candidateType === 'failed-commit').length,
      estimatedBytes: findings.reduce((sum, { estimatedBytes }) => sum + estimatedBytes, 0),
    },
    candidates: findings,
  }
}
