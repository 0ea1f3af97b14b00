import type { RetrievedPassage } from '../../contract/gateway/search.js'
import { isRecord } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { OutputColumn } from '../columns.js'
import type { SearchedFileRow, SearchRow } from '../json-output/answers.js'

export const SEARCH_COLUMNS: OutputColumn[] = [
  { field: 'score', kind: 'score' },
  { field: 'filename', title: 'FILE', kind: 'name' },
  { field: 'place', isDetail: true },
  { field: 'documentId', title: 'DOCUMENT', kind: 'id' },
  { field: 'nodeId', title: 'PASSAGE', kind: 'id' },
  { field: 'text', isMain: true },
]

/** First column of a search of several spaces. */
export const SPACE_COLUMN: OutputColumn = { field: 'space' }

export const FILE_COLUMNS: OutputColumn[] = [
  { field: 'filename', title: 'FILE', kind: 'name' },
  { field: 'documentId', title: 'DOCUMENT', kind: 'id' },
  { field: 'score', kind: 'score' },
  { field: 'passages', kind: 'count' },
]

export function toSearchRows(items: readonly RetrievedPassage[], { unicode }: { unicode: boolean }): SearchRow[] {
  return items.flatMap(({ nodeId, score, text, freshness, citations: [citation], metadata }) => {
    if (citation === undefined) return []
    const {
      knowledgeSpaceSlug: space,
      documentAssetId,
      documentVersion,
      sectionPath,
      pageNumber,
      startOffset,
      endOffset,
    } = citation
    const page = pageNumber === undefined ? [] : [`p. ${pageNumber}`]
    return [
      {
        score,
        filename: String(metadata.filename ?? documentAssetId),
        place: [...sectionPath, ...page].join(unicode ? ' › ' : ' > '),
        text,
        documentId: documentAssetId,
        nodeId,
        documentVersion,
        sectionPath,
        freshness,
        ...omitUndefined({ space, pageNumber, startOffset, endOffset }),
        ...toCopies(metadata),
      },
    ]
  })
}

/** The documents with copies of a passage, from the metadata of its evidence. */
function toCopies({ copies, alsoIn }: Record<string, unknown>): Pick<SearchRow, 'copies' | 'alsoIn'> {
  if (typeof copies !== 'number' || !Array.isArray(alsoIn)) return {}
  const documents = alsoIn.filter(isRecord).map(({ documentAssetId, filename }) => ({
    documentId: String(documentAssetId),
    filename: String(filename),
  }))
  return { copies, alsoIn: documents }
}

/** Groups passages by document, with the best score and the number of passages. @param rows best first */
export function groupByDocument(rows: readonly SearchRow[]): SearchedFileRow[] {
  const files = new Map<string, SearchedFileRow>()
  for (const { space, score, alsoIn = [], ...row } of rows)
    for (const { filename, documentId } of [row, ...alsoIn]) {
      const file = files.get(documentId)
      if (file === undefined)
        files.set(documentId, { ...omitUndefined({ space }), filename, documentId, score, passages: 1 })
      else file.passages++
    }
  return [...files.values()]
}
