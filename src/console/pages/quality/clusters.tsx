import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { FailedQueryClusters, FailedQueryVerdict } from '../../../contract/gateway/failed-queries.js'
import { call } from '../../api/client.js'
import { useInvalidate, useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { ConfirmDialog } from '../../ui/parts.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Empty, Loaded } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { STATUS_LABELS, TRIGGER_LABELS } from './labels.js'

const CLUSTERS = 'GET /knowledge-spaces/{id}/failed-queries/clusters'
const MAX_CLUSTERS = 100
type QueryCluster = FailedQueryClusters['clusters'][number]
/** Verdicts for a complete cluster. `retrieval-miss` is excluded: it needs the expected passages of each query. */
type ClusterVerdict = Exclude<FailedQueryVerdict, 'retrieval-miss'>
const VERDICT_TITLES: Record<ClusterVerdict, string> = { 'coverage-gap': 'Not covered', irrelevant: 'Irrelevant' }

/**
 * Groups of failed queries that ask the same in different words, the most frequent first. A verdict applies to all
 * queries of a group.
 */
export function Clusters({ spaceId }: { spaceId: string }) {
  const clusters = useRead(CLUSTERS, { path: { id: spaceId }, query: { limit: MAX_CLUSTERS } })
  const [selection, setSelection] = useState<{ cluster: QueryCluster; verdict: ClusterVerdict }>()
  return (
    <>
      <Loaded query={clusters} lines={8}>
        {({ clusters: items }) =>
          items.length === 0 ? (
            <Empty icon="check" title="No failed queries">
              <p>Questions without a good answer appear here automatically; those that ask the same form a group.</p>
            </Empty>
          ) : (
            <ul className="golden-list" aria-label="Groups of failed queries">
              {items.map((cluster) => (
                <ClusterRow
                  key={cluster.representative.id}
                  cluster={cluster}
                  decide={(verdict) => setSelection({ cluster, verdict })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {selection !== undefined && (
        <ClusterDecision spaceId={spaceId} {...selection} onClose={() => setSelection(undefined)} />
      )}
    </>
  )
}

function ClusterRow({ cluster, decide }: { cluster: QueryCluster; decide: (verdict: ClusterVerdict) => void }) {
  const { count, representative } = cluster
  return (
    <li className="golden-item cluster">
      <div className="golden-text">
        <p className="wrap golden-question">{representative.query}</p>
        <p className="row small faint">
          <Badge tone={STATUS_LABELS[representative.status].tone}>{STATUS_LABELS[representative.status].label}</Badge>
          {count > 1 && <span>{plural(count, 'query', 'queries')} that ask this</span>}
          <span>{TRIGGER_LABELS[representative.trigger]}</span>
          <RelativeTime time={representative.createdAt} />
        </p>
      </div>
      <div className="row cluster-actions">
        <Button small kind="quiet" onClick={() => decide('coverage-gap')}>
          {VERDICT_TITLES['coverage-gap']}
        </Button>
        <Button small kind="quiet" onClick={() => decide('irrelevant')}>
          {VERDICT_TITLES.irrelevant}
        </Button>
        <Button
          small
          onClick={() => setQuery({ tab: 'review', show: getReviewFilter(representative), query: representative.id })}
        >
          Review
        </Button>
      </div>
    </li>
  )
}

/** Filter of the review that shows a query. */
const getReviewFilter = ({ status }: QueryCluster['representative']) =>
  status === 'annotated' || status === 'dismissed' || status === 'promoted' ? 'decided' : undefined

interface ClusterDecisionProps {
  spaceId: string
  cluster: QueryCluster
  verdict: ClusterVerdict
  onClose: () => void
}

function ClusterDecision({ spaceId, cluster, verdict, onClose }: ClusterDecisionProps) {
  const invalidate = useInvalidate()
  const decide = useMutation({
    mutationFn: async () => {
      for (const failedQueryId of cluster.failedQueryIds)
        await call('PATCH /knowledge-spaces/{id}/failed-queries/{failedQueryId}', {
          path: { id: spaceId, failedQueryId },
          body: { verdict },
        })
    },
    onSuccess: () => {
      showToast(`${plural(cluster.failedQueryIds.length, 'query', 'queries')} decided.`)
      onClose()
    },
    onSettled: () =>
      invalidate(
        CLUSTERS,
        'GET /knowledge-spaces/{id}/failed-queries',
        'GET /knowledge-spaces/{id}/failed-queries/metrics',
      ),
  })
  const description =
    cluster.failedQueryIds.length === 1 ? 'this query' : `these ${cluster.failedQueryIds.length} queries`
  return (
    <ConfirmDialog
      title={`${VERDICT_TITLES[verdict]}?`}
      mutation={decide}
      label={VERDICT_TITLES[verdict]}
      kind="primary"
      onClick={() => decide.mutate()}
      onClose={onClose}
    >
      <p className="wrap">{cluster.representative.query}</p>
      <p className="muted">
        Decides {description}, including those with a different decision. It can be changed in the review.
      </p>
    </ConfirmDialog>
  )
}
