import { useMemo } from 'react'
import type { CallResult } from '../../client/routes.js'
import { useRead } from '../api/use.js'
import { ScrollFrame } from '../ui/parts.js'
import { usePicture } from '../ui/picture.js'
import { useVisible } from '../ui/visible.js'

type Artifact = CallResult<'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}'>
export type DocumentElement = Artifact['elements'][number]

interface ElementProps {
  element: DocumentElement
  highlight: { from: number; to: number } | undefined
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
        <HighlightedText text={text} mark={highlight} />
      </Heading>
    )
  }
  if (type === 'table') return <ElementTable element={element} mark={highlight} />
  if (type === 'code') return <pre className="element-code">{text}</pre>
  if (type === 'image') return <ElementPicture element={element} spaceId={spaceId} documentId={documentId} />
  return (
    <p className={type === 'list' ? 'element-list wrap' : 'element-text wrap'}>
      <HighlightedText text={text} mark={highlight} />
    </p>
  )
}

function HighlightedText({ text, mark: highlight }: { text: string; mark: ElementProps['highlight'] }) {
  if (highlight === undefined) return text
  return (
    <>
      {text.slice(0, highlight.from)}
      <mark>{text.slice(highlight.from, highlight.to)}</mark>
      {text.slice(highlight.to)}
    </>
  )
}

/**
 * Rows are lines and cells are separated by ` | `, so row offsets follow from the text and the rows of a passage can be
 * marked.
 */
function ElementTable({
  element: { text = '', metadata },
  mark: highlight,
}: {
  element: DocumentElement
  mark: ElementProps['highlight']
}) {
  const rows = useMemo(() => parseRows(text), [text])
  const headerRows = typeof metadata.headerRows === 'number' ? metadata.headerRows : 0
  const isHighlighted = ({ start, end }: RenderedTableRow) =>
    highlight !== undefined && end > highlight.from && start < highlight.to
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

interface RenderedTableRow {
  start: number
  end: number
  cells: string[]
}

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
    <PictureAsset path={{ ...path, itemId: item.id }} title={element.text} />
  )
}

function PictureAsset({
  path,
  title,
}: {
  path: { id: string; documentId: string; itemId: string }
  title: string | undefined
}) {
  const key = 'GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset'
  const picture = usePicture(key, { path, query: { variant: 'preview' } })
  if (picture.url === undefined) return null
  return <img src={picture.url} alt={title ?? 'Picture in the document'} />
}
