import { useEffect, useState } from 'react'
import type { OutlineNode } from '../../../contract/gateway/document-parts.js'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { messageOf } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { address, go, setQuery, usePlace } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { formatBytes, formatKind, formatMoment, splitPath } from '../../ui/format.js'
import { Dialog, Facts, FormEnd, PageHead, Tabs } from '../../ui/parts.js'
import { Empty, Failure, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { PageOfDocument } from '../../viewer/page.js'
import { Reading, type Target } from '../../viewer/reading.js'
import { Items } from './items.js'
import { DocumentState } from './list.js'
import { Passages } from './passages.js'
import { Versions } from './versions.js'

const TABS = [
  { id: 'read', title: 'Text' },
  { id: 'outline', title: 'Outline' },
  { id: 'pages', title: 'Pages' },
  { id: 'items', title: 'Pictures and tables' },
  { id: 'passages', title: 'Passages' },
  { id: 'versions', title: 'Versions' },
  { id: 'facts', title: 'Facts' },
] as const
type Tab = (typeof TABS)[number]['id']

/** Interval of reading a document while it is being compiled. */
const LOOK_MS = 2_000

interface DocumentProps {
  spaceId: string
  documentId: string
}

/** Page of one document: its text, outline, passages and versions. */
export function DocumentPage({ spaceId, documentId }: DocumentProps) {
  const path = { id: spaceId, documentId }
  const isOf = (job: { documentAssetId: string }) => job.documentAssetId === documentId
  const open = useRead(
    'GET /knowledge-spaces/{id}/jobs',
    { path: { id: spaceId }, query: { state: 'open', limit: 1000 } },
    { every: (last) => (last?.items.some(isOf) === true ? LOOK_MS : false) },
  )
  const isReading = open.data?.items.some(isOf) === true
  const document = useRead(
    'GET /knowledge-spaces/{id}/documents/{documentId}',
    { path },
    { every: (last) => (last?.parserStatus === 'pending' || isReading ? LOOK_MS : false) },
  )
  // reads the document again after its job has ended: the data before belongs to the old version
  const { refetch } = document
  const lookedAt = open.dataUpdatedAt
  useEffect(() => {
    if (lookedAt > 0 && !isReading) void refetch()
  }, [lookedAt, isReading, refetch])
  if (document.data === undefined)
    return (
      <>
        <p className="small">
          <Link to={address('documents')}>Documents</Link>
        </p>
        <PageHead title="Document" />
        {document.isError ? (
          <Failure error={document.error} retry={() => void document.refetch()} />
        ) : (
          <Skeleton lines={8} />
        )}
      </>
    )
  return <DocumentView asset={document.data} />
}

function DocumentView({ asset }: { asset: DocumentAsset }) {
  const { query } = usePlace()
  const tabs = TABS.filter(({ id }) => id !== 'pages' || asset.mimeType === 'application/pdf')
  const tab: Tab = tabs.find(({ id }) => id === query.get('tab'))?.id ?? 'read'
  const { folder, name } = splitPath(asset.filename)
  const given = { spaceId: asset.knowledgeSpaceId, documentId: asset.id }
  return (
    <>
      <p className="small">
        <Link to={address('documents')}>Documents</Link> <span className="faint wrap">{folder}</span>
      </p>
      <PageHead
        title={<span className="wrap">{name}</span>}
        lead={
          <span className="row">
            <DocumentState status={asset.parserStatus} />
            <span className="number">
              {formatBytes(asset.sizeBytes)} · {formatKind(asset.mimeType)} · version {asset.version}
            </span>
          </span>
        }
        actions={<Actions asset={asset} />}
      />
      {asset.parserStatus === 'failed' && <WhyFailed asset={asset} />}
      <Tabs label="Parts of this document" tabs={tabs} value={tab} onChange={(id) => setQuery({ tab: id, at: undefined })} />
      {tab === 'read' && <Text asset={asset} />}
      {tab === 'outline' && <Outline {...given} />}
      {tab === 'pages' && <PageOfDocument {...given} pageNumber={1} />}
      {tab === 'items' && <Items {...given} />}
      {tab === 'passages' && <Passages asset={asset} />}
      {tab === 'versions' && <Versions asset={asset} />}
      {tab === 'facts' && <AllFacts asset={asset} />}
    </>
  )
}

function Actions({ asset }: { asset: DocumentAsset }) {
  const [isAsking, setAsking] = useState(false)
  const changed = [
    'GET /knowledge-spaces/{id}/documents',
    'GET /knowledge-spaces/{id}/documents/{documentId}',
    'GET /knowledge-spaces/{id}/jobs',
    'GET /knowledge-spaces/{id}/stats',
  ] as const
  const reindex = useWrite('POST /knowledge-spaces/{id}/documents/bulk/reindex', changed)
  const remove = useWrite('DELETE /knowledge-spaces/{id}/documents/bulk', changed)
  const input = { path: { id: asset.knowledgeSpaceId }, body: { documentIds: [asset.id] } }
  const failed = (error: unknown) => say(messageOf(error), 'bad')
  const gone = () => {
    say('The document was deleted.')
    go(address('documents'), { replace: true })
  }
  return (
    <>
      <Button
        small
        icon="refresh"
        busy={reindex.isPending}
        onClick={() => reindex.mutate(input, { onSuccess: () => say('The document is read again.'), onError: failed })}
      >
        Read again
      </Button>
      <Button small kind="danger" icon="trash" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Dialog title="Delete this document?" onClose={() => setAsking(false)}>
          <div className="stack">
            <p className="wrap">
              {asset.filename} is deleted with everything derived from it, in all versions. The original file
              is kept.
            </p>
            <FormEnd
              of={remove}
              label="Delete"
              kind="danger"
              icon="trash"
              onClick={() => remove.mutate(input, { onSuccess: gone })}
              onCancel={() => setAsking(false)}
            />
          </div>
        </Dialog>
      )}
    </>
  )
}

