import { hasChatFile, listChatFileBytes } from '../rows/integrity/objects.js'
import type { IntegrityFinding } from './findings.js'
import { makeScanSlice, type ScanPhase } from './phase.js'
import { checkBytes } from './raw-objects.js'

/** an image has at most 10 MB */
const SLICE_ROWS = 25

/**
 * Files of the tenant's chat applications. They belong to no space, so the check of every space of the tenant includes
 * them.
 */
export const chatFilesPhase: ScanPhase = async ({ context, space }, after) => {
  const { db, objects } = context
  const rows = await db.read(listChatFileBytes(space.tenant, String(after ?? ''), SLICE_ROWS))
  const findings: IntegrityFinding[] = []
  for (const row of rows) {
    const stillExists = () => db.read(hasChatFile(space.tenant, row.id))
    const target = { type: 'raw-object', id: row.id, objectKey: row.object_key } as const
    const issue = await checkBytes(objects, { ...row, target, stillExists })
    if (issue !== undefined) findings.push(issue)
  }
  return makeScanSlice(rows, SLICE_ROWS, findings, (row) => row.id)
}
