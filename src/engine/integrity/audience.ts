import type { IntegrityTarget } from '../../contract/gateway/integrity.js'
import { isHidden } from '../rows/integrity/audience.js'
import type { Read } from '../storage/program.js'
import type { Scan } from './findings.js'

/**
 * Whether a reader may see the target of a finding. Documents, passages, versions and commits of a source whose scope
 * excludes the reader appear in no report, and no repair or collection by the reader changes them.
 */
export function* isKnown({ space, reader }: Scan, target: IntegrityTarget): Read<boolean> {
  const { id = null, objectKey = null, documentAssetId = null, parseArtifactId = null } = target
  const staged = objectKey?.startsWith('tmp/') ? objectKey.slice('tmp/'.length) : id
  const names = { id, documentId: documentAssetId, artifactId: parseArtifactId, objectKey, staged }
  return !(yield* isHidden(reader, space.key, names))
}

/** Filters the findings that the reader may see. @param targetOf the target of a finding */
export function* knownOf<T>(scan: Scan, found: readonly T[], targetOf: (found: T) => IntegrityTarget): Read<T[]> {
  const known: T[] = []
  for (const one of found) if (yield* isKnown(scan, targetOf(one))) known.push(one)
  return known
}
