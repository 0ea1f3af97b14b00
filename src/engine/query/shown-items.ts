import type { ShownItem } from '../parse/compiled.js'
import type { PassageRow } from '../rows/queries.js'
import { parseJsonCell } from '../storage/readable.js'

/** Tables, pictures and code blocks of a passage. */
export function getShownItems({ shows }: Pick<PassageRow, 'shows'>): ShownItem[] {
  return shows === null ? [] : parseJsonCell<ShownItem[]>(shows)
}

/** Counts compared candidates with a table, with a picture, and with a picture that is stored. */
export function countShownItems(candidates: Iterable<PassageRow>) {
  const counts = {
    multimodalCandidateCount: 0,
    imageCandidateCount: 0,
    tableCandidateCount: 0,
    visualCandidateCount: 0,
  }
  for (const passage of candidates) {
    const shown = getShownItems(passage)
    const hasTable = passage.kind === 'table' || shown.some(({ modality }) => modality === 'table')
    const pictures = shown.filter(({ modality }) => modality === 'image')
    if (hasTable) counts.tableCandidateCount++
    if (pictures.length > 0) counts.imageCandidateCount++
    if (pictures.some(({ isStored }) => isStored === true)) counts.visualCandidateCount++
    if (hasTable || shown.length > 0) counts.multimodalCandidateCount++
  }
  return counts
}
