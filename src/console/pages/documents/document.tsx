import { useEffect, useState } from 'react'
import type { OutlineNode } from '../../../contract/gateway/document-parts.js'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { useRead, useWrite } from '../../api/use.js'
import { navigate, pageHref, setQuery, useRoute } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { formatBytes, formatKind, formatMoment, splitPath } from '../../ui/format.js'
import { ConfirmDialog, Facts, PageHead, Tabs } from '../../ui/parts.js'
import { Empty, ErrorNotice, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'
import { DocumentText, type TextTarget } from '../../viewer/document-text.js'
import { RenderedPdfPage } from '../../viewer/page.js'
import { DocumentItems } from './items.js'
import { ParserStatusBadge } from './list.js'
import { PassagesTab } from './passages.js'
import { DocumentVersions } from './versions.js'

const TABS = [
  { id: 'read', title: 'Text' },
  { id: 'outline', title: 'Outline' },
  { id: 'pages', title: 'Pages' },
  { id: 'items', title: 'Pictures and tables' },
  { id: 'passages', title: 'Passages' },
  { id: 'versions', title: 'Versions' },
  { id: 'facts', title: 'Facts' },
] as const
type DocumentTab = (typeof TABS)[number]['id']

/** Interval of reading a document while it is being compiled. */
const POLL_MS = 2_000

interface DocumentProps {
  spaceId: string
  documentId: string
}

/** Page of one document: its text, outline, passages and versions. */
export function DocumentPage({ spaceId, documentId }: DocumentProps) {
  const path = { id: spaceId, documentId }
  const belongsToDocument = (job: { documentAssetId: string }) => job.documentAssetId === documentId
  const openJobs = useRead(
    'GET /knowledge-spaces/{id}/jobs',
    { path: { id: spaceId }, query: { state: 'open', limit: 1000 } },
    { refetchInterval: (last) => (last?.items.some(belongsToDocument) === true ? POLL_MS : false) },
  )
  const hasOpenJob = openJobs.data?.items.some(belongsToDocument) === true
  const document = useRead(
    'GET /knowledge-spaces/{id}/documents/{documentId}',
    { path },
    { refetchInterval: (last) => (last?.parserStatus === 'pending' || hasOpenJob ? POLL_MS : false) },
  )
  // reads the document again after its job has ended: earlier data belongs to the previous version
  const { refetch } = document
  const jobsUpdatedAt = openJobs.dataUpdatedAt
  useEffect(() => {
    if (jobsUpdatedAt > 0 && !hasOpenJob) void refetch()
  }, [jobsUpdatedAt, hasOpenJob, refetch])
  if (document.data === undefined)
    return (
      <>
        <p className="small">
          <Link to={pageHref('documents')}>Documents</Link>
        </p>
        <PageHead title="Document" />
        {document.isError ? (
          <ErrorNotice error={document.error} retry={() => void document.refetch()} />
        ) : (
          <Skeleton lines={8} />
        )}
      </>
    )
  return <DocumentView asset={document.data} />
}

function DocumentView({ asset }: { asset: DocumentAsset }) {
  const { query } = useRoute()
  const tabs = TABS.filter(({ id }) => id !== 'pages' || asset.mimeType === 'application/pdf')
  const tab: DocumentTab = tabs.find(({ id }) => id === query.get('tab'))?.id ?? 'read'
  const { folder, name } = splitPath(asset.filename)
  const ids = { spaceId: asset.knowledgeSpaceId, documentId: asset.id }
  return (
    <>
      <p className="small">
        <Link to={pageHref('documents')}>Documents</Link> <span className="faint wrap">{folder}</span>
      </p>
      <PageHead
        title={<span className="wrap">{name}</span>}
        lead={
          <span className="row">
            <ParserStatusBadge status={asset.parserStatus} />
            <span className="number">
              {formatBytes(asset.sizeBytes)} · {formatKind(asset.mimeType)} · version {asset.version}
            </span>
          </span>
        }
        actions={<DocumentActions asset={asset} />}
      />
      {asset.parserStatus === 'failed' && <FailureReason asset={asset} />}
      <Tabs
        label="Parts of this document"
        tabs={tabs}
        value={tab}
        onChange={(id) => setQuery({ tab: id, at: undefined })}
      />
      {tab === 'read' && <TextTab asset={asset} />}
      {tab === 'outline' && <OutlineTab {...ids} />}
      {tab === 'pages' && <RenderedPdfPage {...ids} pageNumber={1} />}
      {tab === 'items' && <DocumentItems {...ids} />}
      {tab === 'passages' && <PassagesTab asset={asset} />}
      {tab === 'versions' && <DocumentVersions asset={asset} />}
      {tab === 'facts' && <DocumentFacts asset={asset} />}
    </>
  )
}

function DocumentActions({ asset }: { asset: DocumentAsset }) {
  const [isConfirming, setConfirming] = useState(false)
  const affected = [
    'GET /knowledge-spaces/{id}/documents',
    'GET /knowledge-spaces/{id}/documents/{documentId}',
    'GET /knowledge-spaces/{id}/jobs',
    'GET /knowledge-spaces/{id}/stats',
  ] as const
  const reindex = useWrite('POST /knowledge-spaces/{id}/documents/bulk/reindex', affected)
  const remove = useWrite('DELETE /knowledge-spaces/{id}/documents/bulk', affected)
  const input = { path: { id: asset.knowledgeSpaceId }, body: { documentIds: [asset.id] } }
  const onDeleted = () => {
    showToast('The document was deleted.')
    navigate(pageHref('documents'), { replace: true })
  }
  return (
    <>
      <Button
        small
        icon="refresh"
        busy={reindex.isPending}
        onClick={() =>
          reindex.mutate(input, { onSuccess: () => showToast('The document is read again.'), onError: showError })
        }
      >
        Read again
      </Button>
      <Button small kind="danger" icon="trash" onClick={() => setConfirming(true)}>
        Delete
      </Button>
      {isConfirming && (
        <ConfirmDialog
          title="Delete this document?"
          mutation={remove}
          label="Delete"
          icon="trash"
          onClick={() => remove.mutate(input, { onSuccess: onDeleted })}
          onClose={() => setConfirming(false)}
        >
          <p className="wrap">
            {asset.filename} is deleted with everything derived from it, in all versions. The original file is kept.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

/** The error of the failed job. */
function FailureReason({ asset }: { asset: DocumentAsset }) {
  const jobs = useRead('GET /knowledge-spaces/{id}/jobs', {
    path: { id: asset.knowledgeSpaceId },
    query: { state: 'failed', limit: 1000 },
  })
  const job = jobs.data?.items.find(({ documentAssetId }) => documentAssetId === asset.id)
  return (
    <div className="failure-reason">
      <Notice tone="bad">{job?.error ?? 'The document could not be read.'}</Notice>
    </div>
  )
}

function TextTab({ asset }: { asset: DocumentAsset }) {
  const { query } = useRoute()
  const hasFailed = asset.parserStatus === 'failed'
  const artifact = useRead(
    'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
    { path: { id: asset.knowledgeSpaceId, documentId: asset.id, version: String(asset.version) } },
    { enabled: asset.parserStatus === 'parsed' },
  )
  if (asset.parserStatus !== 'parsed')
    return (
      <Empty icon="file" title={hasFailed ? 'There is no text' : 'The document is still being read'}>
        <p>{hasFailed ? 'The reason is shown above.' : 'Its text appears here when it is published.'}</p>
      </Empty>
    )
  const target = parseTarget(query.get('at'))
  return (
    <Loaded query={artifact} lines={10}>
      {({ elements }) => (
        <DocumentText elements={elements} target={target} spaceId={asset.knowledgeSpaceId} documentId={asset.id} />
      )}
    </Loaded>
  )
}

/** Parses a range of characters, such as `120-340`. */
function parseTarget(text: string | null): TextTarget | undefined {
  const [, start, end] = /^(\d{1,12})-(\d{1,12})$/.exec(text ?? '') ?? []
  return start === undefined ? undefined : { startOffset: Number(start), endOffset: Number(end) }
}

function OutlineTab({ spaceId, documentId }: DocumentProps) {
  const outline = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
    path: { id: spaceId, documentId },
  })
  return (
    <Loaded query={outline} lines={8}>
      {({ nodes }) =>
        nodes.length === 0 ? (
          <Empty icon="documents" title="No sections">
            <p>This document has no headings.</p>
          </Empty>
        ) : (
          <OutlineList nodes={nodes} />
        )
      }
    </Loaded>
  )
}

function OutlineList({ nodes }: { nodes: readonly OutlineNode[] }) {
  return (
    <ul className="outline">
      {nodes.map(({ id, title, startOffset, endOffset, startPage, children }) => (
        <li key={id}>
          <button
            type="button"
            className="outline-item"
            disabled={startOffset === undefined}
            onClick={() =>
              setQuery({
                tab: 'read',
                at: `${startOffset}-${Math.min(endOffset ?? 0, (startOffset ?? 0) + title.length)}`,
              })
            }
          >
            <span className="wrap">{title}</span>
            {startPage !== undefined && <span className="faint small number">{startPage}</span>}
          </button>
          {children.length > 0 && <OutlineList nodes={children} />}
        </li>
      ))}
    </ul>
  )
}

/** `documentDate` → `Document date` */
function toFieldTitle(name: string): string {
  const text = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function formatFieldValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatMoment(value) : value
}

function DocumentFacts({ asset }: { asset: DocumentAsset }) {
  const metadata = Object.entries(asset.metadata).map(
    ([name, value]) => [toFieldTitle(name), formatFieldValue(value)] as const,
  )
  return (
    <Facts
      entries={[
        ['File', asset.filename],
        ['Kind', `${formatKind(asset.mimeType)} (${asset.mimeType})`],
        [
          'Id',
          <span key="id" className="mono">
            {asset.id}
          </span>,
        ],
        [
          'SHA-256',
          <span key="sha" className="mono">
            {asset.sha256}
          </span>,
        ],
        ['Stored', formatMoment(asset.createdAt)],
        ['Changed', formatMoment(asset.updatedAt ?? asset.createdAt)],
        ...metadata,
      ]}
    />
  )
}
