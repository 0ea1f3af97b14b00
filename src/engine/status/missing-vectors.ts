import type { KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'
import type { Caller } from '../base/caller.js'
import { deniedSources } from '../rows/permissions.js'
import { countWithoutVectors, documentsWithoutVectors } from '../rows/space-status.js'
import type { SpaceRow } from '../rows/spaces.js'
import { missingOf, waitOf } from '../rows/vectors-due.js'
import type { Read } from '../storage/program.js'
import { lastFailure } from './last-failure.js'

type MissingVectors = NonNullable<KnowledgeSpaceStatus['index']['missingVectors']>

/**
 * Published passages of a space without a vector, and the provider's last failure. Documents of sources that the caller
 * may not read are counted, but not listed.
 *
 * @param sample maximum number of listed documents
 */
export function* missingVectors(
  space: SpaceRow,
  caller: Caller,
  sample: number,
): Read<{ missingVectors?: MissingVectors }> {
  const { due, refused } = yield* missingOf(space.key)
  if (due + refused === 0) return {}
  const wait = yield* waitOf(space.key)
  const documents = yield* documentsWithoutVectors(space.key, yield* deniedSources(space.key, caller), sample)
  const count = yield* countWithoutVectors(space.key)
  return {
    missingVectors: {
      passages: due,
      refused,
      ...lastFailure(wait),
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
