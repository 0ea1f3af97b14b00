import type { IntegrityTarget } from '../../../contract/gateway/integrity.js'
import type { Read } from '../../store/program.js'
import { isHidden } from '../rows/integrity/audience.js'
import type { IntegrityScan } from './findings.js'

/**
 * Whether a reader may see the target of a finding. Documents, passages, versions and commits of a source whose scope
 * excludes the reader appear in no report, and no repair or collection by the reader changes them.
 */
export function* isTargetVisible({ space, reader }: IntegrityScan, target: IntegrityTarget): Read<boolean> {
  const { id = null, objectKey = null, documentAssetId = null, parseArtifactId = null } = target
  const staged = objectKey?.startsWith('tmp/') ? objectKey.slice('tmp/'.length) : id
  const names = { id, documentId: documentAssetId, artifactId: parseArtifactId, objectKey, staged }
  return !(yield* isHidden(reader, space.key, names))
}

/** Filters the findings that the reader may see. @param toTarget the target of a finding */
export function* filterVisible<T>(
  scan: IntegrityScan,
  findings: readonly T[],
  toTarget: (findings: T) => IntegrityTarget,
): Read<T[]> {
  const visible: T[] = []
  for (const finding of findings) if (yield* isTargetVisible(scan, toTarget(finding))) visible.push(finding)
  return visible
}
