import type { IntegrityTarget } from '../../contract/gateway/integrity.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import { type Read, sql } from '../storage/program.js'
import type { Scan } from './findings.js'

/**
 * Whether who asks may know of what a report names: a document, a passage, a version or a commit of a source whose scope
 * leaves the asker out is in no report, and no repair or collection of the asker's touches it.
 */
export function* isKnown({ space, reader }: Scan, target: IntegrityTarget): Read<boolean> {
  const { id = null, objectKey = null, documentAssetId = null, parseArtifactId = null } = target
  const staged = objectKey?.startsWith('tmp/') ? objectKey.slice('tmp/'.length) : id
  const asker = askerOf(reader)
  const hidden = yield* sql.get<{ one: number }>(
    `SELECT 1 one WHERE
       EXISTS (SELECT 1 FROM documents d WHERE d.id IN (?, ?) AND NOT ${mayKnow('d.source_id')})
       OR EXISTS (SELECT 1 FROM nodes n CROSS JOIN documents d ON d.key = n.doc_key
                  WHERE n.id = ? AND NOT ${mayKnow('d.source_id')})
       OR EXISTS (SELECT 1 FROM versions v INDEXED BY versions_live CROSS JOIN documents d ON d.key = v.doc_key
                  WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision IS NULL
                    AND v.artifact_id IN (?, ?) AND NOT ${mayKnow('d.source_id')})
       OR EXISTS (SELECT 1 FROM staged_commits c WHERE c.id = ? AND NOT ${mayKnow('c.source_id')})
       OR EXISTS (SELECT 1 FROM staged_commits c
                  WHERE c.published_object_key = ? AND NOT ${mayKnow('c.source_id')})`,
    [documentAssetId, id, asker, id, asker, space.key, id, parseArtifactId, asker, staged, asker, objectKey, asker],
  )
  return hidden === undefined
}
