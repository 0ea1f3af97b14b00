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
  mark: { from: number; to: number } | undefined
  spaceId: string
  documentId: string
}

/** Rows that are rendered at most; a sheet may have 100,000. */
const MOST_ROWS = 200
const LEVELS = ['h2', 'h3', 'h4', 'h4', 'h4', 'h4'] as const

/** One element of a document. */
export function ElementView({ element, mark, spaceId, documentId }: ElementProps) {
  const { type, text = '', metadata } = element
  if (type === 'page-break') return null
  if (type === 'title' || type === 'heading') {
    const level = typeof metadata.level === 'number' ? metadata.level : 1
    const Heading = LEVELS[Math.min(LEVELS.length, Math.max(1, level)) - 1] ?? 'h4'
    return (
      <Heading className="element-heading wrap">
        <Marked text={text} mark={mark} />
      </Heading>
    )
  }
  if (type === 'table') return <Table element={element} mark={mark} />
  if (type === 'code') return <pre className="element-code">{text}</pre>
  if (type === 'image') return <Picture element={element} spaceId={spaceId} documentId={documentId} />
  return (
    <p className={type === 'list' ? 'element-list wrap' : 'element-text wrap'}>
      <Marked text={text} mark={mark} />
    </p>
  )
}

function Marked({ text, mark }: { text: string; mark: ElementProps['mark'] }) {
  if (mark === undefined) return text
  return (
    <>
      {text.slice(0, mark.from)}
      <mark>{text.slice(mark.from, mark.to)}</mark>
      {text.slice(mark.to)}
    </>
  )
}

/**
 * Rows are lines and cells are separated by ` | `, so row offsets follow from the text and the rows of a passage can be
 * marked.
 */
function Table({ element: { text = '', metadata }, mark }: { element: DocumentElement; mark: ElementProps['mark'] }) {
  const rows = useMemo(() => rowsOf(text), [text])
  const heads = typeof metadata.headerRows === 'number' ? metadata.headerRows : 0
  const isIn = ({ from, to }: Row) => mark !== undefined && to > mark.from && from < mark.to
  return (
    <ScrollFrame label="Table" className="element-table">
      <table className="table">
        {heads > 0 && (
          <thead>
            {rows.slice(0, heads).map((row) => (
              <tr key={row.from}>
                {row.cells.map((cell, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells are never reordered
                  <th key={at} scope="col">
                    {cell}
                  </th>
                ))}
              </tr>
            ))}
          </thead>
        )}
        <tbody>
          {rows.slice(heads, MOST_ROWS).map((row) => (
            <tr key={row.from} className={isIn(row) ? 'is-row-marked' : undefined}>
              {row.cells.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells are never reordered
                <td key={at}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p className="faint small">{rows.length - MOST_ROWS} more rows are not shown.</p>
      )}
    </ScrollFrame>
  )
}

interface Row {
  from: number
  to: number
  cells: string[]
}

function rowsOf(text: string): Row[] {
  let at = 0
  return text.split('\n').map((line) => {
    const from = at
    at += line.length + 1
    return { from, to: from + line.length, cells: line.split(' | ') }
  })
}

function Picture({ element, spaceId, documentId }: Omit<ElementProps, 'mark'>) {
  const [frame, isSeen] = useVisible<HTMLElement>()
  return (
    <figure className="element-picture" ref={frame}>
      {isSeen && <Drawn element={element} spaceId={spaceId} documentId={documentId} />}
      {element.text !== undefined && <figcaption className="muted small wrap">{element.text}</figcaption>}
    </figure>
  )
}

function Drawn({ element, spaceId, documentId }: Omit<ElementProps, 'mark'>) {
  const path = { id: spaceId, documentId }
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  const item = manifest.data?.items.find(
    ({ parseElementId, modality }) => modality === 'image' && parseElementId === element.id,
  )
  // pictures that a web page links to are not stored
  return item?.assetRef?.variants?.preview === undefined ? null : (
    <DrawnItem path={{ ...path, itemId: item.id }} title={element.text} />
  )
}

function DrawnItem({
  path,
  title,
}: {
  path: { id: string; documentId: string; itemId: string }
  title: string | undefined
}) {
  const key = 'GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset'
  const drawn = usePicture(key, { path, query: { variant: 'preview' } })
  if (drawn.url === undefined) return null
  return <img src={drawn.url} alt={title ?? 'Picture in the document'} />
}
