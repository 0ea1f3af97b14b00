import type { KnowledgeSpaceStats, KnowledgeSpaceStatus } from '../../../contract/gateway/space-status.js'
import { useRead } from '../../api/use.js'
import { formatAgo, formatBytes, formatCount, formatMoment, plural } from '../../ui/format.js'
import { Facts, Panel, ScrollFrame } from '../../ui/parts.js'
import { Badge, Loaded, Notice } from '../../ui/state.js'
import { Figure } from './activity.js'

const POLL_MS = 5_000
const INDEX_TITLES = [
  ['fts', 'Words'],
  ['denseVector', 'Vectors'],
  ['graph', 'Graph'],
  ['metadata', 'Metadata'],
] as const

/** Tab of a space's size, the completeness of its indexes, and its active leases. */
export function Indexes({ spaceId }: { spaceId: string }) {
  const path = { id: spaceId }
  const status = useRead('GET /knowledge-spaces/{id}/status', { path }, { refetchInterval: POLL_MS })
  const stats = useRead('GET /knowledge-spaces/{id}/stats', { path, query: {} }, { refetchInterval: POLL_MS })
  return (
    <div className="stack">
      <Loaded query={stats}>{(data) => <SpaceSizes stats={data} />}</Loaded>
      <Loaded query={status} lines={8}>
        {({ index }) => (
          <>
            <IndexTable index={index} />
            <PendingModelWork index={index} />
          </>
        )}
      </Loaded>
      <LeaseTable spaceId={spaceId} />
      {status.data !== undefined && <StorageFacts status={status.data} />}
    </div>
  )
}

function SpaceSizes({ stats: { storage, cache, commits } }: { stats: KnowledgeSpaceStats }) {
  return (
    <ul className="figures">
      <Figure name="Documents" value={formatCount(storage.documentCount)} />
      <Figure name="Document size" value={formatBytes(storage.rawDocumentBytes)} />
      {storage.workspaceFileCount !== undefined && (
        <Figure name="Workspace files" value={formatCount(storage.workspaceFileCount)} />
      )}
      {storage.workspaceBytes !== undefined && (
        <Figure name="Workspace size" value={formatBytes(storage.workspaceBytes)} />
      )}
      {cache.available && (
        <Figure name="Cached answers" value={`${formatCount(cache.entries)}, ${formatBytes(cache.totalBytes)}`} />
      )}
      <Figure name="Failed commits" value={formatCount(commits.failedRetryable + commits.failedTerminal)} />
    </ul>
  )
}

type IndexSummary = KnowledgeSpaceStatus['index']

function IndexTable({ index }: { index: IndexSummary }) {
  return (
    <Panel title="Indexes">
      {index.degraded?.map((reason) => (
        <Notice key={reason} tone="warn">
          {reason}
        </Notice>
      ))}
      <ScrollFrame label="Indexes">
        <table className="table">
          <thead>
            <tr>
              <th>Index</th>
              <th className="right">Entries</th>
              <th className="right">Ready</th>
              <th className="right">Being built</th>
              <th className="right">Stale</th>
              <th className="right">Failed</th>
            </tr>
          </thead>
          <tbody>
            {INDEX_TITLES.map(([key, title]) => {
              const { total, ready, building, stale, failed } = index.summaries[key]
              return (
                <tr key={key}>
                  <td>{title}</td>
                  {[total, ready, building, stale, failed].map((value, columnIndex) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed
                    <td key={columnIndex} className={value === 0 ? 'right faint' : 'right'}>
                      {formatCount(value)}
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </ScrollFrame>
      <p className="small faint ops-note">
        Version {index.projectionVersion} of the projections, {index.projectionSetVersion}
      </p>
    </Panel>
  )
}

function PendingModelWork({ index: { missingVectors, pictures } }: { index: IndexSummary }) {
  if (missingVectors === undefined && pictures === undefined) return null
  return (
    <Panel title="Pending at the provider">
      {missingVectors !== undefined && (missingVectors.passages > 0 || missingVectors.refused > 0) && (
        <Notice tone="warn">
          <p>
            {plural(missingVectors.passages, 'passage')} without vectors, found by text search only
            {missingVectors.refused > 0 && `; ${formatCount(missingVectors.refused)} were refused by the model`}.
          </p>
          {missingVectors.error !== undefined && <p>{missingVectors.error}</p>}
          {missingVectors.nextAttemptAt !== undefined && <p>Next attempt {formatAgo(missingVectors.nextAttemptAt)}.</p>}
        </Notice>
      )}
      {pictures !== undefined && (
        <Facts
          entries={[
            ['Pictures described', formatCount(pictures.described)],
            ['Refused', formatCount(pictures.refused)],
            ...(pictures.error === undefined ? [] : ([['Last failure', pictures.error]] as const)),
          ]}
        />
      )}
    </Panel>
  )
}

function LeaseTable({ spaceId }: { spaceId: string }) {
  const leases = useRead(
    'GET /knowledge-spaces/{id}/leases/active',
    { path: { id: spaceId }, query: { limit: 100 } },
    { refetchInterval: POLL_MS },
  )
  return (
    <Panel title="Active leases">
      <Loaded query={leases}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <p className="muted">No active leases.</p>
          ) : (
            <ScrollFrame label="Leases">
              <table className="table">
                <thead>
                  <tr>
                    <th>Kind</th>
                    <th>On</th>
                    <th>Since</th>
                    <th>Until</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ id, leaseType, virtualPath, targetType, acquiredAt, expiresAt }) => (
                    <tr key={id}>
                      <td>
                        <Badge>{leaseType}</Badge>
                      </td>
                      <td className="mono wrap">{virtualPath === '' ? targetType : virtualPath}</td>
                      <td title={formatMoment(acquiredAt)}>{formatAgo(acquiredAt)}</td>
                      <td title={formatMoment(expiresAt)}>{formatAgo(expiresAt)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {nextCursor !== undefined && <p className="small faint">The 100 oldest.</p>}
            </ScrollFrame>
          )
        }
      </Loaded>
    </Panel>
  )
}

function StorageFacts({ status: { activeSessions, storage, parser } }: { status: KnowledgeSpaceStatus }) {
  return (
    <Panel title="Storage">
      <Facts
        entries={[
          ['Objects', `${storage.objectStorageKind}, ${storage.healthy ? 'healthy' : 'not healthy'}`],
          ['Parser', `${parser.kind}, policy ${parser.policyVersion}`],
          ['Sessions', formatCount(activeSessions.count)],
        ]}
      />
    </Panel>
  )
}
