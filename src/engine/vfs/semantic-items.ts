import type { VirtualItem } from '../../contract/gateway/fs.js'
import { joinPath } from '../base/virtual-paths.js'
import type { ViewRow } from '../rows/views/views.js'
import { fromCell } from '../storage/readable.js'
import type { Coverage } from '../views/coverage.js'
import { type After, type Entry, integerAt, type Place, pageOf, placeOf } from './namespace.js'

/** A folder under `/knowledge`. */
export function knowledgeFolder(segments: readonly string[]): VirtualItem {
  return {
    kind: 'directory',
    name: segments[segments.length - 1] ?? '',
    path: joinPath('knowledge', segments),
    metadata: {},
  }
}

/** The file with the report about a community. */
export const REPORT = 'report.md'

/** @param at segments of the community's folder */
export function reportFile(at: readonly string[]): VirtualItem {
  return { kind: 'resource', name: REPORT, path: joinPath('knowledge', [...at, REPORT]), metadata: {} }
}

/** A topic or community as a folder. */
export function viewFolder(segments: readonly string[], row: ViewRow, coverage: Coverage): VirtualItem {
  const terms: unknown = fromCell(row.terms)
  return {
    ...knowledgeFolder(segments),
    metadata: {
      name: row.name,
      terms,
      generatedVersion: row.generated_version,
      generatedAt: new Date(row.created_at).toISOString(),
      named: row.named === 1,
      documentCount: row.document_count,
      ...(row.passage_total === 0 ? {} : { passageCount: row.passage_count, totalPassages: row.passage_total }),
      ...coverage,
    },
  }
}

/** A folder with few entries, whose positions are their indexes plus 1. */
export function fixedFolder(
  item: VirtualItem,
  items: readonly VirtualItem[],
  parts: Partial<Pick<Place, 'walk' | 'texts'>> = {},
): Place {
  const entries = items.map((one, place): Entry => ({ item: one, after: [place + 1] }))
  const start = (after: After | undefined): number => (after === undefined ? 0 : integerAt(after, 0))
  return placeOf(item, {
    list: (after, limit) => Promise.resolve(pageOf(entries, start(after), limit)),
    walk: async function* (after) {
      yield* entries.slice(start(after))
    },
    ...parts,
  })
}
