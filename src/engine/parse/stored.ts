import type { CompiledElement, CompiledItem } from './compiled.js'

const MIB = 1024 * 1024

/**
 * Bounds of the JSON of each part of a version, in bytes, for compiled and imported versions. A text of 30 MB, or a
 * workbook with its limit of cells, fits.
 */
export const STORED_LIMITS = { artifact: 96 * MIB, outline: 32 * MIB, items: 32 * MIB } as const
export type StoredPart = keyof typeof STORED_LIMITS

/** Levels of an outline; the compiler makes eight. */
export const MAX_SECTION_DEPTH = 32

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
