import type { ShownItem } from '../parse/compiled.js'
import type { PassageRow } from '../rows/queries.js'
import { fromCell } from '../storage/readable.js'

/** The tables, pictures and code blocks that a passage is made of. */
export function shownIn({ shows }: Pick<PassageRow, 'shows'>): ShownItem[] {
  return shows === null ? [] : fromCell<ShownItem[]>(shows)
}

/** Of candidates whose texts were compared, how many are made of a table, of a picture, of one that can be looked at. */
export function countShown(candidates: Iterable<PassageRow>) {
  const counts = {
    multimodalCandidateCount: 0,
    imageCandidateCount: 0,
    tableCandidateCount: 0,
    visualCandidateCount: 0,
  }
  for (const passage of candidates) {
    const shown = shownIn(passage)
    const hasTable = passage.kind === 'table' || shown.some(({ modality }) => modality === 'table')
    const pictures = shown.filter(({ modality }) => modality === 'image')
    if (hasTable) counts.tableCandidateCount++
    if (pictures.length > 0) counts.imageCandidateCount++
    if (pictures.some(({ isStored }) => isStored === true)) counts.visualCandidateCount++
    if (hasTable || shown.length > 0) counts.multimodalCandidateCount++
  }
  return counts
}
