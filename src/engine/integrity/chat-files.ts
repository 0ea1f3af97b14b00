import { chatFileBytes, isChatFileThere } from '../rows/integrity/objects.js'
import type { Finding } from './findings.js'
import { type Phase, sliceOf } from './phase.js'
import { checkBytes } from './raw-objects.js'

/** an image has at most 10 MB */
const SLICE_ROWS = 25

/**
 * Files of the tenant's chat applications. They belong to no space, so the check of every space of the tenant includes
 * them.
 */
export const chatFiles: Phase = async ({ context, space }, after) => {
  const { db, objects } = context
  const rows = await db.read(chatFileBytes(space.tenant, String(after ?? ''), SLICE_ROWS))
  const findings: Finding[] = []
  for (const row of rows) {
    const stillThere = () => db.read(isChatFileThere(space.tenant, row.id))
    const target = { type: 'raw-object', id: row.id, objectKey: row.object_key } as const
    const found = await checkBytes(objects, { ...row, target, stillThere })
    if (found !== undefined) findings.push(found)
  }
  return sliceOf(rows, SLICE_ROWS, findings, (row) => row.id)
}
