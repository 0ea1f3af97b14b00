import type { ParseArtifact } from '../../../contract/gateway/document-parts.js'
import { type Read, sql } from '../program.js'

/** A row of `versions`. */
export interface VersionRow {
  key: number
  doc_key: number
  space_key: number
  version: number
  title: string
  artifact_id: string
  artifact_hash: string
  content_type: ParseArtifact['contentType']
  parser: ParseArtifact['parser']
  metadata: string
  artifact: Uint8Array
  outline_id: string
  outline: Uint8Array
  items_id: string
  items: Uint8Array
  node_count: number
  first_node: number | null
  last_node: number | null
  from_revision: number | null
  until_revision: number | null
  created_at: number
}

/** A version of a document that was published, by its number. */
export function* findVersionByNumber(docKey: number, version: number): Read<VersionRow | undefined> {
  return yield* sql.get<VersionRow>(
    'SELECT * FROM versions WHERE doc_key = ? AND version = ? AND from_revision IS NOT NULL',
    [docKey, version],
  )
}

/** The published version of a document; undefined before the first publication. */
export function* findPublishedVersion(docKey: number): Read<VersionRow | undefined> {
  return yield* sql.get<VersionRow>(
    `SELECT * FROM versions WHERE doc_key = ? AND from_revision IS NOT NULL AND until_revision IS NULL
     ORDER BY version DESC LIMIT 1`,
    [docKey],
  )
}

/** A passage and the section of the outline that contains it. */
export interface SectionNode {
  id: string
  outline_node: string
  ordinal: number
}

/** Some passages of a version in reading order. */
export function* listSectionNodes(versionKey: number, after: number, limit: number): Read<SectionNode[]> {
  return yield* sql.all<SectionNode>(
    'SELECT id, outline_node, ordinal FROM nodes WHERE version_key = ? AND ordinal > ? ORDER BY ordinal LIMIT +?',
    [versionKey, after, limit],
  )
}

/** The bytes of a picture or table of a version. */
export function* findItemAsset(
  versionKey: number,
  itemId: string,
): Read<{ bytes: Uint8Array; content_type: string } | undefined> {
  return yield* sql.get<{ bytes: Uint8Array; content_type: string }>(
    'SELECT bytes, content_type FROM item_assets WHERE version_key = ? AND item_id = ?',
    [versionKey, itemId],
  )
}
