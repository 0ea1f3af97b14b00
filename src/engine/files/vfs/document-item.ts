import { KsError } from '../../../contract/errors.js'
import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { parseJsonCell } from '../../store/readable.js'
import { toSourceField } from '../../store/rows/permissions.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'

/** A document as an entry: a `directory` under `/knowledge`, a `resource` under `/sources`. */
export function toDocumentItem(
  row: DocumentEntry,
  base: { kind: VirtualItem['kind']; name: string; path: string },
): VirtualItem {
  return {
    ...base,
    metadata: {
      ...omitUndefined({
        documentDate: row.document_date ?? undefined,
        author: row.author ?? undefined,
        language: row.language ?? undefined,
      }),
      ...parseMetadata(row.metadata),
      filename: row.filename,
      mimeType: row.mime_type,
      sizeBytes: row.size_bytes,
      ...toSourceField(row.source_id),
      createdAt: new Date(row.created_at).toISOString(),
      updatedAt: new Date(row.updated_at).toISOString(),
      ...(row.version_key === null ? { state: row.parser_status === 'failed' ? 'failed' : 'pending' } : {}),
      ...omitUndefined({ error: row.error ?? undefined }),
    },
    resourceType: 'document',
    targetId: row.id,
    version: row.version,
  }
}

function parseMetadata(json: string): Record<string, unknown> {
  const value: unknown = parseJsonCell(json)
  if (typeof value !== 'object' || value === null) throw new KsError('internal', 'stored metadata is not an object')
  return { ...value }
}
