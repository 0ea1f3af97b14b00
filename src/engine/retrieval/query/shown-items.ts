import type { ShownItem } from '../../store/compiled.js'
import { parseJsonCell } from '../../store/readable.js'
import type { PassageRow } from '../../store/rows/queries.js'

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
