import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { ObjectMeasureResult } from '../../store/object-thread.js'
import { toReadError } from '../../store/objects.js'
import type { Read } from '../../store/program.js'
import {
  hasSnapshotFile,
  hasWorkspaceFile,
  listSnapshotFileBytes,
  listWorkspaceFileBytes,
  type WrittenBytes,
} from '../rows/integrity/objects.js'
import { createFinding, type IntegrityFinding, type IntegrityScan } from './findings.js'
import { makeScanSlice, type ScanPhase } from './phase.js'

/** files have at most one mebibyte */
const SLICE = 64

/** Reads and hashes the bytes of every file in the workspaces. */
const filesPhase: ScanPhase = async (scan, after) => {
  const rows = await scan.context.db.read(listWorkspaceFileBytes(scan.space.key, Number(after ?? 0), SLICE))
  return checkFiles(scan, rows, hasWorkspaceFile, 'write the file again: the same content replaces them')
}

/** The same for every file of a snapshot. */
const snapshotFilesPhase: ScanPhase = async (scan, after) => {
  const rows = await scan.context.db.read(listSnapshotFileBytes(scan.space.key, Number(after ?? 0), SLICE))
  const advice = 'write a workspace file with the same content: it replaces them'
  return checkFiles(scan, rows, hasSnapshotFile, advice)
}

async function checkFiles(
  scan: IntegrityScan,
  rows: WrittenBytes[],
  isThere: (key: number) => Read<boolean>,
  advice: string,
) {
  const { db, objects } = scan.context
  const findings: IntegrityFinding[] = []
  for (const row of rows) {
    const measured = await objects.measure(row.object_key).catch(toReadError)
    const [issue, message] = findIssue(row, measured)
    // it may have been removed while it was read
    if (issue === undefined || !(await db.read(isThere(row.key)))) continue
    const target = { type: 'raw-object', id: row.id, objectKey: row.object_key, virtualPath: row.path } as const
    findings.push(createFinding(issue.type, issue.code, message, { target, remedy: { by: 'person', advice } }))
  }
  return makeScanSlice(rows, SLICE, findings, (row) => row.key)
}

const ISSUES = {
  missing: { type: 'missing-raw-object', code: 'workspace-object-missing' },
  unreadable: { type: 'checksum-mismatch', code: 'workspace-object-unreadable' },
  size: { type: 'size-mismatch', code: 'workspace-object-size' },
  hash: { type: 'checksum-mismatch', code: 'workspace-object-hash' },
} as const

function findIssue(
  row: WrittenBytes,
  measured: ObjectMeasureResult,
): [(typeof ISSUES)[keyof typeof ISSUES] | undefined, string] {
  const name = JSON.stringify(row.path)
  if (measured === undefined) return [ISSUES.missing, `the bytes of ${name} are missing`]
  if ('error' in measured) return [ISSUES.unreadable, `the bytes of ${name} cannot be read: ${measured.error}`]
  if (measured.size !== row.size_bytes)
    return [
      ISSUES.size,
      `${name} has ${pluralize(measured.size, 'byte')} on disk, ${formatCount(row.size_bytes)} were written`,
    ]
  if (measured.sha256 !== row.sha256) return [ISSUES.hash, `the bytes of ${name} differ from what was written`]
  return [undefined, '']
}

export const workspaceObjectPhases: ScanPhase[] = [filesPhase, snapshotFilesPhase]
