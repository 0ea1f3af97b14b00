import { type Read, sql } from '../program.js'

/** The current content of a space; triggers of the schema keep these numbers in the transaction of every change. */
export interface SpaceUsage {
  /** number of documents that are not deleted; their bytes */
  documents: number
  rawBytes: number
  /** parse artifacts with outlines and items, of every retained version */
  artifactBytes: number
  segments: number
  /** nodes of versions that are current or being built */
  nodes: number
  /** traces with their questions, steps and bundles */
  traceBytes: number
}

export function* getSpaceUsage(spaceKey: number): Read<SpaceUsage> {
  const none: SpaceUsage = { documents: 0, rawBytes: 0, artifactBytes: 0, segments: 0, nodes: 0, traceBytes: 0 }
  return (
    (yield* sql.get<SpaceUsage>(
      `SELECT document_count documents, raw_bytes rawBytes, artifact_bytes artifactBytes, segment_count segments,
         node_count nodes, trace_bytes traceBytes FROM space_usage WHERE space_key = ?`,
      [spaceKey],
    )) ?? none
  )
}
