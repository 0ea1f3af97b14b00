import { useMemo } from 'react'
import type { CallResult } from '../../client/routes.js'
import { useRead } from '../api/use.js'
import { ScrollFrame } from '../ui/parts.js'
import { type ItemPath, usePicture } from '../ui/picture.js'
import { useVisible } from '../ui/visible.js'

type Artifact = CallResult<'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}'>
export type DocumentElement = Artifact['elements'][number]

/** A range of an array or text; `end` is exclusive. */
export interface IndexRange {
  start: number
  end: number
}

interface ElementProps {
  element: DocumentElement
  /** range of the element's text that is highlighted */
  highlight: IndexRange | undefined
  spaceId: string
  documentId: string
}

/** Rows that are rendered at most; a sheet may have 100,000. */
const MAX_ROWS = 200
const HEADING_TAGS = ['h2', 'h3', 'h4', 'h4', 'h4', 'h4'] as const

/** One element of a document. */
export function ElementView({ element, highlight, spaceId, documentId }: ElementProps) {
  const { type, text = '', metadata } = element
  if (type === 'page-break') return null
  if (type === 'title' || type === 'heading') {
    const level = typeof metadata.level === 'number' ? metadata.level : 1
    const Heading = HEADING_TAGS[Math.min(HEADING_TAGS.length, Math.max(1, level)) - 1] ?? 'h4'
    return (
      <Heading className="element-heading wrap">
        <HighlightedText text={text} highlight={highlight} />
      </Heading>
    )
  }
  if (type === 'table') return <ElementTable element={element} highlight={highlight} />
  if (type === 'code') return <pre className="element-code">{text}</pre>
  if (type === 'image') return <ElementPicture element={element} spaceId={spaceId} documentId={documentId} />
  return (
    <p className={type === 'list' ? 'element-list wrap' : 'element-text wrap'}>
      <HighlightedText text={text} highlight={highlight} />
    </p>
  )
}

function HighlightedText({ text, highlight }: { text: string; highlight: IndexRange | undefined }) {
  if (highlight === undefined) return text
  return (
    <>
      {text.slice(0, highlight.start)}
      <mark>{text.slice(highlight.start, highlight.end)}</mark>
      {text.slice(highlight.end)}
    </>
  )
}

/** A table; rows that overlap the highlighted range are marked. */
function ElementTable({ element, highlight }: Pick<ElementProps, 'element' | 'highlight'>) {
  const { text = '', metadata } = element
  const rows = useMemo(() => parseRows(text), [text])
  const headerRows = typeof metadata.headerRows === 'number' ? metadata.headerRows : 0
  const isHighlighted = ({ start, end }: RenderedTableRow) =>
    highlight !== undefined && end > highlight.start && start < highlight.end
  return (
    <ScrollFrame label="Table" className="element-table">
      <table className="table">
        {headerRows > 0 && (
          <thead>
            {rows.slice(0, headerRows).map((row) => (
              <tr key={row.start}>
                {row.cells.map((cell, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells are never reordered
                  <th key={index} scope="col">
                    {cell}
                  </th>
                ))}
              </tr>
            ))}
          </thead>
        )}
        <tbody>
          {rows.slice(headerRows, MAX_ROWS).map((row) => (
            <tr key={row.start} className={isHighlighted(row) ? 'is-row-marked' : undefined}>
              {row.cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells are never reordered
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS && <p className="faint small">{rows.length - MAX_ROWS} more rows are not shown.</p>}
    </ScrollFrame>
  )
}

interface RenderedTableRow extends IndexRange {
  cells: string[]
}

/** Splits the text of a table: a line is a row, its cells are separated by ` | `. */
function parseRows(text: string): RenderedTableRow[] {
  let offset = 0
  return text.split('\n').map((line) => {
    const start = offset
    offset += line.length + 1
    return { start, end: start + line.length, cells: line.split(' | ') }
  })
}

function ElementPicture({ element, spaceId, documentId }: Omit<ElementProps, 'highlight'>) {
  const [frame, isSeen] = useVisible<HTMLElement>()
  return (
    <figure className="element-picture" ref={frame}>
      {isSeen && <StoredPicture element={element} spaceId={spaceId} documentId={documentId} />}
      {element.text !== undefined && <figcaption className="muted small wrap">{element.text}</figcaption>}
    </figure>
  )
}

function StoredPicture({ element, spaceId, documentId }: Omit<ElementProps, 'highlight'>) {
  const path = { id: spaceId, documentId }
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  const item = manifest.data?.items.find(
    ({ parseElementId, modality }) => modality === 'image' && parseElementId === element.id,
  )
  // pictures that a web page links to are not stored
  return item?.assetRef?.variants?.preview === undefined ? null : (
    <PicturePreview path={{ ...path, itemId: item.id }} title={element.text} />
  )
}

function PicturePreview({ path, title }: { path: ItemPath; title: string | undefined }) {
  const { url } = usePicture(path, 'preview')
  return url === undefined ? null : <img src={url} alt={title ?? 'Picture in the document'} />
}
