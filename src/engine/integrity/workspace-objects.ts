import {
  isSnapshotFileThere,
  isWorkspaceFileThere,
  snapshotFileBytes,
  type WrittenBytes,
  workspaceFileBytes,
} from '../rows/integrity/objects.js'
import { unlessAway } from '../storage/objects.js'
import type { Read } from '../storage/program.js'
import { type Finding, finding, type Scan } from './findings.js'
import { type Phase, sliceOf } from './phase.js'

/** files have at most one mebibyte */
const SLICE = 64

/** Reads and hashes the bytes of every file in the workspaces. */
const files: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(workspaceFileBytes(scan.space.key, Number(after ?? 0), SLICE))
  return check(scan, rows, isWorkspaceFileThere, 'write the file again: the same content replaces them')
}

/** The same for every file of a snapshot. */
const frozen: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(snapshotFileBytes(scan.space.key, Number(after ?? 0), SLICE))
  const advice = 'write a workspace file with the same content: it replaces them'
  return check(scan, rows, isSnapshotFileThere, advice)
}

async function check(scan: Scan, rows: WrittenBytes[], isThere: (key: number) => Read<boolean>, advice: string) {
  const { db, objects } = scan.context
  const findings: Finding[] = []
  for (const row of rows) {
    const read = await objects.measure(row.object_key).catch(unlessAway)
    const [issue, message] = verdict(row, read)
    // it may have been removed while it was read
    if (issue === undefined || !(await db.read(isThere(row.key)))) continue
    const target = { type: 'raw-object', id: row.id, objectKey: row.object_key, virtualPath: row.path } as const
    findings.push(finding(issue.type, issue.code, message, target, { by: 'person', advice }))
  }
  return sliceOf(rows, SLICE, findings, (row) => row.key)
}

const ISSUES = {
  missing: { type: 'missing-raw-object', code: 'workspace-object-missing' },
  unreadable: { type: 'checksum-mismatch', code: 'workspace-object-unreadable' },
  size: { type: 'size-mismatch', code: 'workspace-object-size' },
  hash: { type: 'checksum-mismatch', code: 'workspace-object-hash' },
} as const

type Measured = { size: number; sha256: string } | { error: string } | undefined

function verdict(row: WrittenBytes, read: Measured): [(typeof ISSUES)[keyof typeof ISSUES] | undefined, string] {
  const name = JSON.stringify(row.path)
  if (read === undefined) return [ISSUES.missing, `the bytes of ${name} are missing`]
  if ('error' in read) return [ISSUES.unreadable, `the bytes of ${name} cannot be read: ${read.error}`]
  if (read.size !== row.size_bytes)
    return [ISSUES.size, `${name} has ${read.size} bytes on disk, ${row.size_bytes} were written`]
  if (read.sha256 !== row.sha256) return [ISSUES.hash, `the bytes of ${name} differ from what was written`]
  return [undefined, '']
}

export const workspaceObjectPhases: Phase[] = [files, frozen]
