import type {
  ConsistencyReport,
  FsckCheck,
  GcCandidate,
  GcDryRun,
  GcExecuted,
  Lease,
  RepairBody,
  RepairReport,
  StagedCommit,
  StagedCommitStatus,
} from '../../contract/gateway/integrity.js'
import { newId } from '../../lib/ids.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { Caller } from '../base/caller.js'
import { hashFilter } from '../base/cursor.js'
import type { Page, PageRequest } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { findSpace } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { listCommits } from './commits.js'
import type { IntegrityScan } from './findings.js'
import { candidatePhases } from './gc-candidates.js'
import { executeCandidates } from './gc-execute.js'
import { listLeases } from './lease-list.js'
import { checkPage, scanPage } from './pages.js'
import { repairPage } from './repair.js'

type CommitsPage = PageRequest & { status?: StagedCommitStatus | undefined }

/** Checks that rows, files and indexes agree, and collects what is no longer needed. */
export interface IntegrityOperations {
  fsck(
    caller: Caller,
    spaceId: string,
    query: { check: FsckCheck; deep: boolean; cursor?: string | undefined },
  ): Promise<ConsistencyReport>
  repair(caller: Caller, spaceId: string, body: RepairBody): Promise<RepairReport>
  gcDryRun(
    caller: Caller,
    spaceId: string,
    query: { cursor?: string | undefined; stagedObjectPrefix?: string | undefined },
  ): Promise<GcDryRun>
  gcExecute(caller: Caller, spaceId: string, candidates: GcCandidate[]): Promise<GcExecuted>
  commits(caller: Caller, spaceId: string, page: CommitsPage): Promise<Page<StagedCommit>>
  leases(caller: Caller, spaceId: string, page: PageRequest): Promise<Page<Lease>>
}

export function createIntegrityOperations(context: EngineContext): IntegrityOperations {
  function* createScan(caller: Caller, spaceId: string): Read<IntegrityScan> {
    return {
      context,
      reader: caller,
      space: yield* findSpace(caller.tenant, spaceId),
      now: context.now(),
    }
  }
  return {
    fsck: async (caller, spaceId, query) => checkConsistency(await context.db.read(createScan(caller, spaceId)), query),
    repair: async (caller, spaceId, body) => repairPage(await context.db.read(createScan(caller, spaceId)), body),
    gcDryRun: async (caller, spaceId, query) => dryRun(await context.db.read(createScan(caller, spaceId)), query),
    gcExecute: async (caller, spaceId, candidates) =>
      executeCandidates(await context.db.read(createScan(caller, spaceId)), candidates),
    commits: (caller, spaceId, page) => context.db.read(readCommits(caller, spaceId, page)),
    leases: (caller, spaceId, page) => context.db.read(readLeases(context, caller, spaceId, page)),
  }
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
    filter,
    query.cursor,
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
