import type { KnowledgeSpaceStatus } from '../../../contract/gateway/space-status.js'
import type { Caller } from '../../base/caller.js'
import type { Read } from '../../store/program.js'
import { listDeniedSources } from '../../store/rows/permissions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { countDueVectors, findVectorWait } from '../../store/rows/vectors-due.js'
import { countDocumentsWithoutVectors, listDocumentsWithoutVectors } from '../rows/space-status.js'
import { toLastFailure } from './last-failure.js'

type MissingVectorStatus = NonNullable<KnowledgeSpaceStatus['index']['missingVectors']>

/**
 * Published passages of a space without a vector, and the provider's last failure. Documents of sources that the caller
 * may not read are counted, but not listed.
 *
 * @param sample maximum number of listed documents
 */
export function* getMissingVectors(
  space: SpaceRow,
  caller: Caller,
  sample: number,
): Read<{ missingVectors?: MissingVectorStatus }> {
  const { due, refused } = yield* countDueVectors(space.key)
  if (due + refused === 0) return {}
  const wait = yield* findVectorWait(space.key)
  const documents = yield* listDocumentsWithoutVectors(space.key, yield* listDeniedSources(space.key, caller), sample)
  const count = yield* countDocumentsWithoutVectors(space.key)
  return {
    missingVectors: {
      passages: due,
      refused,
      ...toLastFailure(wait),
      documents: {
        count,
        truncated: count > documents.length,
        items: documents.map((row) => ({
          documentId: row.id,
          filename: row.filename,
          passages: row.due,
          refused: row.refused,
        })),
      },
    },
  }
}
