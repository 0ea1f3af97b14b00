import type { IntegrityTarget } from '../../contract/gateway/integrity.js'
import { isHidden } from '../rows/integrity/audience.js'
import type { Read } from '../storage/program.js'
import type { Scan } from './findings.js'

/**
 * Whether who asks may know of what a report names: a document, a passage, a version or a commit of a source whose scope
 * leaves the asker out is in no report, and no repair or collection of the asker's touches it.
 */
export function* isKnown({ space, reader }: Scan, target: IntegrityTarget): Read<boolean> {
  const { id = null, objectKey = null, documentAssetId = null, parseArtifactId = null } = target
  const staged = objectKey?.startsWith('tmp/') ? objectKey.slice('tmp/'.length) : id
  const names = { id, documentId: documentAssetId, artifactId: parseArtifactId, objectKey, staged }
  return !(yield* isHidden(reader, space.key, names))
}

/** Of what was found, that which who asks may know of. @param targetOf what a finding names */
export function* knownOf<T>(scan: Scan, found: readonly T[], targetOf: (found: T) => IntegrityTarget): Read<T[]> {
  const known: T[] = []
  for (const one of found) if (yield* isKnown(scan, targetOf(one))) known.push(one)
  return known
}