/** The error of the failed job. */
function WhyFailed({ asset }: { asset: DocumentAsset }) {
  const jobs = useRead('GET /knowledge-spaces/{id}/jobs', {
    path: { id: asset.knowledgeSpaceId },
    query: { state: 'failed', limit: 1000 },
  })
  const job = jobs.data?.items.find(({ documentAssetId }) => documentAssetId === asset.id)
  return (
    <div className="why-failed">
      <Notice tone="bad">{job?.error ?? 'The document could not be read.'}</Notice>
    </div>
  )
}

function Text({ asset }: { asset: DocumentAsset }) {
  const { query } = usePlace()
  const artifact = useRead(
    'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
    { path: { id: asset.knowledgeSpaceId, documentId: asset.id, version: String(asset.version) } },
    { enabled: asset.parserStatus === 'parsed' },
  )
  if (asset.parserStatus !== 'parsed')
    return (
      <Empty icon="file" title={asset.parserStatus === 'failed' ? 'There is no text' : 'The document is still being read'}>
        <p>{asset.parserStatus === 'failed' ? 'The reason is shown above.' : 'Its text appears here when it is published.'}</p>
      </Empty>
    )
  const target = targetOf(query.get('at'))
  return (
    <Loaded of={artifact} lines={10}>
      {({ elements }) => (
        <Reading elements={elements} target={target} spaceId={asset.knowledgeSpaceId} documentId={asset.id} />
      )}
    </Loaded>
  )
}

/** Parses a range of characters, such as `120-340`. */
function targetOf(text: string | null): Target | undefined {
  const [, from, to] = /^(\d{1,12})-(\d{1,12})$/.exec(text ?? '') ?? []
  return from === undefined ? undefined : { startOffset: Number(from), endOffset: Number(to) }
}

function Outline({ spaceId, documentId }: DocumentProps) {
  const outline = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
    path: { id: spaceId, documentId },
  })
  return (
    <Loaded of={outline} lines={8}>
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
function titleOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function inWords(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatMoment(value) : value
}

function AllFacts({ asset }: { asset: DocumentAsset }) {
  const metadata = Object.entries(asset.metadata).map(([name, value]) => [titleOf(name), inWords(value)] as const)
  return (
    <Facts
      of={[
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
