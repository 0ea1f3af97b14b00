import type { CompiledElement, CompiledItem } from './compiled.js'

/** What `versions.artifact` holds. */
export interface StoredArtifact {
  text: string
  elements: CompiledElement[]
}

/** What `versions.items` holds: items without their bytes. */
export type StoredItem = Omit<CompiledItem, 'asset'> & { asset?: { contentType: string; sha256: string; size: number } }

/** Items are named by their place and kind, so a recompilation of the same bytes names them alike; pages by their number. */
export function itemName(item: Pick<StoredItem, 'modality' | 'pageNumber'>, index: number): string {
  if (item.modality === 'page' && item.pageNumber !== undefined) return `page-${item.pageNumber}`
  return `${item.modality}-${index + 1}`
}
