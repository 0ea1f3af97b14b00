import { sql } from '../storage/program.js'
import { type Finding, finding, type Scan } from './findings.js'
import { type Phase, sliceOf } from './phase.js'

/** files hold at most a mebibyte */
const SLICE = 64

interface Stored {
  key: number
  id: string
  path: string
  object_key: string
  sha256: string
  size_bytes: number
}

/** The bytes of every file in the workspaces are read again and hashed. */
const files: Phase = async (scan, after) => {
  const rows = scan.context.db.now(
    sql.allAsStored<Stored>(
      `SELECT key, id, '/workspaces/' || replace(folder, char(1), '/') || base path, object_key, sha256, size_bytes
     FROM workspace_files WHERE space_key = ? AND key > ? AND until_seq IS NULL ORDER BY key LIMIT ?`,
      [scan.space.key, Number(after ?? 0), SLICE],
    ),
  )
  const live = 'SELECT 1 one FROM workspace_files WHERE key = ? AND removed = 0'
  return check(scan, rows, live, 'write the file again: the same content takes their place')
}

/** And of every file that a snapshot froze. */
const frozen: Phase = async (scan, after) => {
  const rows = scan.context.db.now(
    sql.allAsStored<Stored>(
      `SELECT key, snapshot_id id, path, object_key, sha256, size_bytes FROM snapshot_files
     WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?`,
      [scan.space.key, Number(after ?? 0), SLICE],
    ),
  )
  const live = 'SELECT 1 one FROM snapshot_files WHERE key = ?'
  return check(scan, rows, live, 'a file of a workspace with the same content, written again, takes their place')
}

async function check(scan: Scan, rows: Stored[], live: string, advice: string) {
  const { db, objects } = scan.context
  const findings: Finding[] = []
  for (const row of rows) {
    const read = await objects.measure(row.object_key).catch((error: unknown) => ({ error: String(error) }))
    const [issue, message] = verdict(row, read)
    // it may have been removed while it was read
    if (issue === undefined || db.now(sql.get(live, [row.key])) === undefined) continue
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

type Read = { size: number; sha256: string } | { error: string } | undefined

function verdict(row: Stored, read: Read): [(typeof ISSUES)[keyof typeof ISSUES] | undefined, string] {
  const name = JSON.stringify(row.path)
  if (read === undefined) return [ISSUES.missing, `the bytes of ${name} are not there`]
  if ('error' in read) return [ISSUES.unreadable, `the bytes of ${name} cannot be read: ${read.error}`]
  if (read.size !== row.size_bytes)
    return [ISSUES.size, `${name} has ${read.size} bytes on disk, ${row.size_bytes} were written`]
  if (read.sha256 !== row.sha256) return [ISSUES.hash, `the bytes of ${name} are not those that were written`]
  return [undefined, '']
}

export const workspaceObjectPhases: Phase[] = [files, frozen]
