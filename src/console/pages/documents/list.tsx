import { useInfiniteQuery } from '@tanstack/react-query'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { call } from '../../api/client.js'
import { pageHref } from '../../router.js'
import { Link } from '../../ui/button.js'
import { formatBytes, splitPath } from '../../ui/format.js'
import { Icon } from '../../ui/icon.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Empty, ErrorNotice, Skeleton, type Tone } from '../../ui/state.js'

const ROW_HEIGHT_PX = 44
const PAGE_SIZE = 100
/** Rows before the end of the loaded ones at which the next page is requested. */
const PREFETCH_ROWS = 60
const DOCUMENTS = 'GET /knowledge-spaces/{id}/documents'

interface DocumentListProps {
  spaceId: string
  /** number of documents in the space, undefined until it is loaded; the list has its full length from the start */
  total: number | undefined
}

/** All documents; only rows near the viewport are in the DOM. */
export function DocumentList({ spaceId, total }: DocumentListProps) {
  const pages = useInfiniteQuery({
    queryKey: [DOCUMENTS, spaceId],
    queryFn: ({ pageParam, signal }) =>
      call(
        DOCUMENTS,
        { path: { id: spaceId }, query: { limit: PAGE_SIZE, ...(pageParam === '' ? {} : { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor,
    refetchOnWindowFocus: false,
  })
  const documents = pages.data?.pages.flatMap(({ items }) => items) ?? []
  const frame = useRef<HTMLDivElement>(null)
  const count = pages.hasNextPage ? Math.max(documents.length + 1, total ?? 0) : documents.length
  const rows = useWindowVirtualizer({
    count,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 12,
    scrollMargin: frame.current?.offsetTop ?? 0,
  })
  const lastIndex = rows.getVirtualItems().at(-1)?.index ?? 0
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && lastIndex > documents.length - PREFETCH_ROWS) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, lastIndex, documents.length])

  if (pages.isError) return <ErrorNotice error={pages.error} retry={() => void pages.refetch()} />
  if (pages.isPending) return <Skeleton lines={10} />
  if (documents.length === 0)
    return (
      <Empty icon="documents" title="No documents yet">
        <p>
          Drop a folder or files on the space, or run <code>ks ingest FOLDER</code>.
        </p>
        <Link className="button button-primary" to={pageHref('spaces')}>
          Add documents
        </Link>
      </Empty>
    )
  return (
    <div className="document-list" ref={frame}>
      <div className="document-row document-head" aria-hidden="true">
        <span>Name</span>
        <span>State</span>
        <span className="document-size">Size</span>
        <span className="document-time">Changed</span>
      </div>
      <ul className="document-rows" aria-label="Documents" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <li
            key={index}
            aria-setsize={count}
            aria-posinset={index + 1}
            className="document-row"
            style={{ transform: `translateY(${start - rows.options.scrollMargin}px)` }}
          >
            <DocumentListRow document={documents[index]} />
          </li>
        ))}
      </ul>
    </div>
  )
}

const STATUS_LABELS: Record<DocumentAsset['parserStatus'], { tone: Tone; label: string }> = {
  parsed: { tone: 'good', label: 'read' },
  pending: { tone: 'accent', label: 'waiting' },
  failed: { tone: 'bad', label: 'failed' },
}

export function ParserStatusBadge({ status }: { status: DocumentAsset['parserStatus'] }) {
  return <Badge tone={STATUS_LABELS[status].tone}>{STATUS_LABELS[status].label}</Badge>
}

function DocumentListRow({ document }: { document: DocumentAsset | undefined }) {
  if (document === undefined)
    return (
      <span className="document-name">
        <span className="skeleton-line document-loading" />
      </span>
    )
  const { folder, name } = splitPath(document.filename)
  return (
    <>
      <span className="document-name">
        <Icon name="file" size={16} />
        <Link className="document-link" to={pageHref('documents', [document.id])} title={document.filename}>
          <span className="document-folder one-line faint">{folder}</span>
          <span className="one-line">{name}</span>
        </Link>
      </span>
      <span>
        <ParserStatusBadge status={document.parserStatus} />
      </span>
      <span className="document-size number muted">{formatBytes(document.sizeBytes)}</span>
      <span className="document-time muted">
        <RelativeTime time={document.updatedAt ?? document.createdAt} />
      </span>
    </>
  )
}
