import type { ConsistencyIssue, IntegrityTarget, IssueType } from '../../../contract/gateway/integrity.js'
import type { EngineContext } from '../../library/index.js'
import type { Reader } from '../../store/rows/permissions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'

/** How an issue is fixed; its target is looked up again before anything is changed. */
export type RepairRemedy =
  | { by: 'nobody' }
  | { by: 'person'; advice: string }
  | { by: 'removing-object'; objectKey: string }
  | { by: 'noting-object'; objectKey: string }
  | { by: 'removing-staged'; id: string }
  | { by: 'collecting-commit'; commitId: string }
  | { by: 'reading-again'; versionKey: number }
  | { by: 'compiling-again'; docKey: number }
  | { by: 'removing-nodes'; first: number; last: number }
  | { by: 'removing-vector'; vectorSpaceKey: number; nodeKey: number }
  | { by: 'filling-vectors' }
  | { by: 'rebuilding-index' }

/** An issue with the data that its repair needs. */
export interface IntegrityFinding {
  issue: ConsistencyIssue
  remedy: RepairRemedy
}

/** The input of a scan. */
export interface IntegrityScan {
  /** identity of the caller */
  reader: Reader
  context: EngineContext
  space: SpaceRow
  now: number
}

const SEVERITY: Record<IssueType, ConsistencyIssue['severity']> = {
  'missing-raw-object': 'critical',
  'checksum-mismatch': 'critical',
  'size-mismatch': 'error',
  'missing-artifact-object': 'error',
  'segment-hash-mismatch': 'error',
  'broken-path-target': 'warning',
  'missing-node-target': 'error',
  'stale-projection': 'warning',
  'orphaned-staged-object': 'info',
  'failed-commit-expired': 'info',
}

interface FindingDetails {
  target: IntegrityTarget
  remedy: RepairRemedy
  /** only where it differs from the default of the type */
  severity?: ConsistencyIssue['severity'] | undefined
}

/**
 * Creates a finding.
 *
 * @param code stable code, more specific than `type`
 */
export function createFinding(
  type: IssueType,
  code: string,
  message: string,
  { target, remedy, severity = SEVERITY[type] }: FindingDetails,
): IntegrityFinding {
  const repairability =
    remedy.by === 'nobody' ? 'not-repairable' : remedy.by === 'person' ? 'manual' : 'auto-repairable'
  return { issue: { code, message, type, severity, repairability, target }, remedy }
}
