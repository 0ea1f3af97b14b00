import type { MultimodalItem } from '../../contract/gateway/document-parts.js'
import type { OutputColumn } from '../columns.js'

export const ELEMENT_COLUMNS: OutputColumn[] = [
  { field: 'type' },
  { field: 'pageNumber', title: 'PAGE' },
  { field: 'sectionPath', title: 'SECTION' },
  { field: 'text' },
]

export const ITEM_COLUMNS: OutputColumn[] = [
  { field: 'id' },
  { field: 'modality' },
  { field: 'pageNumber', title: 'PAGE' },
  { field: 'title' },
  { field: 'textPreview', title: 'TEXT' },
]

/** Ids of the tables of a document in reading order. A table in several parts has the id of its first part. */
export function listTableIds(items: readonly MultimodalItem[]): string[] {
  return items.flatMap(({ id, modality, sourceMetadata }, index) => {
    const { part } = { part: 1, ...sourceMetadata }
    const isFirst = part === 1 || !items.slice(0, index).some((previous) => previous.modality === 'table')
    return modality === 'table' && isFirst ? [id] : []
  })
}
