import { usageError } from './cli-error.js'
import type { OutputColumn } from './columns.js'

export const SPACE_COLUMNS: OutputColumn[] = [
  { field: 'name' },
  { field: 'slug' },
  { field: 'id', kind: 'id' },
  { field: 'updatedAt', title: 'UPDATED', kind: 'time' },
]
export const SPACE_FIELDS = ['id', 'name', 'slug', 'description', 'tenantId', 'createdAt', 'updatedAt']

export const DOCUMENT_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'filename', title: 'FILE', kind: 'name' },
  { field: 'parserStatus', title: 'STATE', kind: 'state' },
  { field: 'sizeBytes', title: 'SIZE', kind: 'bytes' },
  { field: 'version', isDetail: true },
  { field: 'createdAt', title: 'ADDED', kind: 'time' },
]

export const JOB_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'stage', kind: 'state' },
  { field: 'documentAssetId', title: 'DOCUMENT', kind: 'id' },
  { field: 'version' },
  { field: 'error' },
  { field: 'createdAt', title: 'QUEUED', kind: 'epoch' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'epoch' },
  { field: 'completedAt', title: 'ENDED', kind: 'epoch' },
]

export const BULK_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'type' },
  { field: 'status', kind: 'state' },
  { field: 'totalItems', title: 'TOTAL', kind: 'count' },
  { field: 'completedItems', title: 'DONE', kind: 'count' },
  { field: 'failedItems', title: 'FAILED', kind: 'count' },
  { field: 'failedItemIds', title: 'FAILED ITEMS' },
  { field: 'createdAt', title: 'STARTED', kind: 'time' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
]

export const VIRTUAL_COLUMNS: OutputColumn[] = [
  { field: 'kind', isDetail: true },
  { field: 'name', kind: 'name' },
  { field: 'resourceType', title: 'TYPE', isDetail: true },
  { field: 'path', kind: 'name' },
]

/** Parses `pluginId/provider/model`; the model may contain slashes. @param name of the flag @throws CliError exit 2 */
export function parseModelReference(text: string, name: string): { pluginId: string; provider: string; model: string } {
  const [pluginId, provider, ...modelParts] = text.split('/')
  const model = modelParts.join('/')
  if (!pluginId || !provider || model === '') {
    throw usageError(`${name} must be plugin/provider/model, received ${JSON.stringify(text)}`)
  }
  return { pluginId, provider, model }
}

/** Derives a slug from a name: lower-case letters and digits joined by hyphens; undefined if none remain. */
export function toSlug(name: string): string | undefined {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 160)
    .replace(/-+$/, '')
  return slug === '' ? undefined : slug
}

export const EVIDENCE_COLUMNS: OutputColumn[] = [
  { field: 'targetId', title: 'NODE', kind: 'id' },
  { field: 'name', kind: 'name' },
  { field: 'metadata.score', title: 'SCORE', kind: 'score' },
  { field: 'path', kind: 'name' },
]

/** Columns of the `fs` commands. A pipe gets one path a line, as from the shell tools of the same names. */
export function getPathColumns(format: string): OutputColumn[] {
  return format === 'tsv' ? [{ field: 'path' }] : VIRTUAL_COLUMNS
}
