import type { CompiledElement, CompiledItem } from '../store/compiled.js'

const MIB = 1024 * 1024

/**
 * Maximum size of the JSON of each part of a version, in bytes, for compiled and imported versions. A text of 30 MB, or
 * a workbook with the maximum number of cells, fits.
 */
export const STORED_LIMITS = { artifact: 96 * MIB, outline: 32 * MIB, items: 32 * MIB } as const
export type StoredPart = keyof typeof STORED_LIMITS

/** Maximum depth of an outline; the compiler makes eight levels. */
export const MAX_SECTION_DEPTH = 32

/** Content of `versions.artifact`. */
export interface StoredArtifact {
  text: string
  elements: CompiledElement[]
}

/** Content of `versions.items`: items without their bytes. */
export type StoredItem = Omit<CompiledItem, 'asset'> & { asset?: { contentType: string; sha256: string; size: number } }

/**
 * Name of an item by kind and index, so that a recompilation of the same bytes gives the same names; pages use their
 * number.
 */
export function buildItemName(item: Pick<StoredItem, 'modality' | 'pageNumber'>, index: number): string {
  if (item.modality === 'page' && item.pageNumber !== undefined) return `page-${item.pageNumber}`
  return `${item.modality}-${index + 1}`
}
