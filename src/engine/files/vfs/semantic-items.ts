import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import type { CoverageFunction, ViewCoverage } from '../../knowledge/index.js'
import { parseJsonCell } from '../../store/readable.js'
import type { ViewRow } from '../../store/rows/views/views.js'
import { DOCUMENTS_FOLDER } from './knowledge-items.js'
import {
  type CursorPosition,
  getCursorInteger,
  makeEntryPage,
  makeNode,
  type VfsEntry,
  type VfsNode,
} from './namespace.js'

/** A folder under `/knowledge`. */
export function makeKnowledgeFolder(segments: readonly string[]): VirtualItem {
  return {
    kind: 'directory',
    name: segments[segments.length - 1] ?? '',
    path: joinVirtualPath('knowledge', segments),
    metadata: {},
  }
}

/** The file with the report about a community. */
export const REPORT_FILE = 'report.md'

/** @param folder segments of the community's folder */
export function makeReportFile(folder: readonly string[]): VirtualItem {
  const path = joinVirtualPath('knowledge', [...folder, REPORT_FILE])
  return { kind: 'resource', name: REPORT_FILE, path, metadata: {} }
}

/** A topic or community as a folder. @param parent name of the folder of all topics, or of all communities */
export function makeViewFolder(parent: string, row: ViewRow, coverageOf: CoverageFunction): VirtualItem {
  const terms: unknown = parseJsonCell(row.terms)
  return {
    ...makeKnowledgeFolder([parent, row.slug]),
    metadata: {
      name: row.name,
      terms,
      generatedVersion: row.generated_version,
      generatedAt: new Date(row.created_at).toISOString(),
      named: row.named === 1,
      documentCount: row.document_count,
      ...(row.passage_total === 0 ? {} : { passageCount: row.passage_count, totalPassages: row.passage_total }),
      ...coverageOf(row),
    },
  }
}

/** A folder with few entries, whose positions are their indexes plus 1. */
export function makeFixedFolder(
  item: VirtualItem,
  items: readonly VirtualItem[],
  parts: Partial<Pick<VfsNode, 'walk' | 'texts'>> = {},
): VfsNode {
  const entries = items.map((entryItem, index): VfsEntry => ({ item: entryItem, after: [index + 1] }))
  const start = (after: CursorPosition | undefined): number => (after === undefined ? 0 : getCursorInteger(after, 0))
  return makeNode(item, {
    list: (after, limit) => Promise.resolve(makeEntryPage(entries, start(after), limit)),
    walk: async function* (after) {
      yield* entries.slice(start(after))
    },
    ...parts,
  })
}

/** Says what a view was made of that does not cover the newest publication. */
export function describeCoverage({ coveredDocuments, totalDocuments }: ViewCoverage): string {
  return coveredDocuments === totalDocuments
    ? 'built before the last change of the space'
    : `built from ${formatCount(coveredDocuments)} of ${pluralize(totalDocuments, 'document')} so far`
}

/** Segments of the folder with a view's documents: of a topic it is the topic's own folder. */
export function getDocumentsPath(parent: 'communities' | 'topics', row: ViewRow): string[] {
  return parent === 'topics' ? [parent, row.slug] : [parent, row.slug, DOCUMENTS_FOLDER]
}
